"use strict";

// Both are asked for before the policy of the page is read, which allows no connection. Workers are
// made from text, so that the policy holds for them, too.
const loaded = Promise.all(
  ["worker.js", "nonfinite.wasm"].map(async (name) => {
    const answer = await fetch(name);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer.arrayBuffer();
  }),
);
const ready = loaded.then(async ([script, wasm]) => [
  URL.createObjectURL(new Blob([script], { type: "text/javascript" })),
  await WebAssembly.compile(wasm),
]);

const MOST_ROWS = 1000, MOST_REASONS = 20;
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
      if (this.ended) return reject(new Error(this.ended));
      this.calls.push([resolve, reject]);
      this.worker.postMessage(message);
    });
  }

  end(why) {
    this.ended ??= why;
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
    this.done = this.all = this.bad = 0;
    this.workers = [];
    this.jobs = [];
    this.merged = [];
    this.is_stopped = this.is_checked = false;
  }

  show(what, done, all, unit) {
    const now = performance.now();
    $("bar").max = all || 1;
    $("bar").value = done;
    if (now - (this.shown ?? 0) < 200 && done < all) return;
    this.shown = now;
    const left = (now - this.begun) / 1000 * (all - done) / done;
    const rest = done && done < all ? `, ${Math.ceil(left)} s left` : "";
    $("far").textContent = `${what}: ${unit(done)} of ${unit(all)}${rest}`;
  }

  // Shows the bad tensors of a file, in place of those that were known before.
  add(job, lines) {
    this.bad -= job.bad?.length ?? 0;
    job.bad = lines.split("\n").filter(Boolean).map((line) => JSON.parse(line));
    job.bad = job.bad.filter((found) => found.bad?.length);
    this.bad += job.bad.length;
    job.body?.replaceChildren();
    const more = this.bad - MOST_ROWS;
    $("more").textContent = more > 0 ? `${more} more` : "";
    const room = MOST_ROWS - $("bad").rows.length + 1;
    if (!room || !job.bad.length) return;
    $("found").hidden = false;
    job.body ??= $("bad").appendChild(document.createElement("tbody"));
    const kinds = ["nan", "pos_inf", "neg_inf"];
    for (const found of job.bad.slice(0, room)) {
      const row = job.body.insertRow(), head = document.createElement("th");
      head.scope = "row";
      head.textContent = found.name ?? "(no name)";
      row.append(head);
      const counts = kinds.map((kind) => found[kind]?.count || "");
      for (const text of [found.path, found.dtype, ...counts, place(found)]) {
        row.insertCell().textContent = text;
      }
    }
  }

  // The first instance is the desk, which puts together what the workers find.
  async instance(files, several) {
    const [url, module] = await ready;
    if (this.is_stopped) throw new Error(STOPPED);
    const instance = new Instance(url);
    if (this.desk) this.workers.push(instance);
    else this.desk = instance;
    await instance.call("start", module);
    await instance.call("open", several, files);
  }

  // Checks all files.
  async look(files, several) {
    const cores = Math.max(1, Math.min(8, navigator.hardwareConcurrency || 1));
    await this.instance(files, several);
    await Promise.all(Array.from({ length: cores }, () => this.instance(files, several)));
    const paths = await this.desk.call("paths"), count = paths.length;
    this.until = () => `${this.jobs.length} of ${count} files`;
    this.begun = performance.now();
    const tasks = [];
    await this.all_of(async (worker) => {
      while (paths.length) {
        for (const job of await worker.call("plan", paths.splice(0, 16))) {
          this.jobs.push(Object.assign(job, { left: job.tasks.length }));
          for (const [bytes, pieces] of job.tasks) tasks.push([job, bytes, pieces]);
          this.all += job.bytes;
          if (!job.left) {
            this.done += job.bytes;
            this.merge(job);
          }
          delete job.tasks;
        }
        this.show("Reading files", this.jobs.length, count, (files) => files);
      }
    });
    this.begun = performance.now();
    this.until = () => `${size(this.done)} of ${size(this.all)}`;
    await this.all_of((worker) => this.check(worker, tasks, cores));
    await this.merging;
    if (this.failure) throw this.failure;
  }

  // What each worker does, until all are done or stopped. One that fails ends the others.
  async all_of(act) {
    await Promise.all(this.workers.map((worker) => act(worker).catch((error) => {
      if (!this.is_stopped) this.failure ??= error;
      this.end(STOPPED);
    })));
    if (this.failure) throw this.failure;
  }

  end(why) {
    for (const worker of this.workers) worker.end(why);
  }

  // Reads bad tensors again, for maps.
  async draw() {
    const bad = this.jobs.filter(({ is_bad, failed, places }) => is_bad && !failed && !places);
    const size_of = (jobs) => jobs.reduce((sum, { bytes }) => sum + bytes, 0);
    Object.assign(this, { begun: performance.now(), done: 0, all: size_of(bad) });
    await this.all_of(async (worker) => {
      for (let job; (job = bad.shift());) {
        let seen = 0;
        worker.progress = (bytes) => {
          this.done += Math.min(bytes, job.bytes) - seen;
          seen = Math.min(bytes, job.bytes);
          this.show("Drawing maps", this.done, this.all, size);
        };
        // A tensor without a map keeps its numbers.
        job.places = await worker.call("places", job.plan, job.found).catch(() => "{}");
        worker.progress(job.bytes);
      }
    });
    const drawn = this.jobs.filter(({ places }) => places);
    await this.desk.call("addPlaces", drawn.map(({ path, places }) => [path, places]));
  }

  async check(worker, tasks, cores) {
    for (let own = [];;) {
      // Takes some neighbours at a time, which are read as one stream.
      const few = Math.min(16, Math.ceil(tasks.length / cores / 2));
      if (!own.length) own = tasks.splice(0, few);
      if (!own.length) break;
      const [job, bytes, pieces] = own.shift();
      // What cannot be read or decoded is checked as a whole, for the words of the command.
      const [is_bad, tallies] = await worker.call("checkPieces", pieces).catch((error) => {
        if (worker.ended) throw error;
        job.failed = true;
        return [];
      });
      if (tallies) job.found.push(tallies);
      job.is_bad ||= is_bad;
      this.done += bytes;
      this.show("Looking at numbers", this.done, this.all, size);
      if (!--job.left) this.merge(job);
      else if (job.is_bad) this.soFar(job).catch(() => {});
    }
  }

  // Shows what is known of a file that is not finished. A tenth of the time of the desk, at most.
  async soFar(job) {
    const now = performance.now();
    if (now < (job.next ?? 0)) return;
    job.next = Infinity;
    const lines = await this.desk.call("soFar", job.path, job.plan, job.found);
    job.next = performance.now() + 10 * (performance.now() - now);
    if (job.left) this.add(job, lines);
  }

  merge(job) {
    this.merged.push(job);
    this.merging ??= (async () => {
      while (this.merged.length) {
        const some = this.merged.splice(0, 32);
        const sent = some.map(({ path, plan, failed, found, head }) =>
          ({ path, plan: failed ? undefined : plan, found, head }));
        for (const job of some) job.head = null;
        const lines = await this.desk.call("merge", sent);
        some.forEach((job, index) => this.add(job, lines[index]));
      }
      this.merging = null;
    })().catch((error) => {
      this.failure ??= error;
      this.end(STOPPED);
    });
  }

  // Ends the check, or the drawing of maps.
  stop() {
    this.is_stopped = true;
    const until = this.until ? ` after ${this.until()}` : "";
    if (!this.is_checked) $("said").textContent = `Stopped${until}.`;
    this.end(STOPPED);
  }

  // What was found until a stop.
  async untilStop(several) {
    for (const job of this.jobs.filter(({ is_bad, left }) => is_bad && left)) {
      job.next = 0;
      await this.soFar(job);
    }
    const [first] = this.jobs.flatMap(({ bad }) => bad ?? []);
    if (!first) {
      return this.done ? "There was no NaN or infinity until then." : "Nothing was looked at.";
    }
    const { name, path } = first, at = place(first) && `, at ${place(first)}`;
    const where = (name && several ? `${name} in ${path}` : name ?? path) + at;
    return this.bad > 1 ? `${this.bad} tensors hold NaN or infinity; the first is ${where}.`
      : `1 tensor holds NaN or infinity: ${where}.`;
  }
}

