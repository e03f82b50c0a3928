"use strict";
// Cells of no bad element, of less than 1 %, of less than 10 %, of others, and of bad ones only.
const SHADES = ["#ffffff", "#6b95c6", "#3d74b0", "#17497f", "#001226"];

// The map of a canvas: rows, rows in a step, columns, columns in a step, indices in the step of the
// groups, and then triples: cells that are passed over, cells that are lit, and the bad elements in
// each of these.
function read(canvas) {
  const [rows, rowStep, columns, columnStep, groups, ...runs] =
    canvas.dataset.map.split(" ").map(Number);
  const height = Math.ceil(rows / rowStep), width = Math.ceil(columns / columnStep);
  const bad = new Array(width * height).fill(0);
  let cell = 0;
  for (let i = 0; i < runs.length; i += 3) {
    cell += runs[i];
    bad.fill(runs[i + 2], cell, cell + runs[i + 1]);
    cell += runs[i + 1];
  }
  return { rows, rowStep, columns, columnStep, groups, width, height, bad };
}

function range(step, size, extent) {
  const first = step * size, last = Math.min(first + size, extent) - 1;
  return { first, last, text: first === last ? `${first}` : `${first}-${last}` };
}

function draw(canvas) {
  const map = read(canvas);
  const many = canvas.closest("details").querySelectorAll("canvas").length > 4;
  const longest = Math.max(map.width, map.height, 1);
  const size = Math.max(many ? 3 : 6, Math.min(24, Math.floor((many ? 192 : 448) / longest)));
  canvas.width = map.width * size;
  canvas.height = map.height * size;
  const context = canvas.getContext("2d");
  const elements = (row, column) => {
    const rows = range(row, map.rowStep, map.rows);
    const columns = range(column, map.columnStep, map.columns);
    return (rows.last - rows.first + 1) * (columns.last - columns.first + 1) * map.groups;
  };
  for (let row = 0; row < map.height; row++) {
    for (let column = 0; column < map.width; column++) {
      const bad = map.bad[row * map.width + column], all = elements(row, column);
      const shade = !bad ? 0 : bad >= all ? 4 : bad * 10 >= all ? 3 : bad * 100 >= all ? 2 : 1;
      context.fillStyle = SHADES[shade];
      context.fillRect(column * size, row * size, size, size);
    }
  }
  const mark = document.createElement("div");
  mark.className = "at";
  mark.hidden = true;
  canvas.after(mark);
  const output = canvas.closest("figure").querySelector("output");
  let at = [0, 0];
  const show = (row, column) => {
    at = [Math.max(0, Math.min(row, map.height - 1)), Math.max(0, Math.min(column, map.width - 1))];
    const bad = map.bad[at[0] * map.width + at[1]];
    const rows = range(at[0], map.rowStep, map.rows);
    const columns = range(at[1], map.columnStep, map.columns);
    output.textContent = `row ${rows.text}, column ${columns.text}: ` +
      `${bad} of ${elements(...at)} bad`;
    mark.hidden = false;
    Object.assign(mark.style, {
      left: `${at[1] * size}px`, top: `${at[0] * size}px`, width: `${size}px`, height: `${size}px`,
    });
  };
  canvas.addEventListener("pointermove", (event) => {
    show(Math.floor(event.offsetY / size), Math.floor(event.offsetX / size));
  });
  canvas.addEventListener("focus", () => show(...at));
  canvas.addEventListener("keydown", (event) => {
    const [row, column] = at;
    const moves = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, map.width - 1],
      PageUp: [0, column], PageDown: [map.height - 1, column],
    };
    if (moves[event.key]) {
      show(...moves[event.key]);
      event.preventDefault();
    }
  });
}

for (const details of document.querySelectorAll("details")) {
  details.addEventListener("toggle", () => {
    for (const canvas of details.querySelectorAll("canvas:not([width])")) draw(canvas);
  });
}

// A link of the overview opens what it leads to.
function open() {
  const target = document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.querySelector("summary").focus();
  }
}
addEventListener("hashchange", open);
open();

// Layer and kind of a cell of the overview, under the pointer.
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  table.addEventListener("pointerover", (event) => {
    const cell = event.target.closest("td");
    if (!cell || cell.title) return;
    let column = 0;
    for (let other = cell.previousElementSibling; other; other = other.previousElementSibling) {
      column += other.colSpan;
    }
    const kind = cell.parentElement.cells[0].textContent;
    if (cell.colSpan === 1) cell.title = `${kind} ${heads[column]}`;
  });
}
