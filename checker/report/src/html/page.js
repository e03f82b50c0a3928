"use strict";

// The map of an element: rows, rows in a step, columns, columns in a step, indices in the step of
// the groups, and then triples: cells that are passed over, cells that are lit, and how many bad
// elements each of these has.
function read(place) {
  const [rows, rowStep, columns, columnStep, groups, ...runs] =
    place.dataset.map.split(" ").map(Number);
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

// The shade of a cell: no bad element, less than 1 %, less than 10 %, more, bad ones only.
function shade(bad, all) {
  return !bad ? 0 : bad >= all ? 4 : bad * 10 >= all ? 3 : bad * 100 >= all ? 2 : 1;
}

// Indices for the numbers at an axis, at least `gap` pixels apart: round ones, and the last one.
function ticks(extent, step, size, gap) {
  const at = (index) => (Math.floor(index / step) + 0.5) * size;
  let apart = 1;
  for (let i = 0; apart * size < gap * step; i++) apart *= i % 3 === 1 ? 2.5 : 2;
  const found = [];
  for (let index = 0; index < extent; index += apart) {
    if (at(extent - 1) - at(index) >= gap) found.push(index);
  }
  return [...found, extent - 1].map((index) => [index, at(index)]);
}

function element(parent, name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return parent.appendChild(made);
}

function draw(place) {
  const map = read(place);
  const many = place.closest("details").querySelectorAll(".map").length > 4;
  const longest = Math.max(map.width, map.height, 1);
  const size = Math.max(many ? 3 : 6, Math.min(24, Math.floor((many ? 192 : 448) / longest)));
  const [across, down] = [map.width * size, map.height * size];
  const left = 24 + 7 * `${map.rows - 1}`.length, top = 34;
  // The last number of the columns may be wider than its cell.
  const width = left + across + 4 * `${map.columns - 1}`.length;
  const height = top + Math.max(down, 24) + 6;
  const svg = element(place, "svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const middle = { "text-anchor": "middle" };
  element(svg, "text", { x: left + across / 2, y: 11, ...middle }, "column");
  const turned = `translate(11 ${top + Math.max(down, 24) / 2}) rotate(-90)`;
  element(svg, "text", { transform: turned, ...middle }, "row");
  const wide = 7 * `${map.columns - 1}`.length + 14;
  for (const [index, x] of ticks(map.columns, map.columnStep, size, wide)) {
    element(svg, "text", { x: left + x, y: top - 6, ...middle }, index);
  }
  for (const [index, y] of ticks(map.rows, map.rowStep, size, 15)) {
    element(svg, "text", { x: left - 6, y: top + y + 4, "text-anchor": "end" }, index);
  }
  const elements = (row, column) => {
    const rows = range(row, map.rowStep, map.rows);
    const columns = range(column, map.columnStep, map.columns);
    return (rows.last - rows.first + 1) * (columns.last - columns.first + 1) * map.groups;
  };
  // A path for each shade, with a rectangle for each run of cells in a row.
  const paths = ["", "", "", "", ""];
  for (let row = 0; row < map.height; row++) {
    for (let column = 0, end; column < map.width; column = end) {
      const of = (at) => shade(map.bad[row * map.width + at], elements(row, at));
      for (end = column + 1; end < map.width && of(end) === of(column);) end++;
      const [x, y, run] = [left + column * size, top + row * size, (end - column) * size];
      paths[of(column)] += `M${x} ${y}h${run}v${size}h${-run}z`;
    }
  }
  paths.forEach((d, shade) => d && element(svg, "path", { class: `d${shade}`, d }));
  element(svg, "rect", { class: "frame", x: left, y: top, width: across, height: down });

  const square = { width: size, height: size };
  const mark = element(svg, "rect", { class: "at", ...square, visibility: "hidden" });
  const output = place.closest("figure").querySelector("output");
  let at = [0, 0];
  const show = (row, column) => {
    at = [Math.max(0, Math.min(row, map.height - 1)), Math.max(0, Math.min(column, map.width - 1))];
    const bad = map.bad[at[0] * map.width + at[1]];
    const rows = range(at[0], map.rowStep, map.rows);
    const columns = range(at[1], map.columnStep, map.columns);
    output.textContent = `row ${rows.text}, column ${columns.text}: ` +
      `${bad} of ${elements(...at)} bad`;
    mark.setAttribute("x", left + at[1] * size);
    mark.setAttribute("y", top + at[0] * size);
    mark.setAttribute("visibility", "visible");
  };
  place.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), scale = width / box.width;
    const [x, y] = [(event.clientX - box.x) * scale, (event.clientY - box.y) * scale];
    show(Math.floor((y - top) / size), Math.floor((x - left) / size));
  });
  place.addEventListener("focus", () => show(...at));
  place.addEventListener("keydown", (event) => {
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

// Maps are drawn when they are first seen: a page may have thousands.
for (const details of document.querySelectorAll("details")) {
  const drawAll = () => details.open && details.querySelectorAll(".map:empty").forEach(draw);
  details.addEventListener("toggle", drawAll);
  drawAll();
}

// A link of the overview opens what it leads to.
function open() {
  const target = document.getElementById(location.hash.slice(1));
  const details = target?.closest("details");
  if (details) {
    details.open = true;
    (target === details ? target.querySelector("summary") : target).focus();
  }
}
addEventListener("hashchange", open);
open();

// Layer and kind of a cell of the overview, under the pointer.
for (const table of document.querySelectorAll(".matrix")) {
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
