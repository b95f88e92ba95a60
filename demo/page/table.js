/** @import { Column, Device } from "./types.js" */
/** @import { Drawer } from "./drawer.js" */
/** @import { PageState } from "./state.js" */

import { byId, el, icon } from "./elements.js";
import { absolute, ago, COLUMN_LABELS, plural, STATUS_LABELS } from "./format.js";

const SKELETON_ROWS = 8;
const CLOCK_INTERVAL = 30_000;

/**
 * The table of devices, its header and the line above it: shows the state, and turns clicks into changes of it.
 *
 * @param {PageState} state
 * @param {Drawer} drawer shows a device's details
 * @param {() => void} retry fetches the devices again
 */
export function showTable(state, drawer, retry) {
  const table = byId("devices-table", HTMLTableElement);
  const body = byId("devices-body", HTMLTableSectionElement);
  const showHead = tableHead(state);
  const showSummary = resultLine(state);
  const showMessages = messages(state, retry);
  /** The row of each device, shown or not. @type {WeakMap<Device, HTMLTableRowElement>} */
  const rows = new WeakMap();
  let anchor = "";

  /** @param {string} id @param {boolean} range */
  function toggle(id, range) {
    const selected = !state.selected.has(id);
    const ids = state.rows.map((row) => row.id);
    const [from, to] = [ids.indexOf(anchor), ids.indexOf(id)].sort((a, b) => a - b);
    state.select(range && from >= 0 ? ids.slice(from, to + 1) : [id], selected ? "add" : "remove");
    anchor = id;
  }

  body.addEventListener("click", (event) => {
    const target = /** @type {Element} */ (event.target);
    const row = target.closest("tr");
    const id = row?.dataset.deviceId;
    if (!row || !id) return;
    const opener = target.closest("button");
    if (opener) return void drawer.open(id);
    const checkbox = target instanceof HTMLInputElement;
    // A click on the label comes back as a click on its checkbox; marking text is no click on the row.
    if (!checkbox && (target.closest("label") || (!event.shiftKey && String(getSelection()).trim()))) return;
    toggle(id, event.shiftKey);
  });
  body.addEventListener("mousedown", (event) => {
    // Shift and click would mark text from the last click to here.
    if (event.shiftKey) event.preventDefault();
  });

  function showRows() {
    const order = state.rows.map((device) => {
      const row = rows.get(device) ?? deviceRow(device);
      rows.set(device, row);
      if (!row.isConnected) showAges(row);
      return row;
    });
    if (order.length !== body.children.length || order.some((row, index) => body.children[index] !== row)) {
      const restore = focusIn(body);
      body.replaceChildren(...order);
      restore();
    }
    for (const row of order) {
      const selected = state.selected.has(row.dataset.deviceId ?? "");
      row.setAttribute("aria-selected", String(selected));
      const checkbox = row.querySelector("input");
      if (checkbox) checkbox.checked = selected;
    }
    markOpen();
  }

  function markOpen() {
    for (const row of body.rows) row.classList.toggle("is-open", row.dataset.deviceId === drawer.deviceId);
  }

  function show() {
    const waiting = state.phase === "loading" && !state.loaded;
    body.setAttribute("aria-busy", String(state.phase === "loading"));
    table.dataset.sortColumn = state.sort.column;
    table.dataset.sortDirection = state.sort.direction;
    table.hidden = !waiting && state.rows.length === 0;
    if (waiting) body.replaceChildren(...Array.from({ length: SKELETON_ROWS }, skeletonRow));
    else showRows();
    showHead();
    showSummary();
    showMessages();
  }
  state.addEventListener("change", show);
  drawer.addEventListener("change", markOpen);
  drawer.addEventListener("close", markOpen);
  setInterval(() => showAges(body), CLOCK_INTERVAL);
  show();
}

/**
 * Rows that move, or are made anew, lose the focus that is in them.
 *
 * @param {HTMLElement} body
 * @returns {() => void} gives the focus back to the same control of the same device
 */
