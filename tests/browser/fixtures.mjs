/**
 * What a browser spec imports instead of "@playwright/test".
 *
 *   import { expect, test } from "./fixtures.mjs";
 *
 *   test("a mounted table shows its tools", async ({ page, surface }) => {
 *     await surface.open("devices.html");                      // tests/fixtures/devices.html, waits for `ready`
 *     expect(await surface.tools()).toContain("view_devices__table__readState");
 *     const answer = await surface.call("view_devices__table__selectRows", { ids: ["d1"] });
 *     expect(answer.isError).toBeFalsy();
 *     await expect(page.locator("tr[aria-selected=true]")).toHaveCount(1);
 *   });
 *
 * Pages and the Python modules they name lie in tests/fixtures and are served at /fixtures/…; /static/… is the
 * repository's static folder and /runtime/… the built runtime (build/runtime). `page.goto("/fixtures/x.html")` works too.
 *
 * A test runs with `document.modelContext` (project `webmcp`). Tagged `{ tag: "@off" }` it runs only in a browser
 * without it, tagged `{ tag: "@both" }` in both.
 *
 * Every test fails on a console error, on an uncaught exception or unhandled rejection in page or worker, and on a
 * request to anything but loopback. A test that provokes one says so, and fails as well if it does not come:
 *
 *   test("a broken app is reported", async ({ surface, guard }) => {
 *     guard.expect(/ImportError: no module named nothing/);
 *     await surface.open("broken.html", "failed");
 *   });
 */
import { test as base } from "@playwright/test";

export { expect } from "@playwright/test";

/**
 * @typedef {{content: {type: string, text: string}[], structuredContent?: any, isError?: boolean}} Envelope
 *   what a tool answers (the result envelope of the WebMCP adapter)
 * @typedef {{name: string, title?: string, description: string, inputSchema?: object | string}} NativeTool
 * @typedef {{getTools(): Promise<NativeTool[]>,
 *            executeTool(tool: NativeTool, input: object): Promise<string>}} NativeModelContext
 * @typedef {Document & {modelContext: NativeModelContext}} AgentDocument
 */

const LOOPBACK = /^(?:\[::1\]|localhost|127(?:\.\d+){3})$/;

/** Collects what must not happen in a page, and knows what a test has announced. */
class Guard {
  /** @type {string[]} */
  #problems = [];
  /** @type {RegExp[]} */
  #expected = [];
  #context;

  /** @param {import("@playwright/test").BrowserContext} context */
  constructor(context) {
    this.#context = context;
    context.on("console", (message) => {
      if (message.type() === "error") this.#problems.push(`console error: ${message.text()}`);
    });
    // Uncaught exceptions and unhandled rejections, in pages and in workers.
    context.on("weberror", (error) => this.#problems.push(`uncaught: ${error.error().stack ?? error.error().message}`));
    context.on("request", (request) => this.#address(request.url()));
    context.on("page", (page) => page.on("websocket", (socket) => this.#address(socket.url())));
  }

  /** @param {string} url */
  #address(url) {
    const { protocol, hostname } = new URL(url);
    if (/^(?:http|ws)s?:$/.test(protocol) && !LOOPBACK.test(hostname)) {
      this.#problems.push(`request that leaves loopback: ${url}`);
    }
  }

  /**
   * Announces a problem that the test provokes. It must come at least once.
   * @param {RegExp} pattern matched against `console error: …`, `uncaught: …` or `request that leaves loopback: …`
   */
  expect(pattern) {
    this.#expected.push(pattern);
  }

  /** Called when the test is over. */
  async verify() {
    // What the last step set off is reported a moment after the step itself has answered.
    await Promise.all(this.#context.pages().map((page) => page.waitForTimeout(50).catch(() => null)));
    const unexpected = this.#problems.filter((problem) => !this.#expected.some((pattern) => pattern.test(problem)));
    const missing = this.#expected.filter((pattern) => !this.#problems.some((problem) => pattern.test(problem)));
    const lines = [...unexpected, ...missing.map((pattern) => `expected and never seen: ${pattern}`)];
    if (lines.length) throw new Error(`The page did not stay clean.\n${lines.map((line) => `  ${line}`).join("\n")}`);
  }
}

/** A page as an agent meets it: through the browser's own `document.modelContext` and nothing of ours. */
class SurfacePage {
  #page;

  /** @param {import("@playwright/test").Page} page */
  constructor(page) {
    this.#page = page;
  }

  /**
   * Opens a page of tests/fixtures and waits until the surface has reached a state.
   * @param {string} name file name, with a query where needed
   * @param {"early" | "loading" | "ready" | "failed" | null} state null does not wait
   */
  async open(name, state = "ready") {
    await this.#page.goto(`/fixtures/${name}`);
    if (state) await this.state(state);
  }

  /**
   * Waits until `<html data-agent-surface>` says so.
   * @param {"early" | "loading" | "ready" | "failed"} state
   */
  async state(state) {
    await this.#page.locator(`html[data-agent-surface="${state}"]`).waitFor({ state: "attached", timeout: 60_000 });
  }

  /** The native list of tools. */
  listing() {
    return this.#page.evaluate(async () => {
      const context = /** @type {AgentDocument} */ (document).modelContext;
      // Entries carry their window, which cannot leave the page.
      return (await context.getTools()).map(({ name, title, description, inputSchema }) => {
        return { name, title, description, inputSchema };
      });
    });
  }

  /** The names of the native tools, sorted. */
  async tools() {
    return (await this.listing()).map((tool) => tool.name).sort();
  }

  /**
   * Calls a tool natively and gives its result envelope.
   * @param {string} name
   * @param {object} [input]
   * @returns {Promise<Envelope>}
   */
  async call(name, input = {}) {
    return this.#page.evaluate(
      async ([wanted, given]) => {
        const context = /** @type {AgentDocument} */ (document).modelContext;
        const tool = (await context.getTools()).find((candidate) => candidate.name === wanted);
        if (!tool) throw new Error(`no tool named ${wanted}`);
        return JSON.parse(await context.executeTool(tool, given));
      },
      /** @type {const} */ ([name, input]),
    );
  }
}

/**
 * @typedef {import("@playwright/test").PlaywrightTestArgs & import("@playwright/test").PlaywrightTestOptions} BaseArgs
 * @typedef {import("@playwright/test").PlaywrightWorkerArgs & import("@playwright/test").PlaywrightWorkerOptions} WorkerArgs
 */
export const test = base.extend(
  /** @type {import("@playwright/test").Fixtures<{guard: Guard, surface: SurfacePage}, {}, BaseArgs, WorkerArgs>} */ ({
    guard: [
      async ({ context }, use) => {
        const guard = new Guard(context);
        await use(guard);
        await guard.verify();
      },
      { auto: true },
    ],
    surface: async ({ page }, use) => use(new SurfacePage(page)),
  }),
);
