/** @import { Column, Status } from "./types.js" */
/** @import { PageState } from "./state.js" */

import { byId, el, icon } from "./elements.js";
import { COLUMN_LABELS, STATUS_LABELS, STATUSES } from "./format.js";

/**
 * The filter bar: changes the filters as the person types and clicks, and shows them whoever changed them.
 *
 * @param {PageState} state
 */
export function showFilters(state) {
  const form = byId("filters", HTMLFormElement);
  const text = byId("filter-text", HTMLInputElement);
  const site = byId("filter-site", HTMLSelectElement);
  const reset = byId("filter-reset", HTMLButtonElement);
  const chips = statusChips(state);
  const showSort = sortControls(state);

  form.addEventListener("submit", (event) => event.preventDefault());
  reset.addEventListener("click", () => {
    state.resetFilters();
    text.focus();
  });
  text.addEventListener("input", () => state.setFilters({ text: text.value.trim() }));
  site.addEventListener("change", () => state.setFilters({ site: site.value || null }));

  function show() {
    if (site.options.length !== state.sites.length + 1) {
      const options = state.sites.map(({ code, name }) => el("option", { value: code }, `${name} (${code})`));
      site.replaceChildren(el("option", { value: "" }, "All sites"), ...options);
    }
    // What is being typed may end in a space that the state does not have.
    if (text.value.trim() !== state.filters.text) text.value = state.filters.text;
    site.value = state.filters.site ?? "";
    site.classList.toggle("is-set", state.filters.site !== null);
    chips();
    reset.hidden = !state.filtered;
    showSort();
  }
  state.addEventListener("change", show);
  show();
}

/**
 * One toggle for each status, and one for all of them.
 *
 * @param {PageState} state
 * @returns {() => void} shows the current filter
 */
function statusChips(state) {
  const list = byId("filter-status", HTMLElement);
  const counts = new Map();
  for (const status of /** @type {(Status | "")[]} */ (["", ...STATUSES])) {
    const count = el("span", { class: "chip__count" });
    const label = status ? STATUS_LABELS[status] : "All";
    const chip = el("button", { type: "button", class: "chip", "data-status": status || "all" });
    if (status) chip.append(el("span", { class: "dot", "data-status": status }));
    chip.append(label, " ", count);
    chip.addEventListener("click", () => {
      const others = state.filters.status.filter((chosen) => chosen !== status);
      const chosen = others.length === state.filters.status.length;
      state.setFilters({ status: status ? (chosen ? [...others, status] : others) : [] });
    });
    counts.set(status, { chip, count });
    list.append(chip);
  }
  return () => {
    const byStatus = state.statusCounts();
    const total = Object.values(byStatus).reduce((sum, value) => sum + value, 0);
    for (const [status, { chip, count }] of counts) {
      const pressed = status ? state.filters.status.includes(status) : state.filters.status.length === 0;
      chip.setAttribute("aria-pressed", String(pressed));
      count.textContent = state.loaded ? String(status ? byStatus[/** @type {Status} */ (status)] : total) : "";
    }
  };
}

/**
 * Sorting for narrow screens, where most column headers are hidden.
 *
 * @param {PageState} state
 * @returns {() => void} shows the current sorting
 */
function sortControls(state) {
  const column = byId("sort-column", HTMLSelectElement);
  const direction = byId("sort-direction", HTMLButtonElement);
  column.append(...Object.entries(COLUMN_LABELS).map(([value, label]) => el("option", { value }, label)));
  column.addEventListener("change", () => {
    state.setSort({ column: /** @type {Column} */ (column.value), direction: "ascending" });
  });
  direction.addEventListener("click", () => state.toggleSort(state.sort.column));
  return () => {
    const up = state.sort.direction === "ascending";
    column.value = state.sort.column;
    direction.replaceChildren(icon(up ? "up" : "down"));
    direction.setAttribute("aria-label", `Sorted ${state.sort.direction}; sort ${up ? "descending" : "ascending"}`);
  };
}
