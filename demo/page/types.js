/**
 * The shapes the page's modules share. Types only: nothing here runs.
 *
 * @typedef {"online" | "degraded" | "offline" | "maintenance"} Status
 * @typedef {"name" | "site" | "status" | "model" | "firmware" | "ip" | "lastSeen"} Column
 * @typedef {"ascending" | "descending"} Direction
 * @typedef {"replace" | "add" | "remove"} SelectionMode
 *
 * @typedef {object} Device
 * @property {string} id
 * @property {string} name
 * @property {string} site site code, such as HAM-01
 * @property {string} siteName
 * @property {Status} status
 * @property {string} kind
 * @property {string} model
 * @property {string} firmware
 * @property {string} ip
 * @property {string} lastSeen ISO 8601
 *
 * @typedef {Device & {hostname: string, serial: string, note: string | null}} DeviceDetails
 *
 * @typedef {object} Site
 * @property {string} code
 * @property {string} name
 * @property {string} country
 * @property {number} devices
 *
 * @typedef {object} Reading
 * @property {string} at ISO 8601
 * @property {number} temperatureC
 * @property {number} loadPercent
 * @property {number} latencyMs
 *
 * @typedef {object} DeviceEvent
 * @property {string} at ISO 8601
 * @property {"status" | "firmware" | "service"} kind
 * @property {string} text
 *
 * @typedef {{devices: Device[], sites: Site[], generatedAt: string}} Fleet
 * @typedef {{device: DeviceDetails, readings: Reading[], events: DeviceEvent[]}} DeviceReport
 *
 * @typedef {object} Filters
 * @property {string} text searched in name, id, model and address
 * @property {string | null} site site code; null is every site
 * @property {Status[]} status empty is every status
 *
 * @typedef {{column: Column, direction: Direction}} Sort
 *
 * The part of the global `agentSurface` this page uses.
 * @typedef {object} Mounted
 * @property {() => void} changed
 * @property {() => void} unmount
 *
 * @typedef {object} MountOptions
 * @property {string} [instance]
 * @property {Element} [element]
 * @property {() => unknown} [state]
 * @property {Record<string, (input: any) => unknown>} [commands]
 * @property {Record<string, () => true | string>} [available]
 *
 * @typedef {object} AgentSurface
 * @property {(type: string, options: MountOptions) => Mounted} mount
 * @property {new (code: string, message: string, details?: object) => Error} Failure
 */

export {};
