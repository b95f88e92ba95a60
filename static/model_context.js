/**
 * The browser's model context (WebMCP) behind one small interface, whatever its generation.
 *
 *   const context = findModelContext();           // null where the browser has none
 *   const handle = context.register(definition, call);
 *   await handle.settled;                         // null, or why the browser refused the tool
 *   context.remove(handle);
 *
 * `call(inputText, signal)` gets JSON text and answers with the JSON text of a result envelope, at once or as a promise.
 * No shape of the browser's API is visible outside this module. Early tools use it directly; Python (or whoever
 * cannot hold JavaScript objects cheaply) uses it through a `RemoteEnd`, which lets numbers and texts pass and nothing
 * else.
 */

/**
 * @typedef {object} ToolDefinition what a tool says of itself; plain JSON
 * @property {string} name
 * @property {string} [title]
 * @property {string} description
 * @property {object} inputSchema
 * @property {Record<string, boolean>} [annotations]
 *
 * @typedef {{exposedTo?: string[]}} RegisterOptions `exposedTo`: origins, beside this page's own, that may see the tool
 *
 * @typedef {object} Envelope the result of a tool
 * @property {{type: "text", text: string}[]} content
 * @property {object} [structuredContent]
 * @property {boolean} [isError]
 *
 * @typedef {(inputText: string, signal: AbortSignal) => string | Promise<string>} Call
 *
 * @typedef {object} Handle one registration of one tool; what `remove` takes
 * @property {string} name
 * @property {ToolDefinition} definition
 * @property {Promise<string | null>} settled null once the browser has the tool, else why it was refused; never rejects
 *
 * @typedef {{execute: (input: unknown, options?: unknown) => Envelope | Promise<Envelope>}} Executable
 * @typedef {ToolDefinition & Executable} NativeTool
 *
 * @typedef {object} Driver how one generation of the API is spoken to
 * @property {string} generation
 * @property {(place: Place, context: any) => boolean} fits by which methods exist, never by versions
 * @property {(context: any, tool: NativeTool, options: RegisterOptions) => Placed} place
 *
 * @typedef {"document" | "navigator"} Place
 * @typedef {{accepted: unknown, withdraw: () => void}} Placed `accepted` may be a promise
 */

/** @type {Driver[]} the first that fits is taken */
const DRIVERS = [{ generation: "document", fits: hasSignalRegistration, place: placeWithSignal }];

/** @param {Place} place @param {any} context */
function hasSignalRegistration(place, context) {
  return place === "document" && typeof context.registerTool === "function";
}

/**
 * registerTool(tool, {signal}) returns a promise; a tool leaves when its own signal is aborted, so a removal never
 * takes a successor of the same name with it.
 * @param {any} context @param {NativeTool} tool @param {RegisterOptions} options
 * @returns {Placed}
 */
function placeWithSignal(context, tool, options) {
  const controller = new AbortController();
  const accepted = context.registerTool(tool, { signal: controller.signal, ...options });
  return { accepted, withdraw: () => controller.abort() };
}

/** @type {WeakMap<object, ModelContext>} one per context, so that everybody in the page shares its tools */
const opened = new WeakMap();

/**
 * The model context of this page, or null where the browser has none that is known here. Looks, and calls nothing; an
 * object that throws when looked at counts as none.
 * @param {any} [scope] the global object
 * @returns {ModelContext | null}
 */
export function findModelContext(scope = globalThis) {
  for (const place of /** @type {Place[]} */ (["document", "navigator"])) {
    try {
      const context = scope[place]?.modelContext;
      const driver = context && DRIVERS.find((candidate) => candidate.fits(place, context));
      if (!driver) continue;
      if (!opened.has(context)) opened.set(context, new ModelContext(context, driver));
      return opened.get(context) ?? null;
    } catch {
      continue;
    }
  }
  return null;
}

/** A page's tools as one driver shows them to the browser. Get it from `findModelContext`. */
export class ModelContext {
  /** @type {Map<Handle, Placed>} */
  #placed = new Map();
  /** @type {Set<{name: string, controller: AbortController}>} calls that came without a signal of their own */
  #unsignalled = new Set();
  #context;
  #driver;

  /** @param {any} context the browser's object @param {Driver} driver */
  constructor(context, driver) {
    this.#context = context;
    this.#driver = driver;
    this.#listen("toolcancel", (event) => this.#cancelled(/** @type {any} */ (event).toolName));
  }

  /** The generation of the API that was found, for diagnostics. */
  get generation() {
    return this.#driver.generation;
  }

