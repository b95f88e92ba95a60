// Bare Pyodide with pydantic, as its documentation starts it, up to the first call that Python serves.
const base = new URL("/stock/", location.href).href;
const { loadPyodide } = await import(`${base}pyodide.mjs`);
const python = await loadPyodide({ indexURL: base, packageBaseUrl: base, packages: ["pydantic"] });
const serve = python.runPython(`
from pydantic import BaseModel, ConfigDict

class Input(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str

def serve(text):
    return Input.model_validate_json(text, strict=True).text

serve
`);
if (serve('{"text": "x"}') !== "x") throw new Error("the first call failed");
globalThis.servedAt = performance.now();
