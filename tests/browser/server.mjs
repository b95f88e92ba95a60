/**
 * The page server of the browser suite: fixtures, the JavaScript side and the built runtime, on loopback only.
 *
 *   /fixtures/…  tests/fixtures     pages and the Python modules they name
 *   /static/…    static             surface.js, model_context.js, elements
 *   /runtime/…   build/runtime      made by `surface bundle build/runtime`; `./tests/run` does it
 *
 * `node tests/browser/server.mjs [PORT]` prints `serving http://127.0.0.1:PORT`; without PORT the system picks one,
 * so that two runs on one machine never meet.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** @type {Record<string, string>} */
const FOLDERS = { fixtures: "tests/fixtures", static: "static", runtime: "build/runtime" };

/** @type {Record<string, string>} */
const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".py": "text/x-python; charset=utf-8",
  ".wasm": "application/wasm",
};

/**
 * The file behind a URL path, or null where the path names no served folder or climbs out of one.
 * @param {string} path
 * @returns {string | null}
 */
function locate(path) {
  const [, name = "", ...rest] = path.split("/");
  const folder = FOLDERS[name];
  if (!folder) return null;
  const base = join(ROOT, folder);
  const file = normalize(join(base, ...rest));
  return file.startsWith(base + sep) ? file : null;
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? "/", "http://loopback");
  if (pathname === "/favicon.ico") {
    response.writeHead(204).end();
    return;
  }
  const file = locate(decodeURIComponent(pathname));
  const found = file ? await stat(file).catch(() => null) : null;
  if (!file || !found?.isFile()) {
    const missing = pathname.startsWith("/runtime/") ? "; build the runtime with `surface bundle build/runtime`" : "";
    response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end(`nothing at ${pathname}${missing}\n`);
    return;
  }
  response.writeHead(200, {
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "content-length": found.size,
    // The runtime is tens of megabytes and changes only when it is built; all else is under edit.
    "cache-control": pathname.startsWith("/runtime/") ? "max-age=3600" : "no-store",
  });
  createReadStream(file).pipe(response);
});

server.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
  console.error(error.code === "EADDRINUSE" ? `port ${process.argv[2]} is in use: give another` : String(error));
  process.exit(1);
});
server.listen(Number(process.argv[2] ?? 0), "127.0.0.1", () => {
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  console.log(`serving http://127.0.0.1:${address.port}`);
});
