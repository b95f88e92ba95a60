// Runs pyc.py inside Pyodide under Node, once for all archives: node compile.mjs JOB.json
// JOB.json: {pyodide: folder, rewriter: path of pyc.py, info: lock info,
//            archives: [{input, output, prefix, stripDocstrings, drop}]}
// Prints one line with the archive's output path as each is done.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

async function main() {
  const job = JSON.parse(await readFile(process.argv[2], "utf8"));
  const { loadPyodide } = await import(pathToFileURL(join(job.pyodide, "pyodide.mjs")).href);
  const pyodide = await loadPyodide({
    indexURL: job.pyodide,
    packageBaseUrl: job.pyodide,
    lockFileContents: { info: job.info, packages: {} },
    // A fixed seed keeps the order of frozen sets, and so the bytes, the same in every run.
    // Columns within a line only serve tracebacks that show the source, which a page does not have.
    env: { PYTHONHASHSEED: "0", PYTHONNODEBUGRANGES: "1" },
  });
  pyodide.runPython(await readFile(job.rewriter, "utf8"));
  const rewrite = pyodide.runPython(
    "lambda data, prefix, strip, drop: rewrite(data.to_bytes(), prefix, compiled=True, strip_docstrings=strip, drop=drop.to_py())",
  );
  for (const { input, output, prefix, stripDocstrings, drop } of job.archives) {
    const result = rewrite(new Uint8Array(await readFile(input)), prefix, stripDocstrings, drop);
    await writeFile(output, result.toJs());
    result.destroy();
    process.stdout.write(`${output}\n`);
  }
}

main().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`${error?.message ?? error}\n`);
    process.exit(1);
  },
);
