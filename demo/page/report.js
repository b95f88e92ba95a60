/** @import { DeviceReport, Reading } from "./types.js" */

import { el } from "./elements.js";
import { absolute, ago, STATUS_LABELS } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
const CHART = { width: 320, height: 56, pad: 4 };

/** @type {readonly {key: "temperatureC" | "loadPercent" | "latencyMs", label: string, unit: string}[]} */
const SERIES = [
  { key: "temperatureC", label: "Temperature", unit: "°C" },
  { key: "loadPercent", label: "Load", unit: "%" },
  { key: "latencyMs", label: "Latency", unit: "ms" },
];

/**
 * What the drawer says about a device.
 *
 * @param {DeviceReport} report
 * @returns {HTMLElement[]}
 */
export function reportContent({ device, readings, events }) {
  const facts = [
    ["Site", `${device.siteName} (${device.site})`],
    ["Model", `${device.model}, ${device.kind}`],
    ["Firmware", device.firmware],
    ["Address", device.ip],
    ["Host name", device.hostname],
    ["Serial", device.serial],
    ["Device id", device.id],
  ];
  /** @type {HTMLElement[]} */
  const content = [
    el(
      "p",
      { class: "drawer__status" },
      el("span", { class: "status" }, el("span", { class: "dot", "data-status": device.status }), STATUS_LABELS[device.status]),
      el("span", { class: "muted" }, "Last seen ", moment(device.lastSeen)),
    ),
    el("dl", { class: "facts" }, ...facts.flatMap(([term, fact]) => [el("dt", {}, term), el("dd", {}, fact)])),
  ];
  if (device.note) content.push(section("Note", el("p", { class: "note" }, device.note)));
  if (readings.length > 0) {
    content.push(section("Last 24 readings", ...SERIES.map((series) => chart(series, readings))));
  }
  const history = events.map(({ at, kind, text }) =>
    el("li", { "data-kind": kind }, el("span", {}, text), el("span", { class: "muted" }, moment(at))),
  );
  content.push(section("History", el("ol", { class: "history" }, ...history)));
  return content;
}

/** @param {string} title @param {...HTMLElement} children */
function section(title, ...children) {
  return el("section", { class: "drawer__section" }, el("h3", {}, title), ...children);
}

/** @param {string} iso */
function moment(iso) {
  return el("time", { datetime: iso, title: absolute(iso) }, ago(iso));
}

/**
 * One measured value over time. The line is drawn for the eye; the numbers beside it say the same in text.
 *
 * @param {typeof SERIES[number]} series
 * @param {Reading[]} readings newest first
 */
function chart({ key, label, unit }, readings) {
  const values = readings.map((reading) => reading[key]).reverse();
  const low = Math.min(...values);
  const high = Math.max(...values);
  const { width, height, pad } = CHART;
  const points = values.map((value, index) => {
    const x = values.length === 1 ? width / 2 : pad + (index * (width - 2 * pad)) / (values.length - 1);
    const y = height - pad - ((value - low) / (high - low || 1)) * (height - 2 * pad);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("class", "chart__plot");
  svg.setAttribute("aria-hidden", "true");
  svg.append(shape("polygon", `${pad},${height} ${points.join(" ")} ${width - pad},${height}`, "chart__area"));
  svg.append(shape("polyline", points.join(" "), "chart__line"));
  return el(
    "figure",
    { class: "chart" },
    el(
      "figcaption",
      {},
      el("span", {}, label),
      el("strong", {}, `${values[values.length - 1]} ${unit}`),
      el("span", { class: "muted" }, `${low} to ${high}`),
    ),
    svg,
  );
}

/** @param {"polygon" | "polyline"} tag @param {string} points @param {string} name */
function shape(tag, points, name) {
  const element = document.createElementNS(SVG, tag);
  element.setAttribute("points", points);
  element.setAttribute("class", name);
  return element;
}
