import { byId, el } from "./elements.js";
import { clock } from "./format.js";

const TOAST_SECONDS = 5;
const LOG_LENGTH = 30;

/** What the pill and the panel say for each state of the agent surface. @type {Record<string, [string, string]>} */
const STATES = {
  absent: ["Agent off", "No agent surface is loaded. The page works without one."],
  early: ["Agent loading", "The agent surface is starting."],
  loading: ["Agent loading", "Python is being loaded; the page's tools will appear when it is ready."],
  ready: ["Agent ready", "An agent in this browser may read and operate this page by its tools."],
  unseen: ["Agent ready", "The page's tools are ready, but this browser has no WebMCP by which an agent could find them."],
  failed: ["Agent off", "The agent surface could not start; the browser's console says why. The page works without it."],
};

/**
 * What an agent did, for the person to see: a line that comes and goes, and a log that stays.
 */
export class Activity {
  #log = byId("agent-log", HTMLOListElement);
  #toast = byId("agent-toast", HTMLElement);
  #timer = 0;

  /** The last line, how often it happened, and where the log says so. */
  #last = { text: "", times: 0, entry: el("li") };

  /** @param {string} text what was read, such as “Read the filters”; only the log says so */
  read(text) {
    this.#write(text);
  }

  /** @param {string} text what was done, such as “Sorted by site” */
  record(text) {
    this.#write(text);
    this.#toast.textContent = `Agent: ${text}`;
    this.#toast.classList.add("is-shown");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#toast.classList.remove("is-shown"), TOAST_SECONDS * 1000);
  }

  /** @param {string} text the same thing again counts up its line */
  #write(text) {
    if (text !== this.#last.text) {
      this.#last = { text, times: 0, entry: el("li") };
      this.#log.prepend(this.#last.entry);
      while (this.#log.children.length > LOG_LENGTH) this.#log.lastElementChild?.remove();
    }
    const { entry } = this.#last;
    const times = ++this.#last.times > 1 ? ` (${this.#last.times} times)` : "";
    entry.replaceChildren(el("span", {}, text + times), el("time", { class: "muted" }, clock(new Date())));
  }
}

/**
 * Show the state of the agent surface, which announces it on the root element.
 *
 * @returns {Activity}
 */
export function watchAgent() {
  const root = document.documentElement;
  const pill = byId("agent-status", HTMLButtonElement);
  const text = byId("agent-status-text", HTMLElement);
  const note = byId("agent-note", HTMLElement);
  function show() {
    let state = root.dataset.agentSurface ?? "absent";
    if (state === "ready" && !("modelContext" in document || "modelContext" in navigator)) state = "unseen";
    const [label, explanation] = STATES[state] ?? STATES.absent;
    pill.dataset.state = state;
    text.textContent = label;
    note.textContent = explanation;
  }
  new MutationObserver(show).observe(root, { attributeFilter: ["data-agent-surface"] });
  show();
  return new Activity();
}
