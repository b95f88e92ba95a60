/**
 * The browser suite: `npx playwright test` from the repository's root (`./tests/run browser` also sets things up).
 * How to write a spec stands in tests/browser/fixtures.mjs.
 */
import { defineConfig } from "@playwright/test";
import { chromium } from "./tests/browser/chromium.mjs";

export default defineConfig({
  testDir: "tests/browser",
  outputDir: "test-results",
  // A cold Pyodide boot takes seconds, more with two workers on two cores.
  timeout: 90_000,
  expect: { timeout: 30_000 },
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  reporter: [["list"]],
  webServer: {
    command: "node tests/browser/server.mjs",
    wait: { stdout: /serving (?<surface_fixtures>http:\S+)/ },
  },
  // Set by webServer before the workers, which read this file again, start.
  use: { baseURL: process.env.SURFACE_FIXTURES },
  projects: [
    { name: "webmcp", grepInvert: /@off/, use: { launchOptions: chromium({ webmcp: true }) } },
    { name: "off", grep: /@off|@both/, use: { launchOptions: chromium({ webmcp: false }) } },
  ],
});
