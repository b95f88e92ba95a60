/** @import { Column, Status } from "./types.js" */

/** Every status, most urgent first: also the order in which the status column sorts. @type {readonly Status[]} */
export const STATUSES = ["offline", "degraded", "maintenance", "online"];

/** @type {Record<Status, string>} */
export const STATUS_LABELS = {
  online: "Online",
  degraded: "Degraded",
  offline: "Offline",
  maintenance: "Maintenance",
};

/** The columns in the order of the table. @type {Record<Column, string>} */
export const COLUMN_LABELS = {
  name: "Name",
  site: "Site",
  status: "Status",
  model: "Model",
  firmware: "Firmware",
  ip: "IP address",
  lastSeen: "Last seen",
};

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const ABSOLUTE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/**
 * @param {string} iso
 * @returns {string} such as “3 min ago”; below a minute “just now”
 */
export function ago(iso) {
  const seconds = (Date.now() - Date.parse(iso)) / 1000;
  if (seconds < MINUTE) return "just now";
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`;
  return `${plural(Math.floor(seconds / DAY), "day")} ago`;
}

/** @param {string} iso @returns {string} date and time in the person's own time zone */
export function absolute(iso) {
  return ABSOLUTE.format(new Date(iso));
}

/** @param {Date} date @returns {string} time of day with seconds */
export function clock(date) {
  return CLOCK.format(date);
}

/** @param {number} count @param {string} [noun] @returns {string} such as “1 device” or “3 devices” */
export function plural(count, noun = "device") {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
