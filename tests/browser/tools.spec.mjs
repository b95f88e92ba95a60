/** What an agent gets through the browser's own model context, and what a person sees of it. */
import { expect, test } from "./fixtures.mjs";

/** @param {import("./fixtures.mjs").Envelope} envelope */
function error(envelope) {
  expect(envelope.isError).toBe(true);
  expect(JSON.parse(envelope.content[0].text)).toEqual(envelope.structuredContent.error);
  return envelope.structuredContent.error;
}

test.beforeEach(async ({ page, surface }) => {
  await page.addInitScript({ path: "tests/fixtures/recorder.js" });
  await surface.open("notes.html");
});

test("the tools are listed natively, with plane and effect, schema and hints", async ({ page, surface }) => {
  const listing = await surface.listing();
  const add = listing.find((tool) => tool.name === "view_notes__list__add");
  expect(add).toEqual({
    name: "view_notes__list__add",
    title: "add",
    description: "[view · local-state] Add a note",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    },
  });
  const hints = await page.evaluate(async () => {
    const context = /** @type {any} */ (document).modelContext;
    const read = (await context.getTools()).find((/** @type {any} */ tool) => tool.name === "view_notes__list__read");
    return { reads: read.annotations.readOnlyHint, untrusted: read.annotations.untrustedContentHint };
  });
  expect(hints).toEqual({ reads: true, untrusted: true });
  expect(await page.evaluate(() => agentSurface.tools().map((tool) => tool.name).sort())).toEqual(await surface.tools());
});

test("an observation answers what the page shows, an action changes it", async ({ page, surface }) => {
  const twice = await surface.call("view_notes__list__readTwice");
  expect(new Set(JSON.parse(twice.content[0].text)).size, "the state is read once per call").toBe(1);
  const before = await surface.call("view_notes__list__read");
  expect(before.structuredContent.notes).toHaveLength(2);
  expect(JSON.parse(before.content[0].text)).toEqual(before.structuredContent);
  const added = await surface.call("view_notes__list__add", { text: "Water the plants" });
  expect(added).toEqual({
    content: [{ type: "text", text: '{"id":"n3","text":"Water the plants","done":false}' }],
    structuredContent: { id: "n3", text: "Water the plants", done: false },
  });
  await expect(page.locator("#list li")).toHaveText(["Buy milk", "Call Ada", "Water the plants"]);
});

test("values cross exactly, both ways", async ({ page, surface }) => {
  expect(await surface.call("view_notes__lab__nothing")).toEqual({ content: [{ type: "text", text: "null" }] });
  for (const [value, type] of /** @type {[unknown, string][]} */ ([
    [1, "int"],
    [-0.5, "float"],
    [2 ** 60, "int"],
    [null, "NoneType"],
    [true, "bool"],
    ["ü 😀 \u2028 \"\\", "str"],
    [[1, [2, { a: null }]], "list"],
    [{ "": {}, b: [] }, "dict"],
  ])) {
    const answer = await surface.call("view_notes__lab__echo", { value });
    expect(answer.structuredContent).toEqual({ value, type });
  }
  // An integer beyond 2^53 keeps every digit in Python, and in the text of an answer.
  const answer = await surface.call("view_notes__lab__echo", { value: 2 ** 53 + 2 });
  expect(answer.content[0].text).toBe('{"value":9007199254740994,"type":"int"}');
  const digits = await page.evaluate(() => {
    const python = /** @type {any} */ (agentSurface.python);
    return python.runPython("from webmcp.envelope import output_text; output_text({'n': 2**63 + 1})");
  });
  expect(digits).toContain("9223372036854775809");
});

test("a wrong input is a typed error that names the field", async ({ surface }) => {
  for (const [input, path] of /** @type {[object, string][]} */ ([
    [{}, "text"],
    [{ text: 7 }, "text"],
    [{ text: "x", colour: "red" }, "colour"],
    [["text"], ""],
    [{ text: "\ud800" }, ""],
  ])) {
    const failure = error(await surface.call("view_notes__list__add", input));
    expect(failure).toMatchObject({ code: "INVALID_INPUT", retry: "with-changes" });
    expect(failure.details.issues.map((/** @type {any} */ issue) => issue.path)).toContain(path);
  }
});