// The coordinate of the first NaN of a tensor, or of the first infinity.
function place({ nan, pos_inf, neg_inf }) {
  const { first } = [nan, pos_inf, neg_inf].find((kind) => kind?.first) ?? {};
  return first?.coordinate.length ? `[${first.coordinate.join(", ")}]` : "";
}

function clear(said) {
  for (const id of ["found", "missed", "saves", "details", "rules"]) $(id).hidden = true;
  for (const id of ["numbers", "rules-found", "more", "far", "reasons"]) $(id).replaceChildren();
  for (const body of [...$("bad").tBodies]) body.remove();
  $("bar").value = 0;
  $("said").textContent = said;
}

async function start(files) {
  run?.stop();
  run?.desk?.end(STOPPED);
  const own = run = new Run();
  clear("Reading files");
  $("run").hidden = false;
  const several = files.length > 1 || files.some(([path]) => path.includes("/"));
  let failure = await own.look(files, several).then(() => null, (error) => error);
  if (own !== run) return;
  // From here on, Stop ends the drawing of maps.
  const { is_stopped } = own, seconds = (performance.now() - own.since) / 1000;
  own.is_checked = true;
  if (is_stopped) failure = null;
  try {
    if (is_stopped) $("said").textContent += ` ${await own.untilStop(several)}`;
    await own.desk.call("end");
    const [answer, line] = await own.desk.call("summary", seconds);
    const missed = await own.desk.call("missed"), more = missed.length - MOST_REASONS;
    $("missed").hidden = !missed.length;
    if (more > 0) missed.splice(MOST_REASONS, more, `${more} more: in the report`);
    for (const text of missed) {
      $("reasons").appendChild(document.createElement("li")).textContent = text;
    }
    if (!is_stopped) {
      const broken = failure ? `The check broke off: ${failure.message}. ` : "";
      $("said").textContent = `${broken}${answer}.`;
      $("line").textContent = line;
      if (!failure) await own.draw();
      const [numbers, rules, count] = await own.desk.call("body");
      $("numbers").innerHTML = `<h2>Numbers</h2>${numbers}`;
      $("rules-found").innerHTML = rules;
      $("rules-count").textContent = `Rules of models: ${rules ? count : "nothing was found"}`;
      // Rules that were not asked of each file have no all-clear.
      $("rules").hidden = !rules && (failure || missed.length > 0);
      $("found").hidden = true;
      $("details").hidden = false;
      activate();
    }
    $("saves").hidden = false;
    $("findings").hidden = is_stopped || !!failure;
  } catch (error) {
    if (own !== run) return;
    $("said").textContent = is_stopped ? "Stopped. There is no report."
      : `The check broke off, and nothing is known to be clean: ${(failure ?? error).message}`;
  }
  if (own !== run) return;
  reporter = own.desk;
  if ($("run").contains(document.activeElement)) $("said").focus();
  $("run").hidden = true;
  own.end(STOPPED);
}

