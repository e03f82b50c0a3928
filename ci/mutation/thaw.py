"""What the compiler evaluates becomes something evaluated at run time, where a mutant can be switched: in the copy `const fn`
becomes `fn`, some constants become functions, and the tables of formats and rules become statics computed when first asked for.
"""

import re

from edits import parse, walk

# Read at run time only: no length of an array, no pattern.
FUNCTIONS = {
    "NON_FINITE", "REBIAS", "LEAST_NORMAL", "TOO_LARGE", "AFTER_HIT", "AFTER_HITS", "ALIGN_FROM", "PARTS", "BLEND_TO_SEARCH",
    "SCREENS_BITS", "UNKNOWN", "INTEL", "AMD", "INSTRUCTIONS", "LEAST", "STREAMS", "RUN", "ALL",
    "AT_ONCE", "SET",
}  # fmt: skip
# Of these a reference is wanted that lives for ever.
LEAKED = {"NON_FINITE"}
# Called in the constants of another file.
CONST = {("kernels/src/strided/block.rs", "new")}
STATICS = {"TABLE", "RULES", "OPPOSITES"}
ROWS = re.compile(r"^    Row\(\w+::(\w+),", re.M)
NAME = re.compile(r"\b(" + "|".join(sorted(FUNCTIONS)) + r")\b(?!\()")


def span(node):
    return node.start_byte, node.end_byte


def evaluated(text, root):
    """The functions that constants call which stay constants: these stay `const` too."""
    names = set()
    for node in walk(root):
        value = node.child_by_field_name("value") if node.type in ("const_item", "static_item") else None
        if value and text[slice(*span(node.child_by_field_name("name")))] not in FUNCTIONS | STATICS:
            names |= set(re.findall(r"\b(\w+)(?:::<[^;()]*>)?\(", text[slice(*span(value))]))
    return names


def splices(file, text):
    """(begin, end, new) each, in order, none within another."""
    root = parse(text)
    called = evaluated(text, root) if file.startswith("kernels/") else set()
    constant_functions = file == "kernels/src/rule.rs" or file.startswith("src/")
    found, taken = [], []
    for node in walk(root):
        if node.type == "const_item":
            name = text[slice(*span(node.child_by_field_name("name")))]
            kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
            if name in FUNCTIONS and file.startswith("kernels/"):
                word = text.index("const ", node.start_byte)
                head = "#[inline(always)] #[allow(non_snake_case)] " if value else ""
                found.append((node.start_byte, node.start_byte, head))
                leaks = name in LEAKED
                found.append((word, kind.start_byte, f"fn {name}() -> {'&' + chr(39) + 'static ' if leaks else ''}"))
                if value:
                    found.append((kind.end_byte, value.start_byte, " { std::boxed::Box::leak(std::boxed::Box::new(" if leaks else " { "))
                    found.append((node.end_byte - 1, node.end_byte, ")) }" if leaks else " }"))
                taken.append((node.start_byte, (value or kind).start_byte))
            elif constant_functions and name in STATICS:
                begin = value.start_byte + (text[value.start_byte] == "&")
                kind = text[slice(*span(kind))].removeprefix("&")
                found.append((node.start_byte, begin, f"static {name}: std::sync::LazyLock<{kind}> = std::sync::LazyLock::new(|| "))
                found.append((node.end_byte - 1, node.end_byte, ");"))
            elif constant_functions and name == "ALL" and "TABLE" in text[slice(*span(value))] and (formats := ROWS.findall(text)):
                found.append((*span(kind), f"[Self; {len(formats)}]"))
                found.append((*span(value), f"[{', '.join('Self::' + name for name in formats)}]"))
                taken.append(span(node))
        elif node.type == "const_block":
            word = text.index("const ", node.start_byte)
            # What an array repeats need not be `Copy` only if it is constant.
            if file.startswith("kernels/") and node.parent.type != "array_expression":
                found.append((word, word + len("const "), ""))
        elif node.type == "use_declaration":
            taken.append(span(node))
        elif node.type == "line_comment":
            taken.append(span(node))
        elif node.type == "function_item" and (constant_functions or file.startswith("kernels/") and file != "kernels/src/rule.rs"):
            name = text[slice(*span(node.child_by_field_name("name")))]
            if name in called or (file, name) in CONST:
                continue
            match = re.compile(r"\bconst ").search(text, *span(node)[:1], node.child_by_field_name("name").start_byte)
            if match:
                found.append((*match.span(), ""))
    if constant_functions and (formats := ROWS.findall(text)):
        found += [(*m.span(), str(len(formats))) for m in re.finditer(r"\bTABLE\.len\(\)", text)]
    if constant_functions:
        found += [(*m.span(), "") for m in re.finditer(r"const _: \(\) = assert!\([^;]*;|assert!\(size_of::<\$[^;]*;", text)]
    if file.startswith("kernels/"):
        found += [(m.end(), m.end(), "()") for m in NAME.finditer(text)]
        found += [(*m.span(), "") for m in re.finditer(rf"&(?=\w+::({'|'.join(LEAKED)})\b)", text)]
    inside = lambda at: any(begin < at < end for begin, end in taken)  # noqa: E731
    whole = [s for s in found if s[:2] in {t for t in taken}] + [s for s in found if s[2] != "()" and not s[2].isdigit()]
    return sorted({*(s for s in found if not inside(s[0])), *(s for s in whole)})


class Thawed:
    """A text with the splices made."""

    def __init__(self, file, text):
        self.splices = splices(file, text)
        pieces, at = [], 0
        for begin, end, new in self.splices:
            pieces += [text[at:begin], new]
            at = end
        self.text = "".join([*pieces, text[at:]])
        self.root = parse(self.text)

    def moved(self, begin, end):
        """Where a stretch of the text is now; None if some of it was replaced."""
        shift = 0
        for low, high, new in self.splices:
            if high <= begin:
                shift += len(new) - (high - low)
            elif low < end:
                return None
        return begin + shift, end + shift
