
// Behind the JavaScript of wasm-bindgen: the calls of the page, one after the other.
const reader = new FileReaderSync();
const calls = {
  start: (module) => void initSync({ module }),
  open(several, files) {
    begin(several);
    for (const [path, file] of files) {
      const read = (at, length) => reader.readAsArrayBuffer(file.slice(at, at + length));
      addFile(path, file.size, (at, length) => new Uint8Array(read(at, length)));
    }
  },
  paths, plan, checkPieces, merge, check, end, file, json, findings, html, body, summary,
  lint: (path) => lint(path, (progress) => postMessage({ progress })),
};
onmessage = ({ data: [name, ...values] }) => {
  try {
    postMessage({ result: calls[name](...values) });
  } catch (error) {
    postMessage({ error: `${error.message ?? error}` });
  }
};
