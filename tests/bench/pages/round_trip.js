// The tool that a page without this library would register, and the measurement itself.
const context = document.modelContext;

context.registerTool({
  name: "by_hand",
  title: "By hand",
  description: "Take a text and do nothing",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
    additionalProperties: false,
  },
  async execute(input) {
    if (typeof input.text !== "string") throw new TypeError("text");
    return { content: [{ type: "text", text: "null" }] };
  },
});

/**
 * Milliseconds per call of each tool, one figure per batch, the tools alternating.
 * @param {string[]} names
 * @param {number} characters size of the input's text
 */
globalThis.measure = async (names, characters, batches, calls) => {
  const all = await context.getTools();
  const tools = names.map((name) => all.find((tool) => tool.name === name));
  const input = { text: "x".repeat(characters) };
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let batch = -2; batch < batches; batch++) {
    for (const tool of tools) {
      const start = performance.now();
      for (let call = 0; call < calls; call++) await context.executeTool(tool, input);
      if (batch >= 0) times[tool.name].push((performance.now() - start) / calls);
    }
  }
  return times;
};
