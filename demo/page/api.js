/** @import { DeviceReport, Fleet } from "./types.js" */

/** What the server, or the way to it, said instead of an answer. */
export class ApiFailure extends Error {
  /**
   * @param {string} code the server's code, or NETWORK where nothing answered
   * @param {string} message text for the person
   */
  constructor(code, message) {
    super(message);
    this.name = "ApiFailure";
    this.code = code;
  }
}

/** @returns {Promise<Fleet>} every device and site */
export function fetchFleet() {
  return get("/api/devices");
}

/**
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<DeviceReport>} one device with its readings and events
 */
export function fetchDevice(id, signal) {
  return get(`/api/devices/${encodeURIComponent(id)}`, signal);
}

/**
 * @param {string} url
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
async function get(url, signal) {
  let response;
  try {
    response = await fetch(url, { headers: { Accept: "application/json" }, signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiFailure("NETWORK", "The server cannot be reached.");
  }
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  const { code = "BAD_ANSWER", message = `The server answered with status ${response.status}.` } = body?.error ?? {};
  throw new ApiFailure(code, message);
}
