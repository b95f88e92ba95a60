/** The DOM bridge: what is mounted exists, what left the document does not. */
import { expect, test } from "./fixtures.mjs";

const LIST = "view_notes__list__read";


test.beforeEach(async ({ surface }) => {
  await surface.open("notes.html");
  expect(await surface.tools()).toContain(LIST);
});

test("unmounting takes the tools away, mounting again brings them back and reaches the new one", async ({ page, surface }) => {
  await page.evaluate(() => /** @type {any} */ (window).mounted.unmount());
  await expect.poll(() => surface.tools()).not.toContain(LIST);
  expect(await surface.tools()).toContain("view_notes__lab__echo");
  await page.evaluate(() => {
    const page = /** @type {any} */ (window);
    page.notes.push({ id: "n9", text: "After the remount", done: false });
    page.mounted = page.mountNotes();
  });
  await expect.poll(() => surface.tools()).toContain(LIST);
  expect((await surface.call(LIST)).structuredContent.notes.at(-1).id).toBe("n9");
});

test("an entry that a client holds reaches the tool of the new mount", async ({ page }) => {
  const { gone, ids } = await page.evaluate(async (name) => {
    const page = /** @type {any} */ (window);
    const context = /** @type {any} */ (document).modelContext;
    const held = (await context.getTools()).find((/** @type {any} */ tool) => tool.name === name);
    page.mounted.unmount();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const gone = await context.executeTool(held, {}).catch((/** @type {Error} */ error) => error.name);
    page.notes.length = 1;
    page.mounted = page.mountNotes();
    await new Promise((resolve) => setTimeout(resolve, 200));
    const answer = JSON.parse(await context.executeTool(held, {}));
    return { gone, ids: answer.structuredContent.notes.map((/** @type {any} */ note) => note.id) };
  }, LIST);
  expect(gone, "in between it gets the browser's own not-found").toBe("UnknownError");
  expect(ids).toEqual(["n1"]);
});

test("removing the element from the document unmounts, moving it does not", async ({ page, surface }) => {
  await page.evaluate(() => document.querySelector("#elsewhere")?.append(/** @type {Element} */ (document.querySelector("#list"))));
  await page.waitForTimeout(200);
  expect(await surface.tools()).toContain(LIST);
  await page.evaluate(() => document.querySelector("#elsewhere")?.remove());
  await expect.poll(() => surface.tools()).not.toContain(LIST);
});

test("an element in a shadow tree bounds the life as well", async ({ page, surface }) => {
  await page.evaluate(() => {
    const page = /** @type {any} */ (window);
    page.mounted.unmount();
    const host = document.body.appendChild(document.createElement("div"));
    const element = document.createElement("p");
    host.attachShadow({ mode: "open" }).append(element);
    page.inShadow = element;
    agentSurface.mount("notes.list", { instance: "shadow", element, state: () => ({ notes: [], reads: 0 }) });
  });
  await expect.poll(async () => (await surface.call(LIST)).structuredContent.notes.length).toBe(0);
  await page.evaluate(() => /** @type {any} */ (window).inShadow.remove());
  await expect.poll(() => surface.tools()).not.toContain(LIST);
});

test("availability is what the page says, with its reason, after changed()", async ({ page, surface }) => {
  const add = "view_notes__list__add";
  await page.evaluate(() => {
    const page = /** @type {any} */ (window);
    page.notesPage.locked = true;
    for (let i = 0; i < 10; i++) page.mounted.changed();
  });
  await expect.poll(() => surface.tools()).not.toContain(add);
  expect(await surface.tools()).toContain(LIST);
  await page.evaluate(() => {
    const page = /** @type {any} */ (window);
    page.notesPage.locked = false;
    page.mounted.changed();
  });
  await expect.poll(() => surface.tools()).toContain(add);
});

test("a function in available that throws makes the capability unavailable", async ({ page, surface, guard }) => {
  guard.expect(/^console error: available.add failed: Error: no such thing/);
  await page.evaluate(() => {
    const page = /** @type {any} */ (window);
    page.mounted.unmount();
    const available = {
      add() {
        throw new Error("no such thing");
      },
    };
    agentSurface.mount("notes.list", { state: () => ({ notes: [], reads: 0 }), available });
  });
  await expect.poll(async () => (await surface.call(LIST)).structuredContent.notes.length).toBe(0);
  expect(await surface.tools()).not.toContain("view_notes__list__add");
});

test("two instances are two tools of qualified names", async ({ page, surface }) => {
  await page.evaluate(() => {
    agentSurface.mount("notes.list", { instance: "side", state: () => ({ notes: [], reads: 0 }) });
  });
  await expect.poll(() => surface.tools()).toContain(`${LIST}_at_side`);
  expect((await surface.call(`${LIST}_at_main`)).structuredContent.notes).toHaveLength(2);
  expect((await surface.call(`${LIST}_at_side`)).structuredContent.notes).toHaveLength(0);
});

test("a call that is running when its component leaves is answered", async ({ page, surface }) => {
  const answer = page.evaluate(async () => {
    const context = /** @type {any} */ (document).modelContext;
    const later = (await context.getTools()).find((/** @type {any} */ tool) => tool.name === "view_notes__list__addLater");
    const running = context.executeTool(later, { ms: 10_000 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    /** @type {any} */ (window).mounted.unmount();
    return JSON.parse(await running).structuredContent.error;
  });
  expect(await answer).toMatchObject({ code: "COMPONENT_UNMOUNTED", details: { phase: "mid-flight" } });
  expect(await surface.tools()).not.toContain(LIST);
});

test("a state that throws or is no JSON is a typed error", async ({ page, surface, guard }) => {
  guard.expect(/^console error: The state of notes.list could not be read: Error: not now/);
  await page.evaluate(() => {
    const page = /** @type {any} */ (window);
    page.mounted.unmount();
    page.mounted = agentSurface.mount("notes.list", {
      state() {
        throw new Error("not now");
      },
    });
  });
  await expect.poll(async () => (await surface.call(LIST)).isError).toBe(true);
  expect((await surface.call(LIST)).structuredContent.error).toMatchObject({
    code: "EXECUTION_FAILED",
    details: { reason: "handler-error" },
  });
});

test("a mount with a mistake says what is wrong, at once", async ({ page }) => {
  const messages = await page.evaluate(() => {
    /** @type {[any, any][]} */
    const mistakes = [
      [7, {}],
      ["notes.list", { element: "#list" }],
      ["notes.list", { state: {} }],
      ["notes.list", { commands: { add: 1 } }],
      ["notes.list", { available: { add: true } }],
      ["notes.list", { instance: 1 }],
    ];
    return mistakes.map(([type, options]) => {
      try {
        agentSurface.mount(type, options);
        return "accepted";
      } catch (error) {
        return String(error);
      }
    });
  });
  for (const message of messages) expect(message).toMatch(/^TypeError: agentSurface.mount\(.+\): .+ is an? /);
});
