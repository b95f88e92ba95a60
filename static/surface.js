/**
 * The page's side of an agent surface: one script tag boots Python, and `agentSurface` is what page code talks to.
 *
 *   <script type="module" src="/static/surface.js" data-app="./app.py" data-runtime="/runtime/"></script>
 *
 *   const table = agentSurface.mount("devices.table", { state, commands, available, element });
 *
 * The tag's attributes are those of `BootOptions` in kebab case; lists are separated by spaces. Without a tag, import
 * `boot` from here. A page whose Python cannot start stays the page it is.
 */
import { BootError, bootPython } from "./boot.js";
import { bridge, Failure } from "./dom_bridge.js";
import { findModelContext } from "./model_context.js";

/**
 * @typedef {import("./boot.js").BootOptions} BootOptions
 * @typedef {import("./dom_bridge.js").MountOptions} MountOptions
 * @typedef {import("./dom_bridge.js").Mounted} Mounted
 * @typedef {import("./model_context.js").ToolDefinition} ToolDefinition
 * @typedef {"early" | "loading" | "ready" | "failed" | "disposed"} State
 */

/**
 * The global `agentSurface`. Each state it enters is an event of that name and `<html data-agent-surface>`; `progress`
 * events carry `detail: {loaded, total}`, bytes of the runtime.
 */
export class AgentSurface extends EventTarget {
  /** For commands to throw: `new agentSurface.Failure(code, message, details)`. */
  Failure = Failure;
  /** Resolves to this object once agents can call the page's tools; rejects where the boot failed. */
  ready;
  /** @type {State} */
  #state = "early";
  /** @type {import("./boot.js").Running | null} */
  #running = null;
  #calledOff = new AbortController();
  #begun = false;
  /** @type {{resolve: (surface: AgentSurface) => void, reject: (error: unknown) => void}} */
  #settle = { resolve() {}, reject() {} };

  constructor() {
    super();
    /** @type {Promise<AgentSurface>} */
    this.ready = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    // Who does not look at `ready` still gets the failure in the console, once.
    this.ready.catch(() => null);
    this.#enter("early");
  }

  /** The state of the boot. */
  get state() {
    return this.#state;
  }

  /** The Pyodide object, for the page's own use; null until it is ready. */
  get python() {
    return this.#running?.python ?? null;
  }

  /**
   * Lends a part of the page to Python, before or after Python is up.
   * @param {string} type @param {MountOptions} [options]
   * @returns {Mounted}
   */
  mount(type, options) {
    return bridge.mount(type, options);
  }

  /**
   * The definitions of the tools that the browser's agents see of this surface now; empty without a model context.
   * @returns {ToolDefinition[]}
   */
  tools() {
    return findModelContext()?.list() ?? [];
  }

  /**
   * Loads Python and runs the app. A page boots once: a second call gives what the first one gave.
   * @param {BootOptions} options
   * @returns {Promise<AgentSurface>}
   */
  boot(options) {
    if (this.#begun) console.warn("agentSurface has been booted already; the second boot is ignored.");
    else void this.#boot(options);
    return this.ready;
  }

  /** Ends the surface: tools go, running calls settle. Python itself stays loaded. Repeatable. */
  dispose() {
    this.#begun = true;
    if (this.#calledOff.signal.aborted) return;
    this.#calledOff.abort();
    this.#running?.dispose();
    this.#running = null;
    bridge.clear();
    this.#enter("disposed");
    this.#settle.reject(new BootError("agentSurface was disposed"));
  }

  /** @param {BootOptions} options */
  async #boot(options) {
    this.#begun = true;
    this.#enter("loading");
    /** @param {import("./boot.js").Progress} detail */
    const onProgress = (detail) => this.dispatchEvent(new CustomEvent("progress", { detail }));
    try {
      const running = await bootPython(options, onProgress, this.#calledOff.signal, (error) => this.#died(error));
      if (this.#state === "failed") return;
      if (this.#calledOff.signal.aborted) return running.dispose();
      this.#running = running;
      this.#enter("ready");
      this.#settle.resolve(this);
    } catch (error) {
      if (this.#calledOff.signal.aborted || this.#state === "failed") return;
      const known = error instanceof BootError;
      console.error("The agent surface of this page could not start; the page works without it.\n", known ? error.message : error);
      this.#enter("failed");
      this.#settle.reject(error);
    }
  }

  /** @param {unknown} error */
  #died(error) {
    this.#running = null;
    bridge.disconnect();
    root[Symbol.for("webmcp-surface.model-context")].abandon();
    if (this.#state === "disposed" || this.#state === "failed") return;
    console.error("Python has died in this page, so its tools are gone; the page works without them.\n", error);
    this.#enter("failed");
    this.#settle.reject(new BootError("Python has died in this page"));
  }

  /** @param {State} state */
  #enter(state) {
    this.#state = state;
    document.documentElement.dataset.agentSurface = state;
    this.dispatchEvent(new CustomEvent(state));
  }
}

const root = /** @type {any} */ (globalThis);

/**
 * This page's surface. A second copy of the library finds the first one's, so that nothing runs twice.
 * @type {AgentSurface}
 */
export const agentSurface = (root[Symbol.for("webmcp-surface.page")] ??= new AgentSurface());
root.agentSurface = agentSurface;

/**
 * Boots this page; see `AgentSurface.boot`.
 * @param {BootOptions} options
 */
export function boot(options) {
  return agentSurface.boot(options);
}

/** @param {string | undefined} list */
function words(list) {
  return list?.split(/[\s,]+/).filter(Boolean);
}

/** The options on the script tag that loaded this module, if there is one that names an app. */
function ownOptions() {
  const tags = Array.from(document.querySelectorAll("script"));
  const tag = tags.find(({ src, dataset }) => src === import.meta.url && dataset.app);
  if (!tag) return null;
  const { app = "", runtime, scope, exposedTo, toolBudget, announceUnavailable } = tag.dataset;
  return {
    app,
    runtime,
    scope: words(scope),
    exposedTo: words(exposedTo),
    toolBudget: toolBudget === undefined ? undefined : Number(toolBudget),
    announceUnavailable: announceUnavailable !== undefined && announceUnavailable !== "false",
  };
}

const options = ownOptions();
if (options) void boot(options);
