/** @import { DeviceReport } from "./types.js" */

import { fetchDevice } from "./api.js";
import { byId, el, icon } from "./elements.js";
import { reportContent } from "./report.js";

const NARROW = matchMedia("(max-width: 760px)");

/**
 * The panel with one device's details. Beside the table it leaves the page usable; on a narrow screen it covers the
 * page, which is inert meanwhile. Fires `open`, `change` (other device, loaded, failed) and `close`.
 */
export class Drawer extends EventTarget {
  #panel;
  #page;
  /** @type {AbortController | null} */
  #loading = null;
  /** The device shown, or null while closed. @type {string | null} */
  deviceId = null;
  /** @type {DeviceReport | null} */
  report = null;
  /** Why the details are not there. */
  failure = "";

  /**
   * @param {HTMLElement} panel
   * @param {HTMLElement} page what lies beside, and on narrow screens behind, the panel
   */
  constructor(panel, page) {
    super();
    this.#panel = panel;
    this.#page = page;
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.isOpen || event.defaultPrevented) return;
      // Escape belongs to what lies on top: an open popover, or a search field that has text to clear.
      const target = event.target;
      if (document.querySelector(":popover-open")) return;
      if (target instanceof HTMLInputElement && target.type === "search" && target.value) return;
      this.close();
    });
    NARROW.addEventListener("change", () => this.#setInert());
  }

  get isOpen() {
    return this.deviceId !== null;
  }

  /**
   * Show a device, and move the focus here.
   *
   * @param {string} deviceId
   */
  async open(deviceId) {
    const first = !this.isOpen;
    Object.assign(this, { deviceId, report: null });
    this.#panel.dataset.deviceId = deviceId;
    this.#panel.hidden = false;
    this.#setInert();
    const loaded = this.#load(deviceId);
    if (first) this.dispatchEvent(new Event("open"));
    this.#panel.querySelector("h2")?.focus({ preventScroll: true });
    await loaded;
  }

  /** Fetch the open device again; what is shown stays until the answer is there. */
  async refresh() {
    if (this.deviceId) await this.#load(this.deviceId);
  }

  /** Close; a focus that was in here goes back to the device's row, or to the table if the row has gone. */
  close() {
    if (!this.isOpen) return;
    const row = this.#page.querySelector(`tr[data-device-id="${CSS.escape(this.deviceId ?? "")}"] button`);
    const within = this.#panel.contains(document.activeElement);
    this.#loading?.abort();
    Object.assign(this, { deviceId: null, report: null, failure: "" });
    delete this.#panel.dataset.deviceId;
    this.#panel.hidden = true;
    this.#panel.replaceChildren();
    this.#setInert();
    if (within) (row instanceof HTMLElement ? row : byId("devices", HTMLElement)).focus();
    this.dispatchEvent(new Event("close"));
  }

  /** @param {string} deviceId */
  async #load(deviceId) {
    this.#loading?.abort();
    const loading = (this.#loading = new AbortController());
    this.failure = "";
    if (!this.report) this.#show();
    try {
      const report = await fetchDevice(deviceId, loading.signal);
      if (loading.signal.aborted) return;
      this.report = report;
    } catch (error) {
      if (loading.signal.aborted) return;
      Object.assign(this, { report: null, failure: error instanceof Error ? error.message : String(error) });
    }
    this.#show();
  }

  #show() {
    const focused = this.#panel.contains(document.activeElement);
    const title = this.report?.device.name ?? (this.failure ? "No details" : "Loading…");
    const close = el("button", { type: "button", class: "button button--square button--quiet", "aria-label": "Close details" });
    close.dataset.testid = "drawer-close";
    close.append(icon("close"));
    close.addEventListener("click", () => this.close());
    const heading = el("h2", { id: "drawer-title", class: "drawer__title", tabindex: "-1" }, title);
    const head = el("div", { class: "drawer__head" }, heading, close);
    const busy = !this.report && !this.failure;
    // Scrolls, so it must be reachable by keyboard.
    const body = el("div", { class: "drawer__body", tabindex: "0", role: "group", "aria-label": "Details" });
    body.setAttribute("aria-busy", String(busy));
    if (this.report) body.append(...reportContent(this.report));
    else if (this.failure) body.append(this.#failureContent());
    else body.append(...Array.from({ length: 5 }, () => el("span", { class: "skeleton skeleton--line" })));
    this.#panel.replaceChildren(head, body);
    if (focused) heading.focus({ preventScroll: true });
    this.dispatchEvent(new Event("change"));
  }

  #failureContent() {
    const again = el("button", { type: "button", class: "button" }, "Try again");
    again.addEventListener("click", () => this.refresh());
    return el("div", { class: "drawer__failure", role: "alert" }, el("p", {}, this.failure), again);
  }

  #setInert() {
    this.#page.inert = this.isOpen && NARROW.matches;
    document.documentElement.classList.toggle("has-drawer", this.isOpen);
  }
}
