/**
 * The driver without Python: detection by which methods exist, and what it keeps from the page and from the agent.
 * Objects that stand for a browser's are injected as the scope of `findModelContext`.
 */
import { expect, test } from "./fixtures.mjs";

/**
 * @typedef {import("../../static/model_context.js").ModelContext} ModelContext
 * @typedef {{findModelContext: (scope?: any) => ModelContext | null}} Module
 */

test.beforeEach(async ({ page }) => {
  await page.goto("/fixtures/by_hand.html");
  await page.evaluate(async () => {
    const address = "/static/model_context.js";
    /** @type {Module} */
    const module = await import(address);
    const tool = { name: "one", title: "One", description: "A tool", inputSchema: { type: "object" } };
    const envelope = (/** @type {unknown} */ value) => JSON.stringify({ content: [{ type: "text", text: String(value) }] });
    /** A browser's object of the document generation; `tools` holds what is registered with it. */
    class FakeContext extends EventTarget {
      tools = new Map();
      /** @param {any} tool @param {{signal: AbortSignal}} options */
      async registerTool(tool, options) {
        if (this.tools.has(tool.name)) throw new DOMException("Duplicate tool name", "InvalidStateError");
        this.tools.set(tool.name, { tool, options });
        options.signal.addEventListener("abort", () => this.tools.delete(tool.name));
      }
    }
    Object.assign(globalThis, { find: module.findModelContext, tool, envelope, FakeContext });
  });
});

test("an object that is missing, strange or hostile counts as no model context", { tag: "@both" }, async ({ page }) => {
  const found = await page.evaluate(() => {
    const { find } = /** @type {any} */ (globalThis);
    const throwing = new Proxy(
      {},
      {
        get() {
          throw new Error("hands off");
        },
      },
    );
    const getter = {
      get modelContext() {
        throw new Error("hands off");
      },
    };
    let called = 0;
    const scopes = [
      {},
      { document: null },
      { document: { modelContext: undefined } },
      { document: { modelContext: null } },
      { document: { modelContext: {} } },
      { document: { modelContext: { registerTool: "yes" } } },
      { document: { modelContext: { provideContext: () => called++ } } },
      { document: throwing, navigator: throwing },
      { document: { modelContext: throwing } },
      { document: getter, navigator: getter },
      throwing,
      { navigator: { modelContext: { somethingNew: () => called++ } } },
    ];
    return { found: scopes.map((scope) => find(scope)), called };
  });
  expect(found).toEqual({ found: Array(12).fill(null), called: 0 });
});

test("looking calls nothing, and a hostile navigator does not hide the document's", async ({ page }) => {
  const seen = await page.evaluate(() => {
    const { find } = /** @type {any} */ (globalThis);
    let called = 0;
    const context = { registerTool: () => called++, getTools: () => called++, addEventListener() {} };
    const scope = {
      document: { modelContext: context },
      get navigator() {
        throw new Error("hands off");
      },
    };
    return { generation: find(scope).generation, same: find(scope) === find(scope), called };
  });
  expect(seen).toEqual({ generation: "document", same: true, called: 0 });
});

test("the browser's own context is found, and absent without the flag", { tag: "@both" }, async ({ page }, info) => {
  const generation = await page.evaluate(() => /** @type {any} */ (globalThis).find()?.generation ?? null);
  expect(generation).toBe(info.project.name === "off" ? null : "document");
});

test("a tool is listed, called and removed in the browser, and its successor survives a late removal", async ({ page, surface }) => {
  const list = await page.evaluate(async () => {
    const { find, tool, envelope } = /** @type {any} */ (globalThis);
    const context = find();
    const first = context.register(tool, () => envelope("first"));
    const settled = [await first.settled];
    context.remove(first);
    const second = context.register(tool, () => envelope("second"));
    settled.push(await second.settled);
    context.remove(first);
    return { settled, list: context.list() };
  });
  expect(list.settled).toEqual([null, null]);
  expect(list.list).toEqual([{ name: "one", title: "One", description: "A tool", inputSchema: { type: "object" } }]);
  expect((await surface.call("one")).content[0].text).toBe("second");
});

test("a name that somebody else has is an outcome, not a rejection", async ({ page, surface }) => {
  const outcome = await page.evaluate(async () => {
    const { find, tool, envelope } = /** @type {any} */ (globalThis);
    const context = find();
    const taken = context.register({ ...tool, name: "echo" }, () => envelope("mine"));
    const why = await taken.settled;
    context.remove(taken);
    return { why, list: context.list() };
  });
  expect(outcome).toEqual({ why: "Duplicate tool name", list: [] });
  expect(await surface.tools()).toEqual(["echo"]);
});

test("a browser that throws while registering or removing breaks nothing", async ({ page }) => {
  const outcome = await page.evaluate(async () => {
    const { find, tool, envelope } = /** @type {any} */ (globalThis);
    const registerTool = () => {
      throw new TypeError("no more tools");
    };
    const scope = { document: { modelContext: { registerTool } } };
    const handle = find(scope).register(tool, () => envelope(1));
    find(scope).remove(handle);
    const quiet = { document: { modelContext: { registerTool: () => undefined } } };
    const taken = find(quiet).register(tool, () => envelope(1));
    return [await handle.settled, await taken.settled];
  });
  expect(outcome).toEqual(["no more tools", null]);
});

