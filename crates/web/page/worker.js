
// Behind the JavaScript of wasm-bindgen: the calls of the page, one after the other.
const reader = new FileReaderSync();
const blobs = new Map();
let buffer = new ArrayBuffer(1 << 20);

// Streams are faster than FileReaderSync, and need less memory. What they have not read, because a
// file has changed or the browser has no such streams, is read again with FileReaderSync.
async function readAhead(pieces) {
  for (const [path, { start, end }] of JSON.parse(ranges(pieces))) {
    const stream = blobs.get(path).slice(start, end).stream().getReader({ mode: "byob" });
    beginAhead(path, start, end - start);
    for (;;) {
      const { done, value } = await stream.read(new Uint8Array(buffer));
      buffer = value.buffer;
      if (done) break;
      extendAhead(value);
    }
  }
}

const calls = {
  start: (module) => void initSync({ module }),
  open(several, files) {
    begin(several);
    for (const [path, file] of files) {
      blobs.set(path, file);
      const read = (at, length) => reader.readAsArrayBuffer(file.slice(at, at + length));
      addFile(path, file.size, (at, length) => new Uint8Array(read(at, length)));
    }
  },
  async checkPieces(pieces) {
    await readAhead(pieces).catch(() => buffer = new ArrayBuffer(1 << 20));
    try {
      return checkPieces(pieces);
    } finally {
      endAhead();
    }
  },
  paths, plan, merge, check, end, file, json, findings, html, body, summary,
  lint: (...file) => lint(...file, (progress) => postMessage({ progress })),
};
onmessage = async ({ data: [name, ...values] }) => {
  try {
    postMessage({ result: await calls[name](...values) });
  } catch (error) {
    postMessage({ error: `${error.message ?? error}` });
  }
};
