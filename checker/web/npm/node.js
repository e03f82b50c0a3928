// The package for Node.js.
import { readFileSync } from "node:fs";
import { initSync } from "./glue.js";
initSync({ module: readFileSync(new URL("./nonfinite.wasm", import.meta.url)) });
export * from "./index.js";
