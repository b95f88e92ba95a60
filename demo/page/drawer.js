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
  /** @type {HTMLElement | null} */
  #opener = null;
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
    NARROW.addEventListener("change", () => this.#setModal());
  }

  get isOpen() {
    return this.deviceId !== null;
  }

  /**
   * @param {string} deviceId
   * @param {HTMLElement} [opener] gets the focus back when the drawer closes
   */
  async open(deviceId, opener) {
    const first = !this.isOpen;
    this.#opener = opener ?? null;
    this.deviceId = deviceId;
    this.#panel.dataset.deviceId = deviceId;
    this.#markRow();
    this.#panel.hidden = false;
    this.#setModal();
    const loaded = this.#load(deviceId);
    if (first) this.dispatchEvent(new Event("open"));
    this.#panel.querySelector("h2")?.focus({ preventScroll: true });
    await loaded;
  }

  close() {
    if (!this.isOpen) return;
    const within = this.#panel.contains(document.activeElement);
    this.#loading?.abort();
    Object.assign(this, { deviceId: null, report: null, failure: "" });
    delete this.#panel.dataset.deviceId;
    this.#panel.hidden = true;
    this.#panel.replaceChildren();
    this.#setModal();
    this.#markRow();
    if (within) (this.#opener?.isConnected ? this.#opener : byId("devices", HTMLElement)).focus();
    this.#opener = null;
    this.dispatchEvent(new Event("close"));
  }

  /** @param {string} deviceId */
  async #load(deviceId) {
    this.#loading?.abort();
    const loading = (this.#loading = new AbortController());
    Object.assign(this, { report: null, failure: "" });
    this.#show();
    try {
      const report = await fetchDevice(deviceId, loading.signal);
      if (loading.signal.aborted) return;
      this.report = report;
    } catch (error) {
      if (loading.signal.aborted) return;
      this.failure = error instanceof Error ? error.message : String(error);
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
    const body = el("div", { class: "drawer__body", "aria-busy": String(!this.report && !this.failure) });
    if (this.report) body.append(...reportContent(this.report));
    else if (this.failure) body.append(this.#failureContent());
    else body.append(...Array.from({ length: 5 }, () => el("span", { class: "skeleton skeleton--line" })));
    this.#panel.replaceChildren(head, body);
    if (focused) heading.focus({ preventScroll: true });
    this.dispatchEvent(new Event("change"));
  }

  #failureContent() {
    const again = el("button", { type: "button", class: "button" }, "Try again");
    again.addEventListener("click", () => this.deviceId && this.#load(this.deviceId));
    return el("div", { class: "drawer__failure", role: "alert" }, el("p", {}, this.failure), again);
  }

  #setModal() {
    const modal = this.isOpen && NARROW.matches;
    this.#page.inert = modal;
    this.#panel.setAttribute("aria-modal", String(modal));
    document.documentElement.classList.toggle("has-drawer", this.isOpen);
  }

  #markRow() {
    for (const row of this.#page.querySelectorAll("tr.is-open")) row.classList.remove("is-open");
    if (this.deviceId) this.#page.querySelector(`tr[data-device-id="${CSS.escape(this.deviceId)}"]`)?.classList.add("is-open");
  }
}
