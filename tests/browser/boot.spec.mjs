/** Booting a page: states, events, progress, and every way it can go wrong without taking the page down. */
import { expect, test } from "./fixtures.mjs";

/** @param {import("@playwright/test").Page} page */
async function stillAPage(page) {
  await page.getByRole("button").click();
  await expect(page.getByRole("button")).toHaveText("pressed");
}

test("states come in order, as events and on the root element, with real byte counts", async ({ page }) => {
  await page.addInitScript(() => {
    const seen = { states: /** @type {string[]} */ ([]), progress: /** @type {any[]} */ ([]) };
    Object.assign(globalThis, { seen });
    new MutationObserver(() => {
      const state = document.documentElement?.dataset.agentSurface;
      if (!state || seen.states.includes(state)) return;
      seen.states.push(state);
      if (state !== "loading") return;
      agentSurface.addEventListener("ready", () => seen.states.push("event ready"));
      agentSurface.addEventListener("progress", (event) => seen.progress.push(/** @type {CustomEvent} */ (event).detail));
    }).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-agent-surface"] });
  });
  await page.goto("/fixtures/notes.html");
  await page.waitForFunction(() => globalThis.agentSurface?.state === "ready");
  const { states, progress } = await page.evaluate(() => /** @type {any} */ (globalThis).seen);
  expect(states).toEqual(["loading", "event ready", "ready"]);
  const { total } = progress[0];
  expect(total).toBeGreaterThan(15_000_000);
  for (const [index, { loaded }] of progress.entries()) {
    expect(loaded).toBeGreaterThanOrEqual(index ? progress[index - 1].loaded : 0);
    expect(loaded).toBeLessThanOrEqual(total);
  }
  expect(progress.length).toBeGreaterThan(4);
  expect(progress.at(-1).loaded).toBe(total);
  expect(await page.evaluate(async () => (await agentSurface.ready) === agentSurface)).toBe(true);
  expect(await page.evaluate(() => /** @type {any} */ (agentSurface.python).runPython("6 * 7"))).toBe(42);
});

test("nothing but the page's own server is asked, and each file once", async ({ page, surface }) => {
  /** @type {string[]} */
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await surface.open("notes.html");
  expect(asked.filter((path, index) => asked.indexOf(path) !== index)).toEqual([]);
  expect(asked.filter((path) => path.startsWith("/runtime/")).length).toBeGreaterThan(10);
});

test("without a model context the page boots and has no tools", { tag: "@off" }, async ({ page, surface }) => {
  await surface.open("notes.html");
  expect(await page.evaluate(() => agentSurface.tools())).toEqual([]);
  expect(await page.evaluate(() => "modelContext" in document || "modelContext" in navigator)).toBe(false);
  await expect(page.locator("#list li")).toHaveCount(2);
});

