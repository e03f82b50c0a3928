"""The reports of `check --html` and `lint --html`.

Tensors with planted NaNs are written here and checked by the program, and the page is opened. Every
cell of every map is compared with what was planted. checker/docs/map.svg is the map of one of these
tensors, as the browser has it.
"""

import pathlib
import random
import subprocess

from chromium import expect
from files import floats, safetensors

ROOT = pathlib.Path(__file__).resolve().parents[3]
STEPS = 64
HOSTILE = "</script><script>hit=1</script>\"'><img src=x onerror=hit=1> layers.3.\u202ex"


def tensors():
    """Names, shapes, and the coordinates of NaNs."""
    random.seed(18)

    def every(*shape):
        places = [()]
        for extent in shape:
            places = [place + (index,) for place in places for index in range(extent)]
        return places

    planted = []
    for layer in range(12):
        for kind, shape in (("attn.q_proj", (64, 32)), ("mlp.up", (32, 64)), ("norm", (48,))):
            planted.append((f"model.layers.{layer}.{kind}.weight", shape, []))
    bad = {
        "model.layers.2.attn.q_proj.weight": lambda at: at[0] == 17,
        "model.layers.5.attn.q_proj.weight": lambda at: at[1] in (3, 4),
        "model.layers.5.norm.weight": lambda at: at[0] > 40,
        "model.layers.9.mlp.up.weight": lambda at: True,
    }
    planted = [
        (name, shape, [at for at in every(*shape) if bad.get(name, lambda at: False)(at)])
        for name, shape, _ in planted
    ]
    scattered = random.sample(every(130, 300), 150)
    planted.append(("scattered", (130, 300), sorted(scattered)))
    disc = [at for at in every(200, 200) if (at[0] - 60) ** 2 + (at[1] - 120) ** 2 < 1600]
    planted.append(("disc", (200, 200), disc))
    experts = [at for at in every(70, 9, 70) if at[0] in (20, 21, 64) and at[1] == at[2] % 9]
    planted.append(("model.layers.7.mlp.experts.weight", (70, 9, 70), experts))
    planted.append(("kernels", (3, 5, 4, 4), [(0, 4, 1, 2), (2, 0, 3, 3)]))
    planted.append(("scalar", (), [()]))
    planted.append((HOSTILE, (2, 3), [(1, 2)]))
    planted.append(('clean"<&', (2, 3), []))
    return planted


def write(path, planted):
    tensors = []
    for name, shape, places in planted:
        elements = 1
        for extent in shape:
            elements *= extent
        numbers = [0.5] * elements
        for place in places:
            index = 0
            for extent, at in zip(shape, place):
                index = index * extent + at
            numbers[index] = float("nan")
        tensors.append((name, "F32", shape, floats(*numbers)))
    safetensors(path, tensors)


