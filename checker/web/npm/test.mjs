// Questions to the installed package.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { allFinite, census, check, count, position } from "nonfinite";
import { Tensor } from "onnxruntime-web";

for (const Type of [Float32Array, Float64Array]) {
  for (const length of [0, 1, 15, 64, 1000, 100_000]) {
    const array = new Type(length).fill(0.5);
    assert.equal(allFinite(array), true);
    assert.equal(position(array), -1);
    for (const at of [0, length >> 1, length - 1].filter((at) => at >= 0 && at < length)) {
      for (const bad of [NaN, Infinity, -Infinity]) {
        const one = array.slice();
        one[at] = bad;
        assert.equal(allFinite(one), false);
        assert.deepEqual([position(one), count(one)], [at, 1]);
        assert.equal(count(one, "nan"), Number.isNaN(bad) ? 1 : 0);
        const kind = Number.isNaN(bad) ? "nan" : bad > 0 ? "posInf" : "negInf";
        assert.deepEqual(census(one)[kind], { count: 1, first: at });
      }
    }
  }
}
// A part of a buffer, and bits of other formats.
assert.equal(allFinite(new Float32Array([NaN, 1, 2]).subarray(1)), true);
assert.equal(position(new Uint16Array([0x3f80, 0x7f80]), "inf", "bf16"), 1);
assert.equal(position(new Uint16Array([0x3c00, 0x7f80]), "nan", "f16"), 1);
assert.equal(count(new Uint8Array([0x7f, 0xff, 0x38]), "nan", "f8e4m3fn"), 2);
const f32 = new Float32Array(2);
for (const [message, ...of] of [
  [/Uint16Array: name the format/, new Uint16Array(2)],
  [/format: f99/, f32, "f99"], [/format: 7/, f32, 7], [/Float32Array is not bf16/, f32, "bf16"],
  [/3 bytes are no whole bf16/, new Uint8Array(3), "bf16"], [/Array. is neither/, [1, 2]],
]) assert.throws(() => allFinite(...of), { name: "TypeError", message });
for (const [message, odd] of [[/predicate: odd/, "odd"], [/predicate: 7/, 7]]) {
  assert.throws(() => count(f32, odd), { name: "TypeError", message });
}
await assert.rejects(check("no blob"), TypeError);
assert.equal(createRequire(import.meta.url)("nonfinite").allFinite, allFinite);

// Arrays go in parts. This asks at the borders of all parts of whole 16 KiB, also by bytes.
const cases = { f32: [Float32Array, NaN], f64: [Float64Array, NaN], bf16: [Uint16Array, 0x7fc0] };
for (const [format, [Type, nan]] of Object.entries(cases)) {
  const step = 16384 / Type.BYTES_PER_ELEMENT, array = new Type(10 * step + 1);
  for (let at = step - 1; at < array.length; at += at % step ? 1 : step - 1) {
    array[at] = nan;
    assert.deepEqual(census(array, format).nan, { count: 1, first: at });
    assert.equal(position(new Uint8Array(array.buffer), "nan", format), at);
    array[at] = 0;
  }
}
assert.equal(count(new Uint8Array(1e6).fill(0xff), "finite", "f4e2m1fn"), 1e6);
// 2.2 GB take no memory besides their own.
const long = new Float32Array(5.5e8).fill(NaN, 5.5e8 - 1), before = process.memoryUsage().rss;
assert.deepEqual(census(long).nan, { count: 1, first: 5.5e8 - 1 });
assert.ok(process.memoryUsage().rss - before < 20e6);

const logits = new Tensor("float32", new Float32Array([1, NaN, Infinity, 4]), [2, 2]);
assert.deepEqual([allFinite(logits), position(logits, "inf"), count(logits)], [false, 2, 2]);
const half = new Tensor("float16", new Uint16Array([0x3c00, 0xfc00]), [2]);
assert.deepEqual(census(half).negInf, { count: 1, first: 1 });
assert.throws(() => allFinite(new Tensor("int32", new Int32Array(2), [2])), /int32/);

const sample = await check(new Blob([await readFile("sample.safetensors")]), "a.safetensors");
assert.deepEqual([sample.format, sample.bad, sample.complete], ["safetensors", true, true]);
assert.ok(sample.tensors.some((tensor) => tensor.bad.includes("nan") && tensor.where));
const text = await check(new Blob(["no model"]));
assert.match(text.error, /not a file of a known format/);
assert.equal((await check(new Blob([]))).error, "is empty");
assert.equal(position(f32), -1); // after the memory has grown
console.log("npm: the installed package answers, with the tensors of onnxruntime-web");
