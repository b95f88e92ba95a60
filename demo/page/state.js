/** @import { Column, Device, Filters, SelectionMode, Site, Sort, Status } from "./types.js" */

import { STATUSES } from "./format.js";

/** @type {Readonly<Filters>} */
const NO_FILTERS = Object.freeze({ text: "", site: null, status: [] });

/**
 * What the page knows and shows. Every change goes through a method and ends in one `change` event; whoever shows
 * something listens and reads. The selection holds rows that the filters let through and no others, so that what is
 * selected can always be seen.
 */
export class PageState extends EventTarget {
  /** @type {"loading" | "ready" | "failed"} */
  phase = "loading";
  /** Why loading failed. */
  failure = "";
  /** When the devices were fetched. @type {Date | null} */
  loadedAt = null;
  /** @type {Device[]} */
  devices = [];
  /** @type {Site[]} */
  sites = [];
  /** @type {Filters} */
  filters = { ...NO_FILTERS };
  /** @type {Sort} */
  sort = { column: "name", direction: "ascending" };
  /** @type {Set<string>} */
  selected = new Set();
  /** The rows to show: filtered and sorted. @type {Device[]} */
  rows = [];

  /** Show that devices are being fetched; rows that are there stay. */
  startLoading() {
    this.phase = "loading";
    this.#changed();
  }

  /** @param {Device[]} devices @param {Site[]} sites */
  load(devices, sites) {
    Object.assign(this, { phase: "ready", failure: "", loadedAt: new Date(), devices, sites });
    this.#derive();
  }

  /** @param {string} message */
  fail(message) {
    Object.assign(this, { phase: "failed", failure: message });
    this.#changed();
  }

  get loaded() {
    return this.devices.length > 0;
  }

  get filtered() {
    const { text, site, status } = this.filters;
    return text !== "" || site !== null || status.length > 0;
  }

  /** Selected ids in the order of the rows. */
  get selectedIds() {
    return this.rows.filter((row) => this.selected.has(row.id)).map((row) => row.id);
  }

  /** @param {Partial<Filters>} filters what is left out stays as it is */
  setFilters(filters) {
    this.filters = { ...this.filters, ...filters };
    this.#derive();
  }

  resetFilters() {
    this.setFilters(NO_FILTERS);
  }

  /** @param {Sort} sort */
  setSort(sort) {
    this.sort = { ...sort };
    this.#derive();
  }

  /** @param {Column} column sorted the other way if it is the sorted one */
  toggleSort(column) {
    const turned = this.sort.column === column && this.sort.direction === "ascending";
    this.setSort({ column, direction: turned ? "descending" : "ascending" });
  }

  /** @param {Iterable<string>} ids those without a row are left out @param {SelectionMode} [mode] */
  select(ids, mode = "replace") {
    const shown = new Set(this.rows.map((row) => row.id));
    const next = new Set(mode === "replace" ? [] : this.selected);
    for (const id of ids) {
      if (mode === "remove") next.delete(id);
      else if (shown.has(id)) next.add(id);
    }
    this.selected = next;
    this.#changed();
  }

  /** How many devices pass the other filters, for each status. @returns {Record<Status, number>} */
  statusCounts() {
    const counts = { offline: 0, degraded: 0, maintenance: 0, online: 0 };
    const accepts = matcher({ ...this.filters, status: [] });
    for (const device of this.devices) {
      if (accepts(device)) counts[device.status] += 1;
    }
    return counts;
  }

  #derive() {
    this.rows = this.devices.filter(matcher(this.filters)).sort(comparer(this.sort));
    const shown = new Set(this.rows.map((row) => row.id));
    this.selected = new Set([...this.selected].filter((id) => shown.has(id)));
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Every word of the text must occur somewhere in what identifies a device.
 *
 * @param {Filters} filters
 * @returns {(device: Device) => boolean}
 */
export function matcher({ text, site, status }) {
  const words = fold(text).split(/\s+/).filter(Boolean);
  return (device) => {
    if (site !== null && device.site !== site) return false;
    if (status.length > 0 && !status.includes(device.status)) return false;
    if (words.length === 0) return true;
    const haystack = fold(`${device.name} ${device.id} ${device.siteName} ${device.site} ${device.model} ${device.ip}`);
    return words.every((word) => haystack.includes(word));
  };
}

/** Case and accents do not count when one searches. @param {string} text */
function fold(text) {
  return text.normalize("NFD").replace(/\p{Mark}/gu, "").toLowerCase();
}

const TEXT = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** @type {Record<Column, (a: Device, b: Device) => number>} */
const BY_COLUMN = {
  name: (a, b) => TEXT.compare(a.name, b.name),
  site: (a, b) => TEXT.compare(a.siteName, b.siteName),
  status: (a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status),
  model: (a, b) => TEXT.compare(a.model, b.model),
  firmware: (a, b) => TEXT.compare(a.firmware, b.firmware),
  ip: (a, b) => TEXT.compare(a.ip, b.ip),
  lastSeen: (a, b) => Date.parse(a.lastSeen) - Date.parse(b.lastSeen),
};

/**
 * Equal rows keep a fixed order, by name and id, whichever way the column is sorted.
 *
 * @param {Sort} sort
 * @returns {(a: Device, b: Device) => number}
 */
export function comparer({ column, direction }) {
  const sign = direction === "ascending" ? 1 : -1;
  return (a, b) => sign * BY_COLUMN[column](a, b) || TEXT.compare(a.name, b.name) || TEXT.compare(a.id, b.id);
}
