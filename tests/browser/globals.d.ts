import type { AgentSurface } from "../../static/surface.js";

declare global {
  /** What surface.js puts on every page it is loaded in. */
  var agentSurface: AgentSurface;
}
