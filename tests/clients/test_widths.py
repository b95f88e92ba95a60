"""The demo's page as a person has it on a phone and on a desk, by day and by night."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from demo import prepare
from demo.agent.browser import CHROMIUM_ARGS

FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=prepare.chromium(), args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 375, 1280])
def test_the_page_fits_with_and_without_the_drawer(
    browser: Browser, demo_address: str, width: int, scheme: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce")
    try:
        page.goto(demo_address)
        rows = page.locator("#devices-body tr[data-device-id]")
        rows.first.wait_for()
        assert rows.count() > 200
        assert page.evaluate(FITS)
        rows.first.locator("[data-action=details]").click()
        drawer = page.locator("#drawer")
        page.locator("#drawer[data-device-id]").wait_for()
        box = drawer.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert page.evaluate(FITS)
        page.keyboard.press("Escape")
        drawer.wait_for(state="hidden")
    finally:
        page.close()


def test_night_is_not_day(browser: Browser, demo_address: str) -> None:
    shades = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(demo_address)
        shades.add(page.evaluate(BACKGROUND))
        page.close()
    assert len(shades) == 2