test("an app that cannot be imported leaves a page that works and says why", { tag: "@both" }, async ({ page, surface, guard }) => {
  guard.expect(/could not start; the page works without it\.\s+Traceback[^]*broken_import\.py", line 4[^]*nothing_like_this/);
  await surface.open("broken.html?app=./broken_import.py", "failed");
  await stillAPage(page);
  expect(await page.evaluate(() => agentSurface.state)).toBe("failed");
  const { events, rejection } = await page.evaluate(() => {
    const { events, rejection } = /** @type {any} */ (window);
    return { events, rejection };
  });
  expect(events).toEqual(["loading", "failed"]);
  expect(rejection).toMatch(/cannot import name 'nothing_like_this'/);
});

test("an app that fails in start leaves no tool behind", async ({ page, surface, guard }) => {
  guard.expect(/LookupError: the shop is closed/);
  await surface.open("broken.html?app=./broken_start.py", "failed");
  await stillAPage(page);
  expect(await surface.tools()).toEqual([]);
});

for (const [what, query, words] of /** @type {[string, string, RegExp][]} */ ([
  ["a missing app", "app=./nowhere.py", /the app is not at http:\S+\/fixtures\/nowhere\.py \(HTTP 404\)/],
  ["a missing runtime", "app=./notes.py&runtime=/static/", /the runtime is not at http:\S+\/static\/bundle\.json|pyodide\.mjs could not be loaded|pyodide-lock\.json/],
  ["a boot without an app", "", /no app was named: give the address of a Python file as data-app/],
])) {
  test(`${what} is one clear sentence`, { tag: "@both" }, async ({ page, surface, guard }) => {
    guard.expect(words);
    if (query) guard.expect(/Failed to load resource/);
    await surface.open(`broken.html?${query}`, "failed");
    await stillAPage(page);
  });
}

test("a strict content security policy, trusted types and relative addresses are lived with", async ({ page, surface }) => {
  await surface.open("strict.html");
  const names = await surface.tools();
  expect(names).toContain("view_notes__lab__echo");
  expect(names.filter((name) => !name.startsWith("view_notes__lab__"))).toEqual([]);
  expect((await surface.call("view_notes__lab__echo", { value: 1 })).structuredContent.value).toBe(1);
  await page.waitForTimeout(100);
});

test("under a sub-path everything is found", async ({ page, surface, baseURL }) => {
  await page.route("**/team/tools/**", async (route) => {
    const url = route.request().url().replace("/team/tools/", "/");
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  await page.goto(`${baseURL}/team/tools/fixtures/strict.html`);
  await surface.state("ready");
  expect(await surface.tools()).toContain("view_notes__lab__echo");
});

test("two script tags and a second copy of the library boot once and run a call once", async ({ page, surface }) => {
  await page.route("**/copy/**", async (route) => {
    const url = route.request().url().replace("/copy/", "/static/");
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  /** @type {string[]} */
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await surface.open("twice.html");
  expect(asked.filter((path) => path.endsWith("pyodide.asm.wasm"))).toHaveLength(1);
  expect(asked.some((path) => path === "/copy/dom_bridge.js")).toBe(true);
  await surface.call("view_notes__list__add", { text: "Once" });
  await expect(page.locator("#list li")).toHaveText(["Buy milk", "Call Ada", "Once"]);
  expect(new Set(await surface.tools()).size).toBe((await surface.tools()).length);
});

test("disposing while Python loads ends the boot before the app runs", async ({ page, surface }) => {
  await page.addInitScript({ path: "tests/fixtures/recorder.js" });
  // From inside the page, at the first bytes: a step of the test might come when everything has been loaded.
  await page.addInitScript(() => {
    const observer = new MutationObserver(() => {
      if (!globalThis.agentSurface) return;
      observer.disconnect();
      agentSurface.addEventListener("progress", () => agentSurface.dispose(), { once: true });
    });
    observer.observe(document, { attributes: true, subtree: true, attributeFilter: ["data-agent-surface"] });
  });
  await surface.open("notes.html", null);
  await page.waitForFunction(() => globalThis.agentSurface?.state === "disposed");
  await page.waitForTimeout(4_000);
  expect(await page.evaluate(() => agentSurface.state)).toBe("disposed");
  expect(await page.evaluate(() => /** @type {any} */ (globalThis).record.registered)).toEqual([]);
});

test("disposing while the app starts takes its tools back at once", async ({ page, surface }) => {
  await surface.open("broken.html?app=./slow_start.py", "loading");
  await expect.poll(() => surface.tools(), { timeout: 30_000 }).toEqual(["view_early__bird__read"]);
  const after = await page.evaluate(async () => {
    const { state } = agentSurface;
    agentSurface.dispose();
    return [state, agentSurface.state, (await /** @type {any} */ (document).modelContext.getTools()).length];
  });
  expect(after).toEqual(["loading", "disposed", 0]);
  await page.waitForTimeout(3_000);
  expect(await page.evaluate(() => [agentSurface.state, agentSurface.python])).toEqual(["disposed", null]);
  expect(await surface.tools()).toEqual([]);
});
