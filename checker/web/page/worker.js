
// Behind the JavaScript of wasm-bindgen: the calls of the page, one after the other.
const reader = new FileReaderSync();
const blobs = new Map();
// Bytes of the beginning of a file that are read before it is planned. A file that is as short is
// checked at once.
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

// Calls `act` for each job with the beginning of its file in memory.
async function withHeads(jobs, act) {
  await Promise.all(jobs.map(async (job) => {
    const head = () => soon(blobs.get(job.path).slice(0, HEAD).arrayBuffer());
    job.head ??= await head().catch(() => null);
  }));
  return jobs.map((job) => {
    if (job.head) {
      beginAhead(job.path, 0, job.head.byteLength);
      extendAhead(new Uint8Array(job.head));
    }
    try {
      return act(job);
    } finally {
      endAhead();
    }
  });
}

function planned({ path, head }) {
  const [bytes, ...pieces] = plan(path), { size } = blobs.get(path);
  const job = { path, plan: bytes, tasks: [], found: [], is_bad: false };
  for (let at = 0; at < pieces.length; at += 2) job.tasks.push([pieces[at], pieces[at + 1]]);
  job.bytes = job.tasks.reduce((sum, [bytes]) => sum + bytes, 0);
  // The index of a set is short, and its shards are not.
  if (size + job.bytes > 2 * HEAD) return job;
  // The desk need not read a small file again.
  if (size < HEAD >> 4) job.head = head;
  try {
    for (const [, task] of job.tasks.splice(0)) {
      const [is_bad, tallies] = checkPieces(task);
      job.is_bad ||= is_bad;
      job.found.push(tallies);
    }
    if (job.is_bad) job.places = places(job.plan, job.found, () => {});
    return job;
  } catch {
    // The file is checked as a whole, for the words of the command.
    return { path, tasks: [], found: [], bytes: 0 };
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
  plan: (paths) => withHeads(paths.map((path) => ({ path })), planned),
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
  merge: (jobs) => withHeads(jobs, ({ path, plan, found }) =>
    merge(path, plan ?? new Uint8Array(), plan ? found : [])),
  places: (plan, found) => places(plan, found, (progress) => postMessage({ progress })),
  addPlaces: (all) => all.forEach((file) => addPlaces(...file)),
  paths, soFar, end, missed, json, findings, html, body, summary,
};
let before = Promise.resolve();
onmessage = ({ data: [name, ...values] }) => before = before.then(async () => {
  try {
    postMessage({ result: await calls[name](...values) });
  } catch (error) {
    postMessage({ error: `${error.message ?? error}` });
  }
});
