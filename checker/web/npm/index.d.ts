/** A typed array of floating-point numbers, or of their bits with the format named. */
export type Elements = Exclude<ArrayBufferView, DataView>;

/** A tensor of onnxruntime-web or onnxruntime-node. */
export type Tensor = { readonly type: string; readonly data: unknown };

/** The format of elements: "f16", "bf16", "f32", "f64", "f8e4m3fn" and others of the crate. It is
 * known for Float16Array, Float32Array, Float64Array and tensors of these types. */
export type Format = string;

/** What is asked of an element. */
export type Predicate =
  "nan" | "inf" | "+inf" | "-inf" | "finite" | "non-finite" | "nan or +inf";

/** How many there are, and the index of the first, or -1. */
export type Occurrences = { count: number; first: number };

export type Census = Record<"nan" | "posInf" | "negInf", Occurrences>;

/** The report of a file: an element of `files` in the output of `nonfinite check --json`. */
export interface Report {
  path: string;
  format: string | null;
  /** Whether a tensor is bad. */
  bad: boolean;
  /** Whether everything was looked at. */
  complete: boolean;
  /** Why the file could not be checked. */
  error: string | null;
  tensors: Array<{
    name: string | null; dtype: string; shape: number[]; bad: string[]; [field: string]: unknown }>;
  [field: string]: unknown;
}

/** Starts the .wasm, before all else; Node.js does so itself. `source` is its address (default:
 * beside this file), its bytes, a `Response` or a `WebAssembly.Module`. */
export function init(source?: string | URL | object): Promise<void>;
/** Whether all elements are finite. Throws a TypeError for wrong arguments, as the others do. */
export function allFinite(input: Elements | Tensor, format?: Format): boolean;
/** The index of the first element for which the predicate holds (default: "non-finite"), or -1. */
export function position(
  input: Elements | Tensor, predicate?: Predicate, format?: Format): number;
/** How many elements the predicate holds for (default: "non-finite"). */
export function count(input: Elements | Tensor, predicate?: Predicate, format?: Format): number;
/** How many NaN, +Inf and -Inf there are, and the first of each. */
export function census(input: Elements | Tensor, format?: Format): Census;
/** Checks a model file. In a worker of a browser it is read piece by piece, elsewhere as a whole. A
 * file that cannot be checked has an `error`. The name (default: that of a `File`) tells formats
 * apart that the bytes do not. */
export function check(blob: Blob, name?: string): Promise<Report>;
