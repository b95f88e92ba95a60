/** @import { AgentSurface, Column, Direction, Filters, Mounted, SelectionMode } from "./types.js" */
/** @import { Activity } from "./agent.js" */
/** @import { Drawer } from "./drawer.js" */
/** @import { PageState } from "./state.js" */

import { byId } from "./elements.js";
import { COLUMN_LABELS, plural, STATUS_LABELS } from "./format.js";

/** An observation's answer is limited in size; more rows than these are reached by filtering. */
const ROWS_FOR_AGENTS = 50;

/**
 * Lend the page to the agent surface: what it shows as state, what a person can do as commands. The contracts behind
 * these (names, schemas, descriptions) are Python, in app.py. Without an agent surface nothing happens.
 *
 * @param {{state: PageState, drawer: Drawer, activity: Activity}} page
 */
export function mountCapabilities(page) {
  const surface = /** @type {{agentSurface?: AgentSurface}} */ (globalThis).agentSurface;
  if (!surface) return;
  const mounted = [mountTable(surface, page), mountFilters(surface, page)];
  page.state.addEventListener("change", () => mounted.forEach((component) => component.changed()));
  /** @type {Mounted | null} */
  let open = null;
  page.drawer.addEventListener("open", () => {
    open?.unmount();
    open = mountDrawer(surface, page);
  });
  page.drawer.addEventListener("change", () => open?.changed());
  page.drawer.addEventListener("close", () => {
    open?.unmount();
    open = null;
  });
}

/** @param {AgentSurface} surface @param {{state: PageState, activity: Activity}} page */
function mountTable(surface, { state, activity }) {
  const loaded = () => state.loaded || "The devices are still loading";
  return surface.mount("devices.table", {
    instance: "main",
    element: byId("devices-table", HTMLElement),
    state() {
      activity.read("Read the table");
      return tableState(state);
    },
    available: { readState: loaded, selectRows: loaded, setSort: loaded },
    commands: {
      /** @param {{ids: string[], mode: SelectionMode}} input */
      selectRows({ ids, mode }) {
        refuseUnseen(surface, state, ids);
        state.select(ids, mode);
        activity.record(`${plural(state.selected.size)} selected`);
        return { selectedIds: state.selectedIds };
      },
      /** @param {{column: Column, direction: Direction}} input */
      setSort({ column, direction }) {
        state.setSort({ column, direction });
        activity.record(`Sorted by ${COLUMN_LABELS[column].toLowerCase()}, ${direction}`);
      },
    },
  });
}

/** @param {PageState} state */
function tableState(state) {
  const shown = state.rows.slice(0, ROWS_FOR_AGENTS);
  return {
    visibleRows: shown.map(({ id, name, site, status, model, firmware, ip, lastSeen }) => {
      return { id, name, site, status, model, firmware, ip, lastSeen };
    }),
    visibleCount: state.rows.length,
    totalCount: state.devices.length,
    selectedIds: state.selectedIds,
    sort: state.sort,
  };
}

/**
 * A person can only select rows that are shown, and so can an agent.
 *
 * @param {AgentSurface} surface
 * @param {PageState} state
 * @param {string[]} ids
 */
function refuseUnseen(surface, state, ids) {
  const shown = new Set(state.rows.map((row) => row.id));
  const known = new Set(state.devices.map((device) => device.id));
  const unknownIds = ids.filter((id) => !known.has(id));
  const hiddenIds = ids.filter((id) => known.has(id) && !shown.has(id));
  if (unknownIds.length === 0 && hiddenIds.length === 0) return;
  const unknown = unknownIds.length > 0 ? `No device has the id ${list(unknownIds)}. ` : "";
  const hidden = hiddenIds.length > 0 ? `The filters hide ${list(hiddenIds)}. ` : "";
  const message = `${unknown}${hidden}The selection was not changed.`;
  throw new surface.Failure("PRECONDITION_FAILED", message, { unknownIds, hiddenIds });
}

/** @param {string[]} ids */
function list(ids) {
  const shown = ids.slice(0, 5).map((id) => JSON.stringify(id.slice(0, 20)));
  return ids.length > shown.length ? `${shown.join(", ")} and ${ids.length - shown.length} more` : shown.join(", ");
}

/** @param {AgentSurface} surface @param {{state: PageState, activity: Activity}} page */
function mountFilters(surface, { state, activity }) {
  const loaded = () => state.loaded || "The devices are still loading";
  return surface.mount("devices.filters", {
    instance: "main",
    element: byId("filters", HTMLElement),
    state() {
      activity.read("Read the filters");
      return {
        filters: state.filters,
        matchingCount: state.rows.length,
        totalCount: state.devices.length,
        sites: state.sites.map(({ code, name, devices }) => ({ code, name, devices })),
      };
    },
    available: { readFilters: loaded, setFilters: loaded, reset: loaded },
    commands: {
      /** @param {Partial<Filters>} input */
      setFilters(input) {
        const { site } = input;
        const codes = state.sites.map(({ code }) => code);
        if (site && !codes.includes(site)) {
          throw new surface.Failure("PRECONDITION_FAILED", `There is no site ${site}.`, { knownSites: codes });
        }
        state.setFilters(input);
        activity.record(`Showing ${filterText(state)}: ${plural(state.rows.length)}`);
        return { matchingCount: state.rows.length, filters: state.filters };
      },
      reset() {
        state.resetFilters();
        activity.record("Filters reset");
        return { matchingCount: state.rows.length, filters: state.filters };
      },
    },
  });
}

/** @param {PageState} state */
function filterText({ filters, sites }) {
  const site = sites.find(({ code }) => code === filters.site);
  const parts = [
    filters.text && `“${filters.text}”`,
    site?.name,
    filters.status.map((status) => STATUS_LABELS[status].toLowerCase()).join(" or "),
  ];
  return parts.filter(Boolean).join(", ") || "everything";
}

/** @param {AgentSurface} surface @param {{drawer: Drawer, activity: Activity}} page */
function mountDrawer(surface, { drawer, activity }) {
  return surface.mount("devices.drawer", {
    instance: "main",
    element: byId("drawer", HTMLElement),
    state() {
      activity.read(`Read the details of ${drawer.report?.device.name}`);
      return drawer.report;
    },
    available: { read: () => drawer.report !== null || drawer.failure || "The details are still loading" },
    commands: {
      close() {
        const name = drawer.report?.device.name;
        drawer.close();
        activity.record(name ? `Details of ${name} closed` : "Details closed");
      },
    },
  });
}
