
// Behind the JavaScript of wasm-bindgen: the calls of the page, one after the other.
const reader = new FileReaderSync();
const blobs = new Map();
let buffer = new ArrayBuffer(1 << 20);
// The stream that was read last, and where it goes on.
let last = { stream: null, path: null, at: 0 };

// The answer, or an error after 5 seconds: a stream may stand still in a busy browser.
async function soon(answer) {
  let timer;
  const late = new Promise((_, reject) => timer = setTimeout(reject, 5000));
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

// Streams are faster than FileReaderSync, and need less memory. What they have not read, because a
// file has changed or the browser has no such streams, is read again with FileReaderSync.
async function readAhead(pieces) {
  for (const [path, { start, end }] of JSON.parse(ranges(pieces))) {
    if (last.path !== path || last.at !== start) {
      last.stream?.cancel();
      last = { path, at: start };
      last.stream = blobs.get(path).slice(start).stream().getReader({ mode: "byob" });
    }
    beginAhead(path, start, end - start);
    while (last.at < end) {
      const room = new Uint8Array(buffer, 0, Math.min(end - last.at, buffer.byteLength));
      const { done, value } = await soon(last.stream.read(room));
      buffer = value.buffer;
      if (done) break;
      last.at += value.length;
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
    await readAhead(pieces).catch(() => {
      buffer = new ArrayBuffer(1 << 20);
      last.stream?.cancel().catch(() => {});
      last = {};
    });
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
