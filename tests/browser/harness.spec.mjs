/** The harness itself: that its guards can fail is what makes their silence mean something. */
import { expect, test } from "./fixtures.mjs";

test("a tool registered by hand is listed and called natively", async ({ surface }) => {
  await surface.open("by_hand.html");
  expect(await surface.tools()).toEqual(["echo"]);
  expect(await surface.call("echo", { n: 1 })).toEqual({ content: [{ type: "text", text: '{"n":1}' }] });
});

test("without the flag there is no model context", { tag: "@off" }, async ({ page, surface }) => {
  await surface.open("by_hand.html");
  expect(await page.evaluate(() => "modelContext" in document)).toBe(false);
});

test("a console error is a problem that a test has to announce", { tag: "@both" }, async ({ page, surface, guard }) => {
  guard.expect(/^console error: said aloud$/);
  await surface.open("by_hand.html");
  await page.evaluate(() => console.error("said aloud"));
});

test("an unhandled rejection is a problem that a test has to announce", async ({ page, surface, guard }) => {
  guard.expect(/^uncaught: Error: nobody caught me/);
  await surface.open("by_hand.html");
  await page.evaluate(() => void Promise.reject(new Error("nobody caught me")));
});

test("a request to another host is a problem, and does not get there", async ({ page, surface, guard }) => {
  guard.expect(/^request that leaves loopback: http:\/\/192\.0\.2\.1\//);
  guard.expect(/^console error: Failed to load resource/);
  await surface.open("by_hand.html");
  expect(await page.evaluate(() => fetch("http://192.0.2.1/").catch((error) => String(error)))).toContain("Failed to fetch");
});

test.describe("a test that does not announce what happens", () => {
  test.fail();

  test("fails on a console error", async ({ page, surface }) => {
    await surface.open("by_hand.html");
    await page.evaluate(() => console.error("unannounced"));
  });

  test("fails where what it announced never came", async ({ surface, guard }) => {
    guard.expect(/never said/);
    await surface.open("by_hand.html");
  });
});