  /**
   * The definitions of the tools registered here and not removed or refused, in order of registration.
   * @returns {ToolDefinition[]}
   */
  list() {
    return Array.from(this.#placed.keys(), (handle) => handle.definition);
  }

  /**
   * Shows a tool to the browser. Never throws: a refusal, such as for a name that somebody else on the page has taken,
   * is what `handle.settled` gives.
   * @param {ToolDefinition} definition
   * @param {Call} call
   * @param {RegisterOptions} [options]
   * @returns {Handle}
   */
  register(definition, call, options = {}) {
    /** @param {unknown} input @param {unknown} [extra] */
    const execute = (input, extra) => (this.#placed.has(handle) ? this.#run(handle, call, input, extra) : gone());
    const handle = { name: definition.name, definition, settled: Promise.resolve(/** @type {string | null} */ (null)) };
    try {
      const placed = this.#driver.place(this.#context, { ...definition, execute }, options);
      this.#placed.set(handle, placed);
      handle.settled = Promise.resolve(placed.accepted).then(
        () => null,
        (error) => this.#refused(handle, error),
      );
    } catch (error) {
      handle.settled = Promise.resolve(this.#refused(handle, error));
    }
    return handle;
  }

  /**
   * Takes a tool back. Calls that are running still get their answer. Removing twice, or what was refused, does nothing.
   * @param {Handle} handle
   */
  remove(handle) {
    const placed = this.#placed.get(handle);
    if (!placed) return;
    this.#placed.delete(handle);
    try {
      placed.withdraw();
    } catch (error) {
      console.warn(`The browser did not take back the tool ${handle.name}:`, error);
    }
  }

  /**
   * Calls back whenever the browser says that the page's tools changed, whoever changed them.
   * @param {() => void} callback
   * @returns {() => void} ends it
   */
  onChange(callback) {
    return this.#listen("toolchange", () => callback());
  }

  /** @param {string} type @param {(event: Event) => void} listener */
  #listen(type, listener) {
    try {
      this.#context.addEventListener?.(type, listener);
    } catch {
      // An object without this event has nothing to tell.
    }
    return () => this.#context.removeEventListener?.(type, listener);
  }

  /** @param {Handle} handle @param {unknown} error */
  #refused(handle, error) {
    // A tool that was removed before the browser had answered is not refused: nobody wants it any more.
    return this.#placed.delete(handle) || !aborted(error) ? words(error) : null;
  }

  /** @param {Handle} handle @param {Call} call @param {unknown} input @param {any} extra */
  #run(handle, call, input, extra) {
    const given = extra?.signal;
    // Not instanceof: a caller in another frame has an AbortSignal of its own realm.
    if (typeof given?.addEventListener === "function") return answer(handle.name, call, input, given);
    const running = { name: handle.name, controller: new AbortController() };
    this.#unsignalled.add(running);
    const result = answer(handle.name, call, input, running.controller.signal);
    const done = () => void this.#unsignalled.delete(running);
    if (result instanceof Promise) result.then(done);
    else done();
    return result;
  }

  /** @param {string} name the event names the tool and not the call, so every call of it is meant */
  #cancelled(name) {
    for (const running of this.#unsignalled) if (running.name === name) running.controller.abort();
  }
}

/**
 * One call: input to text, text to envelope. Never throws and never rejects.
 * @param {string} name @param {Call} call @param {unknown} input @param {AbortSignal} signal
 * @returns {Envelope | Promise<Envelope>}
 */
function answer(name, call, input, signal) {
  try {
    const text = call(jsonText(input), signal);
    if (typeof text === "string") return JSON.parse(text);
    return text.then((late) => JSON.parse(late)).catch((error) => broken(name, error));
  } catch (error) {
    return broken(name, error);
  }
}

/**
 * Input as JSON text. Missing input is the empty object; a text is JSON already (older executors); what cannot be
 * written as JSON or is nested too deeply becomes the empty text, which is no JSON either, so that the receiving side answers with its own error.
 * @param {unknown} input
 */
function jsonText(input) {
  if (input === undefined) return "{}";
  try {
    return shallow(typeof input === "string" ? input : JSON.stringify(input) ?? "");
  } catch {
    return "";
  }
}

/** Levels of arrays and objects that may cross to Python, whose interpreter in a page dies of a full stack. */
const MAX_DEPTH = 64;

/**
 * JSON text as it is; throws a RangeError where it is nested more deeply than `MAX_DEPTH`. One scan, no recursion.
 * @param {string} text
 */
export function shallow(text) {
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const mark = text[index];
    if (mark === "\\") index++;
    else if (mark === '"') quoted = !quoted;
    else if (!quoted && (mark === "[" || mark === "{")) depth++;
    else if (!quoted && (mark === "]" || mark === "}")) depth--;
    if (depth > MAX_DEPTH) throw new RangeError(`JSON may be nested ${MAX_DEPTH} levels deep here, and this is deeper`);
  }
  return text;
}