function focusIn(body) {
  const focused = document.activeElement;
  const id = body.contains(focused) ? focused?.closest("tr")?.dataset.deviceId : undefined;
  if (!focused || !id) return () => {};
  return () => {
    const again = body.querySelector(`tr[data-device-id="${CSS.escape(id)}"] ${focused.localName}`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  };
}

/** @param {PageState} state */
function tableHead(state) {
  const head = byId("devices-head", HTMLTableRowElement);
  const all = byId("select-all", HTMLInputElement);
  /** @type {Map<string, HTMLTableCellElement>} */
  const cells = new Map();
  for (const [column, label] of Object.entries(COLUMN_LABELS)) {
    const button = el("button", { type: "button", class: "sort-button", "data-column": column }, label);
    button.addEventListener("click", () => state.toggleSort(/** @type {Column} */ (column)));
    const cell = el("th", { scope: "col", class: `cell-${column}` }, button);
    cells.set(column, cell);
    head.append(cell);
  }
  all.addEventListener("change", () => {
    state.select(state.rows.map((row) => row.id), all.checked ? "replace" : "remove");
  });
  return () => {
    for (const [column, cell] of cells) {
      const sorted = column === state.sort.column;
      const symbol = icon(sorted ? (state.sort.direction === "ascending" ? "up" : "down") : "both");
      cell.querySelector(".icon")?.remove();
      cell.querySelector("button")?.append(symbol);
      if (sorted) cell.setAttribute("aria-sort", state.sort.direction);
      else cell.removeAttribute("aria-sort");
    }
    all.disabled = state.rows.length === 0;
    all.checked = state.rows.length > 0 && state.selected.size === state.rows.length;
    all.indeterminate = state.selected.size > 0 && !all.checked;
  };
}

/** @param {PageState} state */
function resultLine(state) {
  const count = byId("visible-count", HTMLElement);
  const selection = byId("selection", HTMLElement);
  const selected = byId("selection-count", HTMLElement);
  byId("selection-clear", HTMLButtonElement).addEventListener("click", () => {
    state.select([]);
    byId("select-all", HTMLInputElement).focus();
  });
  return () => {
    const total = state.devices.length;
    count.dataset.visible = String(state.rows.length);
    count.dataset.total = String(total);
    if (!state.loaded) count.textContent = state.phase === "failed" ? "" : "Loading…";
    else count.textContent = state.filtered ? `${state.rows.length} of ${plural(total)}` : `All ${plural(total)}`;
    selection.hidden = state.selected.size === 0;
    selection.dataset.selected = String(state.selected.size);
    selected.textContent = `${state.selected.size} selected`;
  };
}

/** @param {PageState} state @param {() => void} retry */
function messages(state, retry) {
  const notice = byId("notice", HTMLElement);
  const results = byId("results", HTMLElement);
  const empty = byId("empty", HTMLElement);
  return () => {
    const failed = state.phase === "failed";
    if (failed && notice.hidden) {
      const again = el("button", { type: "button", class: "button button--small" }, "Try again");
      again.addEventListener("click", retry);
      const known = state.loaded ? " What you see may be out of date." : "";
      notice.replaceChildren(el("p", {}, `The devices could not be loaded. ${state.failure}${known}`), again);
    }
    notice.hidden = !failed;
    results.hidden = failed && !state.loaded;
    const nothing = state.loaded && state.rows.length === 0;
    if (nothing && empty.hidden) {
      const reset = el("button", { type: "button", class: "button" }, "Show all devices");
      reset.addEventListener("click", () => {
        state.resetFilters();
        byId("filter-text", HTMLInputElement).focus();
      });
      empty.replaceChildren(
        el("h2", {}, "No device matches"),
        el("p", {}, "Try fewer words, another site, or every status."),
        reset,
      );
    }
    empty.hidden = !nothing;
  };
}

/** How long ago it was moves on by itself. @param {HTMLElement} within */
function showAges(within) {
  for (const time of within.querySelectorAll("time")) time.textContent = ago(time.dateTime);
}

/** @param {Device} device @returns {HTMLTableRowElement} */
function deviceRow(device) {
  const checkbox = el("input", { type: "checkbox", "aria-label": `Select ${device.name}` });
  const status = () => el("span", { class: "dot", "data-status": device.status });
  const seen = () => el("time", { datetime: device.lastSeen, title: absolute(device.lastSeen) }, ago(device.lastSeen));
  return el(
    "tr",
    { "data-device-id": device.id, "aria-selected": "false" },
    el("td", { class: "cell-check" }, el("label", { class: "check" }, checkbox)),
    el(
      "th",
      { scope: "row", class: "cell-name" },
      el("button", { type: "button", class: "link", "data-action": "details", "aria-haspopup": "dialog" }, device.name),
      el("span", { class: "cell-name__more" }, el("span", {}, device.siteName), seen()),
    ),
    el("td", { class: "cell-site" }, el("span", {}, device.siteName), " ", el("span", { class: "muted" }, device.site)),
    el("td", { class: "cell-status" }, el("span", { class: "status" }, status(), STATUS_LABELS[device.status])),
    el("td", { class: "cell-model" }, device.model),
    el("td", { class: "cell-firmware" }, device.firmware),
    el("td", { class: "cell-ip" }, device.ip),
    el("td", { class: "cell-lastSeen" }, seen()),
  );
}

/** @returns {HTMLTableRowElement} */
function skeletonRow() {
  const cells = Object.keys(COLUMN_LABELS).map((column) =>
    el("td", { class: `cell-${column}` }, el("span", { class: "skeleton" })),
  );
  return el("tr", { class: "is-skeleton" }, el("td", { class: "cell-check" }), ...cells);
}