test("whatever a call does, the agent gets an envelope", async ({ page, guard }) => {
  guard.expect(/^console error: The tool one could not be run: Error: thrown/);
  guard.expect(/^console error: The tool one could not be run: Error: rejected/);
  guard.expect(/^console error: The tool one could not be run: SyntaxError/);
  const answers = await page.evaluate(async () => {
    const { find, tool, envelope, FakeContext } = /** @type {any} */ (globalThis);
    const native = new FakeContext();
    const context = find({ document: { modelContext: native } });
    const calls = [
      () => {
        throw new Error("thrown");
      },
      async () => {
        throw new Error("rejected");
      },
      () => "no json",
      async () => envelope("late"),
    ];
    const answers = [];
    for (const call of calls) {
      const handle = context.register(tool, call);
      answers.push(await native.tools.get("one").tool.execute({}));
      context.remove(handle);
    }
    return answers;
  });
  const failed = { code: "EXECUTION_FAILED", retry: "no", details: { reason: "transport", transient: false } };
  for (const answer of answers.slice(0, 3)) {
    expect(answer).toMatchObject({ isError: true, structuredContent: { error: failed } });
  }
  expect(answers[3]).toEqual({ content: [{ type: "text", text: "late" }] });
});

test("a call that comes after the removal is answered, and a running one still is", async ({ page }) => {
  const answers = await page.evaluate(async () => {
    const { find, tool, envelope, FakeContext } = /** @type {any} */ (globalThis);
    const native = new FakeContext();
    const context = find({ document: { modelContext: native } });
    /** @type {(text: string) => void} */
    let finish = () => {};
    const handle = context.register(tool, () => new Promise((resolve) => (finish = resolve)));
    const { execute } = native.tools.get("one").tool;
    const running = execute({});
    context.remove(handle);
    const late = execute({});
    finish(envelope("done"));
    return [await running, await late];
  });
  expect(answers[0].content[0].text).toBe("done");
  expect(answers[1].structuredContent.error).toMatchObject({ code: "COMPONENT_UNMOUNTED", retry: "after-refresh" });
});

test("a call is cancelled by its own signal, and by toolcancel where it came without one", async ({ page }) => {
  const aborted = await page.evaluate(async () => {
    const { find, tool, envelope, FakeContext } = /** @type {any} */ (globalThis);
    const native = new FakeContext();
    const context = find({ document: { modelContext: native } });
    const call = (/** @type {string} */ text, /** @type {AbortSignal} */ signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(envelope(`aborted ${text}`))));
    context.register(tool, call);
    const { execute } = native.tools.get("one").tool;
    const controller = new AbortController();
    const own = execute({ n: 1 }, { signal: controller.signal });
    const old = execute({ n: 2 }, { requestUserInteraction() {} });
    const told = Object.assign(new Event("toolcancel"), { toolName: "one" });
    native.dispatchEvent(Object.assign(new Event("toolcancel"), { toolName: "other" }));
    native.dispatchEvent(told);
    const first = await old;
    const pending = await Promise.race([own, new Promise((resolve) => setTimeout(resolve, 20, "still running"))]);
    controller.abort();
    return [first.content[0].text, pending, (await own).content[0].text];
  });
  expect(aborted).toEqual(['aborted {"n":2}', "still running", 'aborted {"n":1}']);
});

test("a change of the browser's tools is noticed until the notice is ended", async ({ page }) => {
  const noticed = await page.evaluate(async () => {
    const { find, tool, envelope } = /** @type {any} */ (globalThis);
    const context = find();
    let changes = 0;
    const end = context.onChange(() => changes++);
    const handle = context.register(tool, () => envelope(1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const before = changes;
    end();
    context.remove(handle);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return [before > 0, changes === before];
  });
  expect(noticed).toEqual([true, true]);
});

test("bare Pyodide loads the module from the package's own data", async ({ page, surface, request, baseURL }) => {
  const source = await (await request.get(`${baseURL}/static/model_context.js`)).text();
  await surface.open("bare.html");
  await page.evaluate(async (text) => {
    const { python } = /** @type {any} */ (window);
    // What an installed wheel has; the bundle's own wheel leaves it to the files beside it.
    python.globals.set("source", text);
    await python.runPythonAsync(`
import pathlib, webmcp
from surface import Component, Registry
folder = pathlib.Path(webmcp.__file__).parent / "static"
folder.mkdir(exist_ok=True)
(folder / "model_context.js").write_text(source)
clock = Component("page.clock", description="The clock")
@clock.observation("The time")
def read() -> str: return "12:00"
registry = Registry()
registry.register(clock)
adapter = await webmcp.expose(registry)
`);
  }, source);
  expect((await surface.call("view_page__clock__read")).content[0].text).toBe('"12:00"');
  await page.evaluate(() => /** @type {any} */ (window).python.runPythonAsync("await adapter.stop()"));
  expect(await surface.tools()).toEqual([]);
});
