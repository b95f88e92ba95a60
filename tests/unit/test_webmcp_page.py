"""What runs when a page boots, as far as it needs no page."""

from __future__ import annotations

import linecache
import sys
import textwrap

import pytest
from loop import run

from webmcp import page as webmcp_page
from webmcp.page import boot, load_app

URL = "http://127.0.0.1/shop/shop_app.py"


@pytest.fixture(autouse=True)
def clean():
    yield
    webmcp_page.dispose()
    for name in ("shop_app", "app_json", "app_2_app"):
        sys.modules.pop(name, None)


def booted(source, url=URL, options="{}"):
    problem = run(boot(textwrap.dedent(source), url, options))
    return problem, webmcp_page._current


PLAIN = """
from surface import Component, component, observation

@component("shop.cart", description="The cart")
class Cart:
    @observation("Items")
    def read(self) -> list[str]:
        return ["tea"]

clock = Component("shop.clock", description="The clock")

@clock.observation("Time")
def read_time() -> str:
    return "12:00"
"""


def test_an_app_module_is_a_real_module_whose_lines_tracebacks_know():
    module = load_app("x = 1\ny = __name__\n", URL)
    assert sys.modules["shop_app"] is module
    assert module.__file__ == URL
    assert module.y == "shop_app"
    assert linecache.getline(URL, 1) == "x = 1\n"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://127.0.0.1/json.py", "app_json"),
        ("http://127.0.0.1/2-app.py?v=1", "app_2_app"),
        ("http://127.0.0.1/shop_app.py#x", "shop_app"),
    ],
)
def test_a_module_takes_no_name_that_is_taken_or_no_name(url, name):
    assert load_app("", url).__name__ == name


def test_components_are_registered_once_each():
    problem, page = booted(f"{PLAIN}\ncomponents = [Cart, clock]")
    assert problem is None
    assert {one.type for one in page.registry.snapshot().components} == {"shop.cart", "shop.clock"}


def test_start_gets_the_page_and_may_be_async_and_readiness_is_told():
    problem, page = booted(
        f"""{PLAIN}
log = []
async def start(page):
    page.registry.register(Cart(), instance_id="main")
    async def ready(): log.append("async")
    page.on_ready(lambda: log.append(page.adapter is not None))
    page.on_ready(lambda: 1 / 0)
    page.on_ready(ready)
"""
    )
    assert problem is None
    assert sys.modules["shop_app"].log == [True, "async"]
    assert page.consumer.key == ("embedded", "page")


def test_registry_options_make_the_registry():
    problem, page = booted('registry_options = {"environment": "test"}\ndef start(page): pass')
    assert problem is None
    assert page.registry.environment == "test"


def test_the_apps_own_expose_is_not_repeated():
    source = "async def start(page):\n    global adapter\n    adapter = await page.expose(tool_budget=7)\n"
    problem, page = booted(source, options='{"tool_budget": 3}')
    assert problem is None
    assert page.adapter is sys.modules["shop_app"].adapter
    assert page.adapter._tool_budget == 7


def test_the_options_of_the_script_tag_reach_the_adapter():
    problem, page = booted("components = []", options='{"tool_budget": 3, "scope": ["shop"]}')
    assert problem is None
    assert page.adapter._tool_budget == 3
    assert page.adapter._presentation.selection.scope == ("shop",)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import nothing_like_this", ["ModuleNotFoundError", "line 1", "import nothing_like_this"]),
        ("def broken(:\n", ["SyntaxError", "def broken(:"]),
        ("def start(page):\n    raise LookupError('no shop')", ["LookupError: no shop", "line 2, in start"]),
        ("x = 1", ["neither start(page) nor components"]),
        ("registry_options = {'colour': 1}\ncomponents = []", ["colour"]),
        ("components = [1]", ["1 is no component"]),
        ("raise SystemExit(3)", ["SystemExit: 3"]),
    ],
)
def test_what_goes_wrong_is_a_traceback_of_the_apps_own_lines(source, words):
    problem, _ = booted(source)
    assert all(word in problem for word in words), problem
    assert "webmcp/page.py" not in problem.split("File")[1] if "File" in problem else True


def test_after_a_failure_nothing_is_left_registered():
    source = f"{PLAIN}\ndef start(page):\n    page.registry.register(Cart())\n    raise ValueError('late')\n"
    problem, page = booted(source)
    assert "ValueError: late" in problem
    assert page.registry.disposed


@pytest.mark.parametrize("kind", ["KeyboardInterrupt", "GeneratorExit", "__import__('asyncio').CancelledError"])
def test_whatever_ends_a_start_nothing_is_left_registered(kind):
    source = f"{PLAIN}\nasync def start(page):\n    page.registry.register(Cart())\n    raise {kind}\n"
    problem, page = booted(source)
    assert kind.split(".")[-1] in problem
    assert page.registry.disposed


def test_booting_again_ends_what_was_there_before():
    _, first = booted("components = []")
    _, second = booted("components = []")
    assert first.registry.disposed
    assert not second.registry.disposed


def test_an_app_may_list_components_and_start_too():
    problem, page = booted(PLAIN + "components = [clock]\ndef start(page):\n    page.registry.register(Cart())\n")
    assert problem is None
    assert [one.type for one in page.registry.snapshot().components] == ["shop.cart", "shop.clock"]


def test_components_that_are_no_list_say_so():
    problem, _ = booted(PLAIN + "components = clock\n")
    assert "components is a list" in problem
