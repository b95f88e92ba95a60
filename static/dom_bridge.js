/**
 * The DOM bridge: what page code lends to Python, by `agentSurface.mount(type, {…})`.
 *
 * Only what is mounted exists; nothing is scanned or read from markup. Python asks by the number of a mount and gets
 * JSON text, so that no JavaScript object is held on its side.
 */

import { shallow } from "./model_context.js";

/**
 * @typedef {object} MountOptions
 * @property {string} [instance] which one of several of its type; named from data, `default` if there is one only
 * @property {Element} [element] bounds the life: removed from the document is unmounted
 * @property {() => unknown} [state] what the component shows now, JSON; called when Python asks
 * @property {Record<string, (input: any, context: {signal: AbortSignal}) => unknown>} [commands] may be async, may throw
 * @property {Record<string, () => unknown>} [available] by capability name: true, or a text that says why not
 *
 * @typedef {object} BridgeListener what Python hands in, once
 * @property {(mount: number, type: string, instance: string, availability: string) => void} mounted
 * @property {(mount: number) => void} unmounted
 * @property {(mount: number, availability: string) => void} changed
 * @property {(call: number, outcome: string) => void} commandDone
 */

/**
 * A typed failure for a command to throw: the agent gets code, message and details.
 *
 *   throw new agentSurface.Failure("PRECONDITION_FAILED", "No device has that id.", { unknownIds });
 */
export class Failure extends Error {
  /**
   * @param {string} code a code that handlers may raise, such as PRECONDITION_FAILED or RATE_LIMITED
   * @param {string} message at most 300 characters, safe for an agent to read
   * @param {object} [details] JSON
   */
  constructor(code, message, details) {
    super(message);
    this.name = "Failure";
    this.code = code;
    this.details = details;
  }
}

/** One mounted component, as page code holds it. */
export class Mounted {
  #bridge;
  #id;

  /** @param {DomBridge} bridge @param {number} id */
  constructor(bridge, id) {
    this.#bridge = bridge;
    this.#id = id;
  }

  /** State or availability moved. A burst within one turn is told once. */
  changed() {
    this.#bridge.changed(this.#id);
  }

  /** Ends the component; its tools go. Repeatable. */
  unmount() {
    this.#bridge.unmount(this.#id);
  }
}

/** All mounts of a page, and the side that Python talks to. */
export class DomBridge {
  /** @type {Map<number, {type: string, instance: string, options: MountOptions, seen: boolean}>} */
  #mounts = new Map();
  /** @type {Map<number, AbortController>} */
  #commands = new Map();
  /** @type {Set<number>} */
  #moved = new Set();
  /** @type {Set<number>} mounts whose page code is being asked; what it says has changed is what it tells just now */
  #asked = new Set();
  /** @type {BridgeListener | null} */
  #listener = null;
  /** @type {MutationObserver | null} */
  #observer = null;
  #last = 0;
  #settling = false;
  #told = false;

  /**
   * @param {string} type a component type that Python attaches a class for, such as devices.table
   * @param {MountOptions} [options]
   * @returns {Mounted}
   */
  mount(type, options = {}) {
    check(type, options);
    const id = ++this.#last;
    const { instance = "default", element } = options;
    this.#mounts.set(id, { type, instance, options, seen: Boolean(element?.isConnected) });
    if (element) this.#watch(element);
    this.#listener?.mounted(id, type, instance, this.#availability(id));
    return new Mounted(this, id);
  }

