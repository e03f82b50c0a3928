// The package for browsers. For Node.js, node.js starts it.
import * as wasm from "./glue.js";

export const init = async (source = new URL("./nonfinite.wasm", import.meta.url)) =>
  void await wasm.default({ module_or_path: source });

const FORMATS = { Float16Array: "f16", Float32Array: "f32", Float64Array: "f64" };
const types = Object.create(null), sizes = [], formats = new Map(), predicates = new Map();

function started() {
  try {
    return wasm.partBuffer();
  } catch {
    throw new Error("nonfinite has not started: `await init()` comes first");
  }
}

// An array of this type on the buffer of the .wasm, and the number of the type's own format. When
// the memory of the .wasm grows, arrays on the memory lose their elements.
function typeOf(name, input) {
  if (types[name]?.buffer.length) return types[name];
  const { buffer, byteOffset, length } = started(), Type = globalThis[name];
  if (!Type?.BYTES_PER_ELEMENT) {
    const what = Object.prototype.toString.call(input);
    throw new TypeError(`input: ${what} is neither a typed array nor a tensor`);
  }
  const part = new Type(buffer, byteOffset, length / Type.BYTES_PER_ELEMENT);
  return types[name] = { buffer: part, own: FORMATS[name] && formatOf(FORMATS[name]) };
}

// The number that the .wasm knows a name by. Calls with texts are slow.
function numberOf(name, what, numbers, find) {
  let number = numbers.get(name);
  if (number === undefined) {
    number = typeof name === "string" ? find(name) : undefined;
    if (number === undefined) throw new TypeError(`${what}: ${String(name)} is not known`);
    numbers.set(name, number);
  }
  return number;
}
const formatOf = (name) => numberOf(name, "format", formats, wasm.formatOf);

// Copies the input in parts into the buffer. Adds counts, or returns the first index.
function ask(question, input, predicate = "non-finite", format = undefined) {
  const array = ArrayBuffer.isView(input) ? input : input?.data;
  const type = array?.[Symbol.toStringTag], { buffer, own } = typeOf(type, input);
  // The data of such a tensor may be a Uint16Array.
  const name = format ?? (own === undefined && input.type === "float16" ? "f16" : undefined);
  const number = name === undefined ? own : formatOf(name), bytes = array.byteLength;
  if (number === undefined) throw new TypeError(`${input.type ?? type}: name the format`);
  if (own !== undefined && own !== number) throw new TypeError(`format: a ${type} is not ${name}`);
  const size = sizes[number] ??= wasm.sizeOf(number);
  if (bytes % size) throw new TypeError(`input: ${bytes} bytes are no whole ${name ?? type}`);
  const which = numberOf(predicate, "predicate", predicates, wasm.predicateOf);
  let sum = 0;
  for (let at = 0; at < array.length; at += buffer.length) {
    const part = array.length <= buffer.length ? array : array.subarray(at, at + buffer.length);
    buffer.set(part);
    const answer = question(part.byteLength, number, which);
    if (question === wasm.count) sum += answer;
    else if (answer >= 0) return at * array.BYTES_PER_ELEMENT / size + answer;
  }
  return question === wasm.count ? sum : -1;
}

export const position = (input, predicate, format) => ask(wasm.position, input, predicate, format);
export const count = (input, predicate, format) => ask(wasm.count, input, predicate, format);
export const allFinite = (input, format) => position(input, "non-finite", format) < 0;
export function census(input, format) {
  const isClean = allFinite(input, format);
  const [nan, posInf, negInf] = ["nan", "+inf", "-inf"].map((kind) => {
    const found = isClean ? 0 : count(input, kind, format);
    return { count: found, first: found ? position(input, kind, format) : -1 };
  });
  return { nan, posInf, negInf };
}

export async function check(blob, name = blob?.name ?? "file") {
  if (!(blob instanceof Blob)) throw new TypeError("blob: not a Blob");
  const reader = typeof FileReaderSync === "function" ? new FileReaderSync() : null;
  const whole = reader ? null : new Uint8Array(await blob.arrayBuffer());
  const read = (at, length) => reader
    ? new Uint8Array(reader.readAsArrayBuffer(blob.slice(at, at + length)))
    : whole.subarray(at, at + length);
  started();
  wasm.begin(false);
  const file = `${name}`.split(/[\\/]/).pop();
  try {
    wasm.addFile(file, blob.size, read);
    wasm.merge(file, new Uint8Array(), []);
    wasm.end();
    return { ...JSON.parse(wasm.json()).files[0], path: `${name}` };
  } finally {
    wasm.begin(false);
  }
}
