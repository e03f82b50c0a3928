
// Behind the JavaScript of wasm-bindgen: the calls of the page, one after the other.
const reader = new FileReaderSync();
const blobs = new Map();
// Bytes of the beginning of a file that are read before it is planned. Shorter files are checked
// at once.
const HEAD = 1 << 20;
let buffer = new ArrayBuffer(1 << 20);
// Whether streams are used, the stream that was read last, and where it goes on.
let streams = true, last = {};

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

// Calls `then` with the beginnings of these files in memory.
async function withHeads(paths, then) {
  const heads = await Promise.all(
    paths.map((path) => blobs.get(path).slice(0, HEAD).arrayBuffer().catch(() => null)),
  );
  try {
    for (const [index, head] of heads.entries()) {
      if (!head) continue;
      beginAhead(paths[index], 0, head.byteLength);
      extendAhead(new Uint8Array(head));
    }
    return then();
  } finally {
    endAhead();
  }
}

function planned(path) {
  const [bytes, ...pieces] = plan(path);
  const found = [], tasks = [];
  for (let at = 0; at < pieces.length; at += 2) tasks.push([pieces[at], pieces[at + 1]]);
  if (blobs.get(path).size > HEAD) return { path, plan: bytes, tasks, found };
  try {
    for (const [, task] of tasks) found.push(checkPieces(task));
    return { path, plan: bytes, tasks: [], found };
  } catch {
    // The file is checked as a whole, for the words of the command.
    return { path, tasks: [], found: [] };
  }
}

const calls = {
  start: (module) => void initSync({ module }),
  open(several, places, files) {
    begin(several, places);
    for (const [path, file] of files) {
      blobs.set(path, file);
      const read = (at, length) => reader.readAsArrayBuffer(file.slice(at, at + length));
      addFile(path, file.size, (at, length) => new Uint8Array(read(at, length)));
    }
  },
  plan: (some) => withHeads(some, () => some.map(planned)),
  async checkPieces(pieces) {
    if (streams) {
      await readAhead(pieces).catch(() => {
        streams = false;
        last.stream?.cancel().catch(() => {});
      });
    }
    try {
      return checkPieces(pieces);
    } finally {
      endAhead();
    }
  },
  merge(jobs) {
    const progress = (bytes) => postMessage({ progress: bytes });
    return withHeads(jobs.map(({ path }) => path), () => jobs.map(({ path, plan, found }) =>
      merge(path, plan ?? new Uint8Array(), plan ? found : [], progress)));
  },
  paths, soFar, end, json, findings, html, body, summary,
};
let before = Promise.resolve();
onmessage = ({ data: [name, ...values] }) => before = before.then(async () => {
  try {
    postMessage({ result: await calls[name](...values) });
  } catch (error) {
    postMessage({ error: `${error.message ?? error}` });
  }
});
