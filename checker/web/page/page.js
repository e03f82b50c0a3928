"use strict";

// Both are asked for before the policy of the page is read, which allows no connection. Workers are
// made from text, so that the policy holds for them, too.
const WIDE = WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 4, 1]));
const loaded = Promise.all(
  ["worker.js", "nonfinite.wasm"].map(async (any) => {
    const name = WIDE ? any.replace(".", "64.") : any;
    const answer = await fetch(name);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer.arrayBuffer();
  }),
);
const ready = loaded.then(async ([script, wasm]) => [
  URL.createObjectURL(new Blob([script], { type: "text/javascript" })),
  await WebAssembly.compile(wasm),
]);

const MOST_ROWS = 1000;
const $ = (id) => document.getElementById(id);

// What the page of the command does with its tables and maps.
function activate() {
//REPORT
}

// A worker with an instance of the .wasm. It answers calls in their order.
class Instance {
  constructor(url) {
    this.worker = new Worker(url, { type: "module" });
    this.calls = [];
    this.progress = () => {};
    this.worker.onmessage = ({ data }) => {
      if ("progress" in data) return this.progress(data.progress);
      const [resolve, reject] = this.calls.shift();
      if ("error" in data) reject(new Error(data.error));
      else resolve(data.result);
    };
    this.worker.onerror = (event) => this.end(event.message || "the worker cannot be started");
  }

  call(...message) {
    return new Promise((resolve, reject) => {
      this.calls.push([resolve, reject]);
      this.worker.postMessage(message);
    });
  }

  end(why) {
    this.worker.terminate();
    for (const [, reject] of this.calls.splice(0)) reject(new Error(why));
  }
}

const STOPPED = "stopped";
let run = null, reporter = null;

const size = (bytes) => bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB`
  : bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${bytes} bytes`;

class Run {
  constructor() {
    this.since = performance.now();
    this.done = this.all = this.rows = 0;
    this.workers = [];
    this.is_stopped = false;
  }

  show(what) {
    const now = performance.now();
    $("bar").max = this.all || 1;
    $("bar").value = this.done;
    if (now - (this.shown ?? 0) < 200 && this.done < this.all) return;
    this.shown = now;
    const left = (now - this.begun) / 1000 * (this.all - this.done) / this.done;
    const rest = this.done && this.done < this.all ? `, ${Math.ceil(left)} s left` : "";
    $("far").textContent = `${what}: ${size(this.done)} of ${size(this.all)}${rest}`;
  }

  // Adds the lines of a file to the table.
  add(lines) {
    for (const line of lines.split("\n").filter(Boolean)) {
      this.rows += 1;
      $("found").hidden = false;
      if (this.rows > MOST_ROWS) {
        $("more").textContent = `${this.rows - MOST_ROWS} more: in the report`;
        continue;
      }
      const found = JSON.parse(line), row = $("rows").insertRow();
      const head = row.appendChild(document.createElement("th"));
      head.scope = "row";
      head.textContent = found.name ?? (found.error ? "(no tensor)" : "(no name)");
      const counts = [found.nan, found.pos_inf, found.neg_inf].map((kind) => kind?.count ?? "");
      const why = found.error ?? found.reason ?? (found.bad?.length ? "" : found.looked_at);
      for (const text of [found.path, found.dtype ?? "", ...counts, why ?? ""]) {
        row.insertCell().textContent = text;
      }
      if (why) row.classList.add("u");
    }
  }

  async go(files, several) {
    const [url, module] = await ready;
    const cores = Math.max(1, Math.min(8, navigator.hardwareConcurrency || 1));
    this.desk = new Instance(url);
    this.workers = Array.from({ length: cores }, () => new Instance(url));
    await Promise.all([this.desk, ...this.workers].map(async (instance) => {
      await instance.call("start", module);
      await instance.call("open", several, files);
    }));
    const paths = await this.desk.call("paths");
    const tasks = [], jobs = [];
    for (const path of paths) {
      $("far").textContent = `Reading the descriptions of tensors: ${path}`;
      const [plan, ...pieces] = await this.desk.call("plan", path);
      const job = { path, plan: plan ?? "", left: pieces.length / 2, found: [], bytes: 0 };
      jobs.push(job);
      for (let at = 0; at < pieces.length; at += 2) {
        job.bytes += +pieces[at];
        tasks.push([job, +pieces[at], pieces[at + 1]]);
      }
      this.all += job.bytes;
      if (!job.left) await this.merge(job);
    }
    this.begun = performance.now();
    await Promise.all(this.workers.map(async (worker) => {
      for (let own = []; !this.is_stopped;) {
        // Takes some neighbours at a time, which are read as one stream.
        const few = Math.min(16, Math.ceil(tasks.length / cores / 2));
        if (!own.length) own = tasks.splice(0, few);
        if (!own.length) break;
        const [job, bytes, pieces] = own.shift();
        // What cannot be read or decoded is checked as a whole, for the words of the command.
        await worker.call("checkPieces", pieces).then(
          (found) => job.found.push(found),
          (error) => job.failed = error,
        );
        if (this.is_stopped) return;
        this.done += bytes;
        this.show("Looking at numbers");
        if (!--job.left) await this.merge(job);
      }
    }));
    if (this.is_stopped) return this.desk;
    // Reads bad tensors again, for maps.
    const [linter] = this.workers;
    Object.assign(this, { done: 0, begun: performance.now() });
    for (const { path, plan, failed, found, bytes } of jobs) {
      const before = this.done;
      linter.progress = (progress) => {
        this.done = before + Math.min(progress, bytes);
        this.show("Drawing maps");
      };
      await linter.call("lint", path, failed ? "" : plan, found);
      this.done = before + bytes;
    }
    return linter;
  }

