/** What the adapter asks of the browser as the surface moves, counted on the browser's own object. */
import { expect, test } from "./fixtures.mjs";

/** @typedef {{registered: string[], removed: string[]}} Record */

/**
 * Runs a line of Python in the app's module, lets the surface settle, and gives what was asked of the browser meanwhile.
 * @param {import("@playwright/test").Page} page @param {string} code
 * @returns {Promise<Record>}
 */
async function asked(page, code) {
  return page.evaluate(async (source) => {
    const { python } = /** @type {any} */ (agentSurface);
    const { record } = /** @type {any} */ (globalThis);
    record.registered.length = record.removed.length = 0;
    await python.runPythonAsync(`from soak import *\n${source}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { registered: [...record.registered], removed: [...record.removed] };
  }, code);
}

test.beforeEach(async ({ page, surface }) => {
  await page.addInitScript({ path: "tests/fixtures/recorder.js" });
  await surface.open("soak.html");
});

test("300 tools: one changes, one is removed and registered; nothing changed, nothing is asked", async ({ page, surface }) => {
  const first = await asked(page, "for n in range(50): mount(f'lab.part{chr(97 + n // 10)}{n % 10}', 5)");
  expect(first.registered).toHaveLength(300);
  expect(first.removed).toEqual([]);
  expect(await surface.tools()).toHaveLength(300);

  expect(await asked(page, "for type in live: touch(type)")).toEqual({ registered: [], removed: [] });
  expect(await asked(page, "switch('lab.parta3', 'tool2', 'Busy')")).toEqual({
    registered: [],
    removed: ["view_lab__parta3__tool2"],
  });
  expect(await asked(page, "switch('lab.parta3', 'tool2', None)")).toEqual({
    registered: ["view_lab__parta3__tool2"],
    removed: [],
  });
});

test("a burst is one pass, and only its outcome counts", async ({ page, surface }) => {
  await asked(page, "mount('lab.one')");
  const burst = await asked(page, "for n in range(20):\n    mount('lab.two'); unmount('lab.two')\nmount('lab.two')");
  expect(burst).toEqual({ registered: ["view_lab__two__tool0", "view_lab__two__pause"], removed: [] });
  expect((await surface.call("view_lab__two__tool0", { n: 4 })).content[0].text).toBe("4");
});

test("a remount within one turn replaces each tool once, removal first", async ({ page, surface }) => {
  await asked(page, "mount('lab.one')");
  const names = ["view_lab__one__tool0", "view_lab__one__pause"];
  expect(await asked(page, "unmount('lab.one'); mount('lab.one')")).toEqual({ registered: names, removed: names });
  expect(await surface.tools()).toEqual([...names].sort());
});

test("stop leaves nothing behind, start brings everything back", async ({ page, surface }) => {
  await asked(page, "mount('lab.one')");
  await asked(page, "await stop()");
  expect(await surface.tools()).toEqual([]);
  expect(await asked(page, "await adapter.start(); await adapter.start()")).toMatchObject({ removed: [] });
  expect(await surface.tools()).toHaveLength(2);
  await asked(page, "await restart()");
  expect((await surface.call("view_lab__one__pause")).content[0].text).toBe('"paused"');
});

test("disposing ends the surface in the browser too", async ({ page, surface }) => {
  await asked(page, "mount('lab.one')");
  await page.evaluate(() => agentSurface.dispose());
  expect(await surface.tools()).toEqual([]);
  expect(await page.evaluate(() => [agentSurface.state, agentSurface.python])).toEqual(["disposed", null]);
});

test("a name that is taken by somebody else is skipped and said once; the others are there", async ({ page, surface }) => {
  /** @type {string[]} */
  const warnings = [];
  page.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
  await page.evaluate(() => {
    const context = /** @type {any} */ (document).modelContext;
    return context.registerTool({
      name: "view_lab__one__tool0",
      description: "Somebody else's",
      inputSchema: { type: "object" },
      execute: () => "theirs",
    });
  });
  await asked(page, "mount('lab.one')");
  await asked(page, "touch('lab.one')");
  expect(await surface.tools()).toEqual(["view_lab__one__pause", "view_lab__one__tool0"]);
  expect((await surface.call("view_lab__one__pause")).content[0].text).toBe('"paused"');
  expect(warnings.filter((text) => text.includes("view_lab__one__tool0"))).toHaveLength(1);
  await asked(page, "unmount('lab.one')");
  expect(await surface.tools()).toEqual(["view_lab__one__tool0"]);
});

test("500 rounds of register, call, unregister leave proxies flat, on both sides", async ({ page }) => {
  test.slow();
  const counts = await page.evaluate(async () => {
    const { python } = /** @type {any} */ (agentSurface);
    const module = python._module;
    const context = /** @type {any} */ (document).modelContext;
    const [mount, unmount] = ["mount", "unmount"].map((name) => {
      const app = python.pyimport("soak");
      const found = app[name].copy();
      app.destroy();
      return found;
    });
    const turn = () => new Promise((resolve) => setTimeout(resolve));
    const round = async () => {
      mount("lab.soak");
      for (;;) {
        await turn();
        const tools = await context.getTools();
        if (tools.length !== 2) continue;
        const find = (/** @type {string} */ name) => tools.find((/** @type {any} */ tool) => tool.name.endsWith(name));
        await context.executeTool(find("tool0"), { n: 1 });
        await context.executeTool(find("pause"), {});
        break;
      }
      unmount("lab.soak");
      while ((await context.getTools()).length) await turn();
    };
    const count = () => {
      python.runPython("import gc; gc.collect()");
      return { python: module.pyproxy_alloc_map.size, javascript: module._hiwire_num_refs() };
    };
    module.enable_pyproxy_allocation_tracing();
    for (let i = 0; i < 100; i++) await round();
    const before = count();
    for (let i = 0; i < 400; i++) await round();
    return { before, after: count() };
  });
  expect(counts.after).toEqual(counts.before);
});
