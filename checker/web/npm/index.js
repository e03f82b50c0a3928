// The .wasm of nonfinite: in Node.js, in bundlers that know `new URL(.., import.meta.url)`, and in
// browsers.
import * as wasm from "./glue.js";

const url = new URL("nonfinite.wasm", import.meta.url);
const isFile = url.protocol === "file:";
const bytes = isFile
  ? await (await import("node:fs/promises")).readFile(url)
  : await (await fetch(url)).arrayBuffer();
wasm.initSync({ module: bytes });

const FORMATS = { Float32Array: "f32", Float64Array: "f64", Float16Array: "f16" };
// The types of the tensors of onnxruntime.
const TYPES = { float32: "f32", float64: "f64", float16: "f16" };

function parts(input, format) {
  const isTensor = !ArrayBuffer.isView(input) && ArrayBuffer.isView(input?.data);
  const array = isTensor ? input.data : input;
  if (!ArrayBuffer.isView(array)) throw new TypeError("neither a typed array nor a tensor");
  const known = isTensor ? TYPES[input.type] : FORMATS[array.constructor.name];
  const name = format ?? known;
  if (!name) {
    const type = isTensor ? input.type : array.constructor.name;
    throw new TypeError(`${type}: name the format of its elements, such as "bf16"`);
  }
  return [new Uint8Array(array.buffer, array.byteOffset, array.byteLength), name];
}

export const allFinite = (input, format) => wasm.allFinite(...parts(input, format));
export const position = (input, predicate = "non-finite", format = undefined) =>
  wasm.position(...parts(input, format), predicate);
export const count = (input, predicate = "non-finite", format = undefined) =>
  wasm.count(...parts(input, format), predicate);
export const census = (input, format) => wasm.census(...parts(input, format));

export async function check(blob, name = blob.name ?? "file") {
  let read;
  if (typeof FileReaderSync === "function") {
    const reader = new FileReaderSync();
    read = (at, length) =>
      new Uint8Array(reader.readAsArrayBuffer(blob.slice(at, at + length)));
  } else {
    const whole = new Uint8Array(await blob.arrayBuffer());
    read = (at, length) => whole.subarray(at, at + length);
  }
  wasm.begin(false);
  try {
    wasm.addFile(name, blob.size, read);
    wasm.check(name);
    wasm.end();
    return JSON.parse(wasm.json()).files[0];
  } finally {
    wasm.begin(false);
  }
}