// A small model with a NaN and an infinity.
function sample() {
  const tensors = { "layer.0.weight": [8, 16], "layer.0.bias": [16], "layer.1.weight": [8, 16] };
  const header = {}, numbers = [];
  for (const [name, shape] of Object.entries(tensors)) {
    const first = numbers.length, count = shape.reduce((a, b) => a * b);
    for (let i = 0; i < count; i++) numbers.push(Math.sin(i));
    header[name] = { dtype: "F32", shape, data_offsets: [first * 4, numbers.length * 4] };
  }
  [numbers[37], numbers[38]] = [NaN, Infinity];
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new BigUint64Array([BigInt(text.length)]);
  return new File([length, text, new Float32Array(numbers)], "sample.safetensors");
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

// Begins a run. Of two files with one name, the second gets a number.
function begin(files) {
  const names = new Map();
  for (const file of files) {
    const count = (names.get(file[0]) ?? 0) + 1;
    names.set(file[0], count);
    if (count > 1) file[0] += ` (${count})`;
  }
  if (files.length) start(files);
  else if ($("run").hidden) clear("There is no file to check.");
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
      begin(files);
    });
  }
  $("sample").addEventListener("click", () => begin([["sample.safetensors", sample()]]));
  addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", async (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    try {
      if ($("run").hidden) clear("Reading the folder");
      begin(await dropped(event.dataTransfer));
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
    $(id).addEventListener("click", () => {
      reporter.call(id).then((text) => save(name, type, text), (error) => {
        $("said").textContent = `There is no report: ${error.message}`;
      });
    });
  }
  ready.catch((error) => {
    $("said").textContent = `The page cannot work here: ${error.message}`;
  });
});
