/** Page code that does what it should not: the tab goes on, Python goes on, and the console says what is wrong. */
import { expect, test } from "./fixtures.mjs";

const LIST = "view_notes__list__read";

test.beforeEach(async ({ surface }) => {
  await surface.open("notes.html");
});

test("an availability that says it has changed does not freeze the tab", async ({ page, surface }) => {
  const asked = await page.evaluate(async () => {
    let asked = 0;
    /** @type {any} */
    let mounted;
    mounted = agentSurface.mount("notes.list", {
      instance: "eager",
      available: {
        read() {
          asked++;
          if (asked > 5_000) throw new Error("asked without end");
          mounted?.changed();
          return true;
        },
      },
    });
    mounted.changed();
    await new Promise((resolve) => setTimeout(resolve, 300));
    return asked;
  });
  expect(asked).toBeLessThan(5);
  expect(await surface.tools()).toContain(`${LIST}_at_eager`);
});

test("JSON nested thousands of levels deep is refused and Python lives on", async ({ page, surface, guard }) => {
  guard.expect(/The state of notes.list could not be read: RangeError: JSON may be nested 64 levels deep/);
  guard.expect(/The command add of notes.list failed: RangeError/);
  await page.evaluate(() => {
    const page = /** @type {any} */ (window);
    page.deep = () => {
      let value = /** @type {any} */ (1);
      for (let level = 0; level < 6_000; level++) value = [value];
      return value;
    };
    agentSurface.mount("notes.list", { instance: "deep", state: page.deep, commands: { add: page.deep } });
  });
  await expect.poll(() => surface.tools()).toContain(`${LIST}_at_deep`);
  const code = async (/** @type {string} */ name, /** @type {object} */ input) =>
    (await surface.call(name, input)).structuredContent.error.code;
  expect(await code(`${LIST}_at_deep`, {})).toBe("EXECUTION_FAILED");
  expect(await code("view_notes__list__add_at_deep", { text: "x" })).toBe("EXECUTION_FAILED");
  const asynchronous = await surface.call("view_notes__lab__wait", { seconds: 0.01 });
  expect(asynchronous.content[0].text).toContain("waited");
});

test("a dead interpreter takes its tools with it and leaves no call waiting", async ({ page, surface, guard }) => {
  guard.expect(/Python has died in this page/);
  guard.expect(/fatal error|Stack|out of memory|Current thread|File /);
  const answer = await page.evaluate(async () => {
    const context = /** @type {any} */ (document).modelContext;
    const hang = (await context.getTools()).find((/** @type {any} */ tool) => tool.name === "view_notes__lab__hang");
    const running = context.executeTool(hang, {});
    await new Promise((resolve) => setTimeout(resolve, 50));
    try {
      /** @type {any} */ (agentSurface.python)._api.fatal_error(new RangeError("out of memory"));
    } catch {
      // Pyodide throws on what killed it.
    }
    return JSON.parse(await running).structuredContent.error;
  });
  expect(answer).toMatchObject({ code: "EXECUTION_FAILED", details: { reason: "transport" } });
  expect(await surface.tools()).toEqual([]);
  expect(await page.evaluate(() => [agentSurface.state, agentSurface.python])).toEqual(["failed", null]);
});