test("what an executor hands over as text, as nothing or as no JSON crosses as text", async ({ page }) => {
  const answers = await page.evaluate(async () => {
    const { findModelContext } = await import(/** @type {any} */ ("/static/model_context.js"));
    const context = /** @type {any} */ (document).modelContext;
    /** @type {any} */
    let execute;
    const registerTool = context.registerTool;
    context.registerTool = (/** @type {any} */ tool) => void (execute = tool.execute);
    // What reaches the other side is the text that a call gets.
    findModelContext().register({ name: "probe", description: "", inputSchema: {} }, (/** @type {string} */ text) => {
      return JSON.stringify({ content: [{ type: "text", text }] });
    });
    context.registerTool = registerTool;
    /** @type {any} */
    const cycle = {};
    cycle.self = cycle;
    const inputs = [undefined, '{"a":1}', "not json", null, 5n, cycle, () => 1, { a: undefined, d: new Date(0) }];
    return inputs.map((input) => execute(input).content[0].text);
  });
  expect(answers).toEqual(["{}", '{"a":1}', "not json", "null", "", "", "", '{"d":"1970-01-01T00:00:00.000Z"}']);
});

test("however a handler ends, the agent gets a typed error, and the next call works", async ({ surface }) => {
  const raised = error(await surface.call("view_notes__lab__fail", { how: "any" }));
  expect(raised).toMatchObject({ code: "EXECUTION_FAILED", retry: "no", details: { reason: "handler-error" } });
  expect(JSON.stringify(raised), "what it raised is for the page's author").not.toContain("hunter2");
  expect(error(await surface.call("view_notes__lab__fail", { how: "typed" }))).toEqual({
    code: "RATE_LIMITED",
    message: "Not so fast",
    retry: "after-delay",
    details: { reason: "rate", retryAfterMs: 70 },
  });
  const output = error(await surface.call("view_notes__lab__noJson"));
  expect(output).toMatchObject({ code: "EXECUTION_FAILED", details: { reason: "output-invalid" } });
  const endless = error(await surface.call("view_notes__lab__wait"));
  expect(endless).toMatchObject({ code: "TIMEOUT", details: { phase: "mid-flight", timeoutMs: 200 } });
  const answer = await surface.call("view_notes__lab__wait", { seconds: 0.01 });
  expect(answer.content[0].text).toBe('"waited"');
});

test("the caller's signal cancels the handler", async ({ page }) => {
  const told = await page.evaluate(async () => {
    const context = /** @type {any} */ (document).modelContext;
    const hang = (await context.getTools()).find((/** @type {any} */ tool) => tool.name === "view_notes__lab__hang");
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("enough")), 50);
    const begun = performance.now();
    const caller = await context.executeTool(hang, {}, { signal: controller.signal }).catch(String);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const [answer] = /** @type {any} */ (globalThis).record.answers;
    return { caller, answer: answer?.structuredContent.error, seconds: (performance.now() - begun) / 1000 };
  });
  // The browser tells the caller in its own way; the tool's own answer is typed, and there at once.
  expect(told.caller).toBe("Error: enough");
  expect(told.answer).toMatchObject({ code: "CANCELLED", details: { phase: "mid-flight" } });
  expect(told.seconds).toBeLessThan(3);
});

test("a command of the page may fail, typed or not, and its signal is aborted on a timeout", async ({ page, surface, guard }) => {
  guard.expect(/^console error: The command crash of notes.list failed: Error: the secret is 42/);
  guard.expect(/^console error: The command mistyped of notes.list failed: TypeError/);
  expect(error(await surface.call("view_notes__list__add", { text: "" }))).toEqual({
    code: "PRECONDITION_FAILED",
    message: "A note needs a text.",
    retry: "with-changes",
    details: { field: "text" },
  });
  for (const name of ["crash", "mistyped", "missing"]) {
    const failure = error(await surface.call(`view_notes__list__${name}`));
    expect(failure).toMatchObject({ code: "EXECUTION_FAILED", details: { reason: "handler-error" } });
    expect(JSON.stringify(failure)).not.toContain("42");
  }
  expect((await surface.call("view_notes__list__addLater", { ms: 10 })).content[0].text).toBe('"later"');
  expect(error(await surface.call("view_notes__list__addLater", { ms: 5_000 })).code).toBe("TIMEOUT");
  await expect.poll(() => page.evaluate(() => /** @type {any} */ (globalThis).notesPage.aborted)).toHaveLength(1);
});

test("twenty calls at once all get their own answer", async ({ page }) => {
  const answers = await page.evaluate(async () => {
    const context = /** @type {any} */ (document).modelContext;
    const tools = await context.getTools();
    const echo = tools.find((/** @type {any} */ tool) => tool.name === "view_notes__lab__echo");
    const calls = Array.from({ length: 20 }, (_, value) => context.executeTool(echo, { value }));
    return (await Promise.all(calls)).map((text) => JSON.parse(text).structuredContent.value);
  });
  expect(answers).toEqual(Array.from({ length: 20 }, (_, value) => value));
});
