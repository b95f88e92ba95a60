/** Getting Python up in a page: the runtime bundle, the app's source, and the hand-over to `webmcp.page`. */

/**
 * @typedef {object} BootOptions
 * @property {string} app address of the Python module that runs the page, relative to the document
 * @property {string} [runtime] address of the folder that `surface bundle` made; by default where this file lies
 * @property {string[]} [scope] component-type prefixes that agents may see; all by default
 * @property {string[]} [exposedTo] further origins whose agents may see the tools
 * @property {number} [toolBudget] number of tools above which a warning is given
 * @property {boolean} [announceUnavailable] add a tool that says what cannot be used and why
 *
 * @typedef {object} Progress bytes of the runtime that have arrived and that there are, uncompressed
 * @property {number} loaded
 * @property {number} total
 *
 * @typedef {{packages: string[], files: Record<string, {size: number}>}} Bundle the part of bundle.json used here
 *
 * @typedef {object} PyProxy what Pyodide gives for a Python object
 * @property {() => void} destroy
 *
 * @typedef {object} Pyodide the part of Pyodide used here
 * @property {(name: string) => any} pyimport
 * @property {{on_fatal?: (error: unknown) => void}} _api told of the interpreter's death
 *
 * @typedef {object} Running a page's Python
 * @property {Pyodide} python
 * @property {() => void} dispose ends what the app registered
 */

/** What Pyodide loads whatever the app needs, by its fixed names. */
const CORE = ["pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];

/** Why the page could not boot; `message` may be a Python traceback. */
export class BootError extends Error {
  name = "BootError";
}

/**
 * Loads Python and runs the app. Rejects with a `BootError` that says what is wrong.
 * @param {BootOptions} options
 * @param {(progress: Progress) => void} onProgress
 * @param {AbortSignal} signal aborted where the page does not want the app any more
 * @param {(error: unknown) => void} onDeath called if the interpreter has died, after which nothing can be asked of it
 * @returns {Promise<Running>}
 */
export async function bootPython(options, onProgress, signal, onDeath) {
  if (!options?.app) throw new BootError("no app was named: give the address of a Python file as data-app");
  const app = new URL(options.app, document.baseURI).href;
  const runtime = folder(options.runtime ?? import.meta.url);
  // All that is known by name starts at once; what is not waits for none of it.
  preload(runtime);
  const source = fetchText(app, "the app");
  const [bundle, { loadPyodide }, lock] = await together([
    fetchBundle(runtime),
    importRuntime(runtime),
    fetchText(`${runtime}pyodide-lock.json`, "the runtime"),
    source,
  ]);
  const stop = watch(runtime, bundle, onProgress);
  /** @type {Pyodide} */
  const python = await loadPyodide({
    indexURL: runtime,
    stdLibURL: `${runtime}python_stdlib.zip`,
    lockFileContents: lock,
    packageBaseUrl: runtime,
    packages: bundle.packages,
  });
  stop();
  python._api.on_fatal = onDeath;
  const dispose = () => callModule(python, "dispose");
  if (signal.aborted) throw new BootError("the boot was called off");
  signal.addEventListener("abort", dispose);
  await runApp(python, await source, app, options).finally(() => signal.removeEventListener("abort", dispose));
  return { python, dispose };
}

/**
 * @param {Pyodide} python @param {string} source @param {string} app its address @param {BootOptions} options
 */
async function runApp(python, source, app, { scope, exposedTo, toolBudget, announceUnavailable }) {
  const adapter = {
    scope,
    exposed_to: exposedTo,
    tool_budget: toolBudget,
    announce_unavailable: announceUnavailable,
  };
  const problem = await callModule(python, "boot", source, app, JSON.stringify(adapter));
  if (typeof problem === "string") throw new BootError(problem);
}

/**
 * Calls a function of `webmcp.page`, leaving no proxy behind.
 * @param {Pyodide} python @param {string} name @param {...string} given
 */
function callModule(python, name, ...given) {
  const module = python.pyimport("webmcp.page");
  const callable = module[name];
  const result = callable(...given);
  callable.destroy();
  module.destroy();
  return typeof result?.then === "function" ? Promise.resolve(result).finally(() => result.destroy()) : result;
}

/** @param {string} address of a folder, or of a file in it */
function folder(address) {
  const url = new URL(address, document.baseURI);
  return new URL(url.href === import.meta.url || url.pathname.endsWith("/") ? "." : `${url.pathname}/`, url).href;
}

/**
 * `Promise.all`, with the promises that are left behind after a failure looked at, so that none is unhandled.
 * @template {readonly unknown[]} T
 * @param {T} promises
 * @returns {Promise<{-readonly [K in keyof T]: Awaited<T[K]>}>}
 */
function together(promises) {
  for (const promise of promises) Promise.resolve(promise).catch(() => null);
  return /** @type {any} */ (Promise.all(promises));
}

/** @param {string} address @param {string} what */
async function fetchText(address, what) {
  const response = await fetch(address).catch((error) => {
    throw new BootError(`${what} could not be fetched from ${address}: ${error.message}`);
  });
  if (!response.ok) throw new BootError(`${what} is not at ${address} (HTTP ${response.status})`);
  return response.text();
}

/** @param {string} runtime @returns {Promise<Bundle>} */
async function fetchBundle(runtime) {
  const text = await fetchText(`${runtime}bundle.json`, "the runtime");
  try {
    const bundle = JSON.parse(text);
    if (Array.isArray(bundle.packages) && typeof bundle.files === "object") return bundle;
  } catch {
    // A server that answers everything with its own page is no bundle either.
  }
  throw new BootError(`${runtime} is no runtime bundle; make one with \`surface bundle\` and name it in data-runtime`);
}

/** @param {string} runtime */
async function importRuntime(runtime) {
  try {
    return await import(`${runtime}pyodide.mjs`);
  } catch (error) {
    throw new BootError(`${runtime}pyodide.mjs could not be loaded: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {string} runtime the large files begin to arrive before the code that asks for them */
function preload(runtime) {
  link("modulepreload", `${runtime}pyodide.asm.mjs`);
  for (const name of ["pyodide.asm.wasm", "python_stdlib.zip"]) link("preload", runtime + name);
}

/** @param {"preload" | "modulepreload"} rel @param {string} href */
function link(rel, href) {
  const element = document.createElement("link");
  element.rel = rel;
  if (rel === "preload") element.as = "fetch";
  element.crossOrigin = "anonymous";
  element.href = href;
  document.head.append(element);
}

/**
 * Reports the bytes of the runtime's files as each of them has arrived.
 * @param {string} runtime @param {Bundle} bundle @param {(progress: Progress) => void} onProgress
 * @returns {() => void} ends it, with everything loaded
 */
function watch(runtime, { files }, onProgress) {
  const missing = new Map(
    Object.entries(files)
      .filter(([name]) => CORE.includes(name) || name.endsWith(".whl"))
      .map(([name, { size }]) => [runtime + name, size]),
  );
  const total = Array.from(missing.values()).reduce((sum, size) => sum + size, 0);
  let loaded = 0;
  const report = () => onProgress({ loaded, total });
  const observer = new PerformanceObserver((list) => {
    for (const { name } of list.getEntries()) {
      const size = missing.get(name);
      if (size === undefined) continue;
      missing.delete(name);
      loaded += size;
      report();
    }
  });
  observer.observe({ type: "resource", buffered: true });
  report();
  return () => {
    observer.disconnect();
    if (loaded < total) onProgress({ loaded: total, total });
  };
}