def maps(shape, places):
    """By group: height and width of its map, steps, and how many are bad in each cell."""
    shape = (1,) * (2 - len(shape)) + tuple(shape)
    *leading, rows, columns = shape
    row_step, column_step = -(-rows // STEPS), -(-columns // STEPS)
    groups = 1
    for extent in leading:
        groups *= extent
    group_step = max(1, -(-groups // STEPS))
    height, width = -(-rows // row_step), -(-columns // column_step)
    cells = {}
    for place in places:
        place = (0,) * (2 - len(place)) + tuple(place)
        group = 0
        for extent, at in zip(leading, place):
            group = group * extent + at
        key = group // group_step
        count = cells.setdefault(key, [[0] * width for _ in range(height)])
        count[place[-2] // row_step][place[-1] // column_step] += 1
    steps = (rows, row_step, columns, column_step)
    return height, width, steps, [cells[key] for key in sorted(cells)]


# The shades at the centre of each cell of a map.
CELLS = """(map => {
  const frame = map.querySelector(".frame"), paths = [...map.querySelectorAll("path")];
  const [x, y, across, down] = ["x", "y", "width", "height"].map(name => +frame.getAttribute(name));
  const [height, width] = [%d, %d], cells = [];
  for (let row = 0; row < height; row++) for (let column = 0; column < width; column++) {
    const at = new DOMPoint(x + (column + .5) * across / width, y + (row + .5) * down / height);
    cells.push(paths.filter(path => path.isPointInFill(at)).map(path => path.className.baseVal));
  }
  const texts = [...map.querySelectorAll("text")].map(text => text.textContent);
  return { cells, down: down / height, across: across / width, texts };
})(document.querySelectorAll("details")[%d].querySelectorAll(".map")[%d])"""


def check_maps(browser, bad):
    """Every cell of every map, and the numbers at its axes."""
    lit = cells = drawn = 0
    for entry, (name, shape, places) in enumerate(bad):
        height, width, (rows, _, columns, _), groups = maps(shape, places)
        found = browser.evaluate(
            f"document.querySelectorAll('details')[{entry}].querySelectorAll('.map').length"
        )
        expect(found == len(groups), f"{name}: {found} maps instead of {len(groups)}")
        for group, counts in enumerate(groups):
            drawing = browser.evaluate(CELLS % (height, width, entry, group))
            expect(drawing["down"] == drawing["across"] >= 3, f"{name}: {drawing['down']}")
            ends = {str(rows - 1), str(columns - 1)}
            expect(ends <= set(drawing["texts"]), f"{name}: {ends} not in {drawing['texts']}")
            for index, shades in enumerate(drawing["cells"]):
                row, column = divmod(index, width)
                expect(len(shades) == 1, f"{name}: {row}, {column} has {shades}")
                is_lit = shades != ["d0"]
                is_bad = counts[row][column] > 0
                expect(is_lit == is_bad, f"{name}: cell {row}, {column} of map {group}: {shades}")
                lit += is_lit
                cells += 1
            drawn += 1
    print(f"{drawn} maps of {len(bad)} tensors: {cells} cells, {lit} lit, all as planted")


# The map as a file of its own: with the colours of the page, on the background of the page.
PICTURE = """(svg => {
  const margin = 12, [width, height] = ["width", "height"].map(name => +svg.getAttribute(name));
  const copy = svg.cloneNode(true);
  copy.querySelector(".at").remove();
  const originals = svg.querySelectorAll("text, path, .frame");
  copy.querySelectorAll("text, path, .frame").forEach((element, index) => {
    const style = getComputedStyle(originals[index]);
    element.removeAttribute("class");
    for (const name of ["fill", "stroke"]) {
      if (style[name] !== "none" || name === "fill") element.setAttribute(name, style[name]);
    }
  });
  const back = getComputedStyle(document.body).backgroundColor;
  const [w, h] = [width + 2 * margin, height + 2 * margin];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" ` +
    `viewBox="${-margin} ${-margin} ${w} ${h}" font-family="monospace" font-size="11">\\n` +
    `<rect x="${-margin}" y="${-margin}" width="${w}" height="${h}" rx="8" fill="${back}"/>\\n` +
    [...copy.children].map(child => child.outerHTML.replace(/ xmlns="[^"]*"/, "")).join("\\n") +
    "\\n</svg>\\n";
})(document.querySelector(".map svg"))"""


def check_few(browser, program, folder, shots):
    """A page of few bad tensors is open. The map of one is the picture of checker/README.md."""
    bad = {(137, column) for column in range(512)}
    bad |= {(row, column) for row in range(200, 245) for column in range(256, 320)}
    random.seed(38)
    bad |= {(random.randrange(300), random.randrange(384, 512)) for _ in range(60)}
    planted = [("model.layers.7.mlp.down_proj.weight", (300, 512), sorted(bad))]
    write(folder / "few.safetensors", planted)
    page = folder / "few.html"
    subprocess.run([program, "check", "-q", "--html", page, folder / "few.safetensors"])
    browser.open(f"file://{page}")
    check_maps(browser, planted)
    browser.screenshots(shots, "few")
    picture = browser.evaluate(PICTURE)
    if shots:
        (shots / "map.svg").write_text(picture)
    kept = ROOT / "checker/docs/map.svg"
    is_kept = kept.is_file() and kept.read_text() == picture
    written = "checker/docs/map.svg is not the map of the page: `checker/web/test PROGRAM FOLDER`"
    expect(is_kept, f"{written} writes it")
    print("a page of few tensors is open; checker/docs/map.svg is its map")


def check_lint(browser, program, folder, shots):
    """The table of `lint --html` has each planted fault in its layer, and leads to the finding."""
    faults = {(layer, "scale-zero") for layer in (2, 10)} | {(7, "scale-negative")}
    faults |= {(layer, "orphan-scale") for layer in (2, None)}
    tensors = []
    for layer in range(12):
        for name in (f"model.layers.{layer}.mlp.up_proj", f"model.layers.{layer}.mlp.down_proj"):
            bad = {(layer, "scale-zero"): 0.0, (layer, "scale-negative"): -1.0}
            scales = [value for fault, value in bad.items() if fault in faults] or [0.5]
            tensors.append((f"{name}.weight", "F8_E4M3", [4, 32], b"\x38" * 128))
            tensors.append((f"{name}.weight_scale", "F32", [], floats(scales[0])))
    amax = "model.layers.2.mlp.up_proj.weight_quantizer._amax"
    tensors += [(name, "F32", [1], bytes(4)) for name in (amax, f"{HOSTILE}._double_scale")]
    safetensors(folder / "lint.safetensors", tensors)
    page = folder / "lint.html"
    run = subprocess.run([program, "lint", "-q", "--html", page, folder / "lint.safetensors"])
    expect(run.returncode == 1, f"exit status {run.returncode}")
    browser.open(f"file://{page}")
    cells = browser.evaluate(
        "[...document.querySelector('.matrix').tBodies[0].rows].flatMap(row =>"
        " [...row.querySelectorAll('td a')].map(a => {"
        "  let column = 0, cell = a.parentElement;"
        "  while (cell = cell.previousElementSibling) column += cell.colSpan;"
        "  const head = document.querySelector('.matrix').tHead.rows[0].cells[column];"
        "  const found = document.querySelector(a.getAttribute('href'));"
        "  return [head.textContent, row.cells[0].textContent, a.textContent,"
        "   found.querySelectorAll('b')[1].textContent]; }))"
    )
    # The first number in HOSTILE.
    expected = {("1" if layer is None else str(layer), rule) for layer, rule in faults}
    shown = {(head, rule) for head, rule, _, _ in cells}
    expect(shown == expected, f"lint: {shown} instead of {expected}")
    for head, rule, count, name in cells:
        expect(int(count) == (1 if rule == "orphan-scale" else 2), f"lint: {rule} {head}: {count}")
        part = "hit=1" if head == "1" else f"layers.{head}."
        expect(part in name, f"lint: {rule} {head} leads to {name}")
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = false)")
    browser.evaluate("document.querySelector('td.b a').focus()")
    browser.key("Enter", 13, "\r")
    browser.evaluate("new Promise(resolve => setTimeout(resolve, 200))")
    target = browser.evaluate(
        "[document.activeElement.id, document.activeElement.closest('details').open]"
    )
    expect(target == ["f0", True], f"lint: a cell leads to {target}")
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    hit = browser.evaluate("[typeof hit, document.images.length, document.scripts.length]")
    expect(hit == ["undefined", 0, 1], f"lint: names became elements: {hit}")
    browser.screenshots(shots, "lint")
    logged, loaded = browser.complaints()
    expect(not logged and loaded == [f"file://{page}"], f"lint: {logged}, {loaded}")
    print(f"lint: {len(cells)} cells, each leads to its finding")


def words(steps, counts, row, column):
    rows, row_step, columns, column_step = steps

    def span(at, step, extent):
        first, last = at * step, min(at * step + step, extent) - 1
        return (str(first) if first == last else f"{first}-{last}"), last - first + 1

    row_text, down = span(row, row_step, rows)
    column_text, across = span(column, column_step, columns)
    return f"row {row_text}, column {column_text}: {counts[row][column]} of {down * across} bad"


def check_readouts(browser, bad):
    """Coordinates under the pointer and by the keyboard."""
    entry = [name for name, _, _ in bad].index("scattered")
    _, shape, places = bad[entry]
    height, width, steps, (counts,) = maps(shape, places)
    place = f"document.querySelectorAll('details')[{entry}].querySelector('.map')"
    output = f"document.querySelectorAll('details')[{entry}].querySelector('output').textContent"
    lit = [(row, column) for row in range(height) for column in range(width) if counts[row][column]]
    most = max(lit, key=lambda at: counts[at[0]][at[1]])
    # The last cells of a row and of a column are shorter.
    for row, column in ((0, 0), lit[0], lit[-1], most, (height - 1, width - 1), (height - 1, 3)):
        at = browser.evaluate(
            f"(m => {{ m.scrollIntoView();"
            f" const r = m.querySelector('.frame').getBoundingClientRect();"
            f" return [r.x + ({column} + .5) * r.width / {width},"
            f" r.y + ({row} + .5) * r.height / {height}]; }})({place})"
        )
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
        shown = browser.evaluate(output)
        expect(shown == words(steps, counts, row, column), f"pointer at {row}, {column}: {shown}")
    browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
    browser.evaluate(f"{place}.focus()")
    right = ("ArrowRight", 39)
    for key, code in (("Home", 36), ("PageUp", 33), ("ArrowDown", 40), right, right):
        browser.key(key, code)
    shown = browser.evaluate(output)
    expect(shown == words(steps, counts, 1, 2), f"keyboard: {shown}")
    for _ in range(3):
        browser.key("ArrowUp", 38)
    browser.key("End", 35)
    shown = browser.evaluate(output)
    expect(shown == words(steps, counts, 0, width - 1), f"keyboard: {shown}")
    print("coordinates: pointer and keyboard")


def check_overview(browser, bad):
    """Each bad tensor of the overview leads to its entry, by the keyboard."""
    cells = browser.evaluate(
        "[...document.querySelectorAll('td.b a')].map(a => [a.textContent, a.getAttribute('href'),"
        " document.querySelector(a.getAttribute('href') + ' b').textContent])"
    )
    names = sorted(name for _, _, name in cells)
    expected = sorted(name.replace("\u202e", "\\u{202e}") for name, _, _ in bad)
    expect(names == expected, f"overview: {names} instead of {expected}")
    expect(all(text == "1" for text, _, _ in cells), f"overview: {cells}")
    clean = browser.evaluate(
        "[...document.querySelectorAll('td')].filter(td => td.textContent.trim() === '.').length"
    )
    expect(clean == 36 - 4 + 1, f"overview: {clean} clean cells")
    browser.evaluate("document.querySelector('td.b a').focus()")
    browser.key("Enter", 13, "\r")
    browser.evaluate("new Promise(resolve => setTimeout(resolve, 200))")
    target = browser.evaluate(
        "(t => [t.open, t.contains(document.activeElement)])"
        "(document.querySelector(document.querySelector('td.b a').getAttribute('href')))"
    )
    expect(target == [True, True], f"a link of the overview leads to {target}")
    # Tab goes on to the map of the entry.
    browser.key("Tab", 9)
    focused = browser.evaluate("document.activeElement.className")
    expect(focused == "map", f"Tab leads to {focused}")
    print(f"overview: {len(cells)} bad, {clean} clean, links by keyboard")


def check(browser, program, folder, shots):
    planted = tensors()
    bad = [tensor for tensor in planted if tensor[2]]
    write(folder / "model.safetensors", planted)
    page = folder / "page.html"
    run = subprocess.run([program, "check", "-q", "--html", page, folder / "model.safetensors"])
    expect(run.returncode == 1, f"exit status {run.returncode}")
    browser.open(f"file://{page}")
    check_overview(browser, bad)
    browser.screenshots(shots, "overview")
    browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    browser.evaluate("new Promise(resolve => setTimeout(resolve, 500))")
    check_maps(browser, bad)
    check_readouts(browser, bad)
    browser.screenshots(shots, "maps")
    hit = browser.evaluate("[typeof hit, document.images.length, document.scripts.length]")
    expect(hit == ["undefined", 0, 1], f"names became elements: {hit}")
    logged, loaded = browser.complaints()
    expect(not logged, f"the browser complains: {logged}")
    expect(loaded == [f"file://{page}"], f"loaded {loaded}")
    # A policy that lets other scripts run would be none.
    page.write_text(page.read_text() + "<script>document.title = 'ran'</script>")
    browser.open(f"file://{page}")
    title = browser.evaluate("document.title")
    logged, _ = browser.complaints()
    expect(title != "ran" and logged, f"another script ran: {title}, {logged}")
    print("policy: nothing loaded, names stay text, another script does not run")
    check_few(browser, program, folder, shots)
    check_lint(browser, program, folder, shots)
