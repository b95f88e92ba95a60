/** Debian's Chromium, found on the PATH and started the way every test of this repository starts it. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // What a page asks of any other host fails, whatever the network of the machine would have answered.
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

/**
 * The path of the first Chromium on the PATH.
 * @returns {string}
 * @throws {Error} one sentence, where there is none
 */
export function findChromium() {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of NAMES) {
      const candidate = join(folder, name);
      try {
        accessSync(candidate, constants.X_OK);
        return candidate;
      } catch {
        continue;
      }
    }
  }
  throw new Error("No Chromium on the PATH: install one (Debian: apt-get install chromium).");
}

/**
 * Playwright launch options for that browser.
 * @param {{webmcp: boolean}} options whether `document.modelContext` exists in its pages
 * @returns {import("@playwright/test").LaunchOptions}
 */
export function chromium({ webmcp }) {
  return { executablePath: findChromium(), args: webmcp ? [...ARGS, "--enable-features=WebMCP"] : ARGS };
}