  /** @param {number} id */
  changed(id) {
    if (!this.#mounts.has(id) || this.#asked.has(id)) return;
    if (this.#moved.size === 0) {
      const tell = () => this.#tellMoved();
      // Once a turn at the end of it. Page code that the telling sets off, and that moves again, must not starve the page.
      if (this.#told) setTimeout(tell);
      else queueMicrotask(tell);
    }
    this.#moved.add(id);
  }

  /** @param {number} id */
  unmount(id) {
    if (!this.#mounts.delete(id)) return;
    this.#moved.delete(id);
    if (!this.#anyElement()) this.#observer?.disconnect();
    this.#listener?.unmounted(id);
  }

  /** Ends every mount. */
  clear() {
    for (const id of Array.from(this.#mounts.keys())) this.unmount(id);
  }

  // What Python calls.

  /**
   * Takes Python's functions, and tells it of every mount so far, in order.
   * @param {BridgeListener["mounted"]} mounted @param {BridgeListener["unmounted"]} unmounted
   * @param {BridgeListener["changed"]} changed @param {BridgeListener["commandDone"]} commandDone
   */
  connect(mounted, unmounted, changed, commandDone) {
    this.#listener = { mounted, unmounted, changed, commandDone };
    for (const [id, { type, instance }] of this.#mounts) mounted(id, type, instance, this.#availability(id));
  }

  /** Python is gone, or lets go. Mounts stay and are told to the next one that connects. */
  disconnect() {
    this.#listener = null;
    for (const controller of this.#commands.values()) controller.abort();
    this.#commands.clear();
  }

  /**
   * The state of a mount as JSON text; the empty text where it is gone, has no state or failed (which the console
   * says).
   * @param {number} id
   */
  state(id) {
    const mount = this.#mounts.get(id);
    if (!mount?.options.state) return "";
    const { options } = mount;
    try {
      return this.#ask(id, () => plain(options.state?.()));
    } catch (error) {
      console.error(`The state of ${mount.type} could not be read:`, error);
      return "";
    }
  }

  /**
   * Runs a command of a mount. Answers the outcome at once, or the empty text if it comes later by `commandDone`.
   * An outcome is JSON: `{output}`, `{failure: {code, message, details?}}`, or `{broken: text}`.
   * @param {number} call a number that names this run
   * @param {number} id @param {string} name @param {string} inputText JSON
   */
  command(call, id, name, inputText) {
    const mount = this.#mounts.get(id);
    if (!mount) return JSON.stringify({ broken: "the component is no longer mounted" });
    const commands = mount.options.commands ?? {};
    if (!Object.hasOwn(commands, name)) {
      const known = Object.keys(commands).join(", ") || "none";
      return JSON.stringify({ broken: `${mount.type} was mounted without a command ${name}; it has: ${known}` });
    }
    const controller = new AbortController();
    try {
      const output = commands[name](JSON.parse(inputText), { signal: controller.signal });
      if (!isThenable(output)) return outcome(output);
      this.#commands.set(call, controller);
      Promise.resolve(output).then(outcome).then(
        (text) => this.#commandDone(call, text),
        (error) => this.#commandDone(call, this.#thrown(mount.type, name, error)),
      );
      return "";
    } catch (error) {
      return this.#thrown(mount.type, name, error);
    }
  }

  /** @param {number} call aborts the signal that the command was given */
  cancelCommand(call) {
    const controller = this.#commands.get(call);
    this.#commands.delete(call);
    controller?.abort();
  }

  /** @param {number} call @param {string} text */
  #commandDone(call, text) {
    if (this.#commands.delete(call)) this.#listener?.commandDone(call, text);
  }

  /** @param {string} type @param {string} name @param {unknown} error */
  #thrown(type, name, error) {
    const { code, message, details } = /** @type {Failure} */ (error instanceof Error ? error : {});
    if (error instanceof Failure) {
      try {
        return shallow(JSON.stringify({ failure: { code, message, details } }));
      } catch {
        // Details that are no JSON make it a failure like any other.
      }
    }
    if (!(error instanceof DOMException && error.name === "AbortError")) {
      console.error(`The command ${name} of ${type} failed:`, error);
    }
    return JSON.stringify({ broken: `the command ${name} of ${type} threw; see the console` });
  }

  /** @param {number} id JSON: capability name → true, or why not; null is when-error @returns {string} */
  #availability(id) {
    const available = this.#mounts.get(id)?.options.available ?? {};
    /** @type {Record<string, boolean | string | null>} */
    const now = {};
    for (const name of Object.keys(available)) {
      try {
        const answer = this.#ask(id, () => available[name]());
        now[name] = typeof answer === "string" ? answer : answer !== false;
      } catch (error) {
        console.error(`available.${name} failed:`, error);
        now[name] = null;
      }
    }
    return JSON.stringify(now);
  }

  /**
   * Asks page code, during which the mount is not told to have changed.
   * @template T
   * @param {number} id @param {() => T} question @returns {T}
   */
  #ask(id, question) {
    const outer = this.#asked.has(id);
    this.#asked.add(id);
    try {
      return question();
    } finally {
      if (!outer) this.#asked.delete(id);
    }
  }

  #tellMoved() {
    const moved = Array.from(this.#moved);
    this.#moved.clear();
    this.#told = true;
    setTimeout(() => (this.#told = false));
    for (const id of moved) if (this.#mounts.has(id)) this.#listener?.changed(id, this.#availability(id));
  }

  #anyElement() {
    return Array.from(this.#mounts.values()).some((mount) => mount.options.element);
  }

  /** @param {Element} element watched in its document and in every shadow tree that it is in */
  #watch(element) {
    this.#observer ??= new MutationObserver(() => this.#settle());
    this.#observer.observe(document, { childList: true, subtree: true });
    let root = element.getRootNode();
    while (root instanceof ShadowRoot) {
      this.#observer.observe(root, { childList: true, subtree: true });
      root = root.host.getRootNode();
    }
  }

  /** Looks at who has left the document once this turn's moves are over, so that re-parenting unmounts nobody. */
  #settle() {
    if (this.#settling) return;
    this.#settling = true;
    setTimeout(() => {
      this.#settling = false;
      for (const [id, mount] of Array.from(this.#mounts)) {
        const connected = mount.options.element?.isConnected;
        if (connected) {
          mount.seen = true;
          // Its host may stand in another shadow tree now.
          this.#watch(/** @type {Element} */ (mount.options.element));
        } else if (connected === false && mount.seen) this.unmount(id);
      }
    });
  }
}

/** @param {unknown} value @returns {value is PromiseLike<unknown>} */
function isThenable(value) {
  return typeof (/** @type {any} */ (value)?.then) === "function";
}

/** @param {unknown} output */
function outcome(output) {
  const text = JSON.stringify(output ?? null);
  if (text === undefined) throw new TypeError("a command answers with JSON or nothing");
  return `{"output":${shallow(text)}}`;
}

/**
 * A state as JSON text; throws for what would be written as something else than it is.
 * @param {unknown} state
 */
function plain(state) {
  if (isThenable(state)) throw new TypeError("state() gave a promise; it answers at once, with JSON");
  if (state instanceof Node) throw new TypeError("state() gave a part of the document; it answers with JSON");
  const text = JSON.stringify(state);
  if (text === undefined) throw new TypeError("state() gave nothing that JSON can write");
  return shallow(text);
}

/** @param {unknown} type @param {MountOptions} options */
function check(type, options) {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`agentSurface.mount(${JSON.stringify(type)}): options is an object such as {state, commands}`);
  }
  const { instance, element, state, commands = {}, available = {} } = options;
  const problem =
    (typeof type !== "string" && "type is a text such as devices.table") ||
    (instance !== undefined && typeof instance !== "string" && "instance is a text") ||
    (element !== undefined && !(element instanceof Element) && "element is an Element; is it in the page?") ||
    (state !== undefined && typeof state !== "function" && "state is a function") ||
    Object.entries({ ...commands, ...available }).map(([name, it]) => typeof it !== "function" && `${name} is a function`)
      .find(Boolean);
  if (problem) throw new TypeError(`agentSurface.mount(${JSON.stringify(type)}): ${problem}`);
}

// Where Python finds the bridge; the first copy of the library on a page stays the one that is used.
/** @type {DomBridge} */
export const bridge = (/** @type {any} */ (globalThis)[Symbol.for("webmcp-surface.dom")] ??= new DomBridge());