/** @param {string} name @param {unknown} error */
function broken(name, error) {
  console.error(`The tool ${name} could not be run:`, error);
  return failure("EXECUTION_FAILED", "The page could not run this tool.", "no", { reason: "transport", transient: false });
}

function gone() {
  const message = "The component that offered this capability has left the page.";
  return failure("COMPONENT_UNMOUNTED", message, "after-refresh", { phase: "resolve" });
}

/**
 * The envelope of a typed error, for the few answers that are given without asking the other side.
 * @param {string} code @param {string} message @param {string} retry @param {object} details
 * @returns {Envelope}
 */
function failure(code, message, retry, details) {
  const error = { code, message, retry, details };
  return { content: [{ type: "text", text: JSON.stringify(error) }], structuredContent: { error }, isError: true };
}

/** @param {unknown} error */
function words(error) {
  return error instanceof Error || error instanceof DOMException ? error.message : String(error);
}

/** @param {unknown} error */
function aborted(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/**
 * @typedef {object} RemoteListener functions of the side that cannot hold JavaScript objects
 * @property {(tool: number, inputText: string) => string | number} run the envelope's text, or a number that names the
 *   call if it has to wait; `RemoteEnd.settle` takes that number
 * @property {(call: number) => void} cancel the caller of a waiting call has given up; it is settled all the same
 * @property {(tool: number, why: string) => void} refused the browser did not take the tool
 */

/** @type {Set<RemoteEnd>} those with a tool or a waiting call */
const ends = new Set();

/** The other side has died: tools are withdrawn, and every waiting call is answered. */
function abandon() {
  for (const end of Array.from(ends)) end.abandon();
}

/**
 * A model context for a side that deals in numbers and texts alone, such as Python, where every JavaScript object that
 * is held costs a proxy. Three functions come in once; tools and waiting calls are numbers that the other side chooses.
 */
export class RemoteEnd {
  /** @type {Map<number, Handle>} */
  #tools = new Map();
  /** @type {Map<number, (text: string) => void>} */
  #waiting = new Map();
  #context;
  #listener;

  /**
   * @param {ModelContext} context
   * @param {RemoteListener["run"]} run @param {RemoteListener["cancel"]} cancel @param {RemoteListener["refused"]} refused
   */
  constructor(context, run, cancel, refused) {
    this.#context = context;
    this.#listener = { run, cancel, refused };
  }

  /**
   * @param {number} tool
   * @param {string} definitionText JSON of a ToolDefinition
   * @param {string} optionsText JSON of RegisterOptions
   */
  register(tool, definitionText, optionsText) {
    /** @type {Call} */
    const call = (text, signal) => this.#call(tool, text, signal);
    const handle = this.#context.register(JSON.parse(definitionText), call, JSON.parse(optionsText));
    this.#tools.set(tool, handle);
    ends.add(this);
    handle.settled.then((why) => {
      if (why !== null && this.#tools.delete(tool)) this.#listener.refused(tool, why);
    });
  }

  /** @param {number} tool */
  remove(tool) {
    const handle = this.#tools.get(tool);
    this.#tools.delete(tool);
    if (handle) this.#context.remove(handle);
    this.#rest();
  }

  /** @param {number} call @param {string} text the envelope, as JSON */
  settle(call, text) {
    this.#waiting.get(call)?.(text);
    this.#rest();
  }

  /** Withdraws and answers everything without asking the other side. */
  abandon() {
    const details = { reason: "transport", transient: false };
    const text = JSON.stringify(failure("EXECUTION_FAILED", "The page could not run this tool.", "no", details));
    for (const tool of Array.from(this.#tools.keys())) this.remove(tool);
    for (const call of Array.from(this.#waiting.keys())) this.settle(call, text);
  }

  #rest() {
    if (this.#tools.size + this.#waiting.size === 0) ends.delete(this);
  }

  /** The definitions of all tools that this page has registered through the library, as JSON text. */
  list() {
    return JSON.stringify(this.#context.list());
  }

  /** @param {number} tool @param {string} text @param {AbortSignal} signal */
  #call(tool, text, signal) {
    const call = this.#listener.run(tool, text);
    if (typeof call === "string") return call;
    /** @type {Promise<string>} */
    const promise = new Promise((resolve) => {
      const cancel = () => this.#listener.cancel(call);
      this.#waiting.set(call, (answerText) => {
        this.#waiting.delete(call);
        signal.removeEventListener("abort", cancel);
        resolve(answerText);
      });
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
    });
    return promise;
  }
}

// Where Python finds this module without knowing from which address the page, or nobody, has loaded it. The first copy
// of the library on a page stays the one that is used.
/** @type {any} */ (globalThis)[Symbol.for("webmcp-surface.model-context")] ??= {
  findModelContext,
  RemoteEnd,
  abandon,
};
