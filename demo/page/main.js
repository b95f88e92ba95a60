/** The devices page: its state, the parts that show it, and the capabilities it lends to an agent. */

import { watchAgent } from "./agent.js";
import { fetchFleet } from "./api.js";
import { mountCapabilities } from "./capabilities.js";
import { Drawer } from "./drawer.js";
import { byId } from "./elements.js";
import { showFilters } from "./filters.js";
import { clock, plural } from "./format.js";
import { PageState } from "./state.js";
import { showTable } from "./table.js";

const state = new PageState();
const drawer = new Drawer(byId("drawer", HTMLElement), byId("main", HTMLElement));
const refresh = byId("refresh", HTMLButtonElement);
const summary = byId("fleet-summary", HTMLElement);

async function load() {
  if (refresh.disabled) return;
  refresh.disabled = true;
  state.startLoading();
  try {
    const fleet = await fetchFleet();
    state.load(fleet.devices, fleet.sites);
    await drawer.refresh();
  } catch (error) {
    state.fail(error instanceof Error ? error.message : String(error));
  } finally {
    refresh.disabled = false;
  }
}

state.addEventListener("change", () => {
  if (state.loadedAt) {
    const fleet = `${plural(state.devices.length)} at ${plural(state.sites.length, "site")}`;
    summary.textContent = `${fleet} · updated ${clock(state.loadedAt)}`;
  } else if (state.phase === "failed") {
    summary.textContent = "The fleet could not be loaded.";
  }
});
refresh.addEventListener("click", load);

showFilters(state);
showTable(state, drawer, load);
const activity = watchAgent();
// Started before anything of the agent's, so that no fault there keeps the devices from a person.
const loading = load();
mountCapabilities({ state, drawer, activity });
await loading;