  async merge({ path, plan, failed, found }) {
    if (failed) await this.desk.call("check", path);
    else if (plan) await this.desk.call("merge", path, plan, found);
    this.add(await this.desk.call("file", path));
  }

  stop() {
    this.is_stopped = true;
    for (const worker of this.workers) worker.end(STOPPED);
  }
}

async function start(files) {
  run?.stop();
  run?.desk?.end(STOPPED);
  const own = run = new Run();
  reporter?.end(STOPPED);
  for (const id of ["found", "saves"]) $(id).hidden = true;
  for (const id of ["rows", "report", "more", "far"]) $(id).replaceChildren();
  $("said").textContent = "Reading files";
  $("run").hidden = false;
  const several = files.length > 1 || files.some(([path]) => path.includes("/"));
  let failure = null;
  const linter = await own.go(files, several).catch((error) => {
    failure = error;
    return null;
  });
  if (own !== run) return;
  reporter = linter ?? own.desk;
  const seconds = (performance.now() - own.since) / 1000;
  try {
    await reporter.call("end");
    const [status, line] = await reporter.call("summary", seconds);
    $("report").innerHTML = await reporter.call("body");
    activate();
    const words = { 0: "Clean", 1: "Bad numbers were found", 2: "Not everything was looked at" };
    const stopped = own.is_stopped ? "Stopped. " : "";
    const broken = failure && !own.is_stopped ? `The check broke off: ${failure.message}. ` : "";
    $("said").textContent = `${stopped}${broken}${words[status]}: ${line}`;
    $("found").hidden = true;
    $("saves").hidden = false;
    $("findings").hidden = !linter || linter === own.desk;
  } catch (error) {
    $("said").textContent = `The check broke off, and nothing is known to be clean: ` +
      (failure ?? error).message;
  }
  $("run").hidden = true;
  for (const instance of [own.desk, ...own.workers]) {
    if (instance && instance !== reporter) instance.end(STOPPED);
  }
}

// The files that were dropped, with those of folders.
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => [file.name, file]);
  const files = [];
  const asked = (ask) => new Promise((resolve, reject) => ask(resolve, reject));
  for (let entry; (entry = entries.shift());) {
    if (entry.isFile) {
      files.push([entry.fullPath.slice(1), await asked((...to) => entry.file(...to))]);
      continue;
    }
    // A folder gives up to 100 entries at a time.
    const folder = entry.createReader();
    for (let some; (some = await asked((...to) => folder.readEntries(...to))).length;) {
      entries.push(...some);
    }
  }
  return files;
}

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

addEventListener("DOMContentLoaded", () => {
  const drop = $("drop");
  for (const id of ["files", "folder"]) {
    const input = $(`choose-${id}`);
    $(id).addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      const files = [...input.files].map((file) => [file.webkitRelativePath || file.name, file]);
      input.value = "";
      if (files.length) start(files);
    });
  }
  addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    try {
      const files = await dropped(event.dataTransfer);
      if (files.length) start(files);
    } catch (error) {
      $("said").textContent = `What was dropped cannot be read: ${error.message}`;
    }
  });
  $("stop").addEventListener("click", () => run.stop());
  for (const [id, name, type] of [
    ["json", "nonfinite.json", "application/json"],
    ["html", "nonfinite.html", "text/html"],
    ["findings", "nonfinite-lint.json", "application/json"],
  ]) {
    $(id).addEventListener("click", async () => save(name, type, await reporter.call(id)));
  }
  ready.catch((error) => {
    $("said").textContent = `The page cannot work here: ${error.message}`;
  });
});
