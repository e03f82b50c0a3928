"""What is broken: all ways to break a file, one place at a time."""

import re
import zlib
from dataclasses import dataclass, field

import tree_sitter
import tree_sitter_rust

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))

SWAPS = {
    "==": ["!="],
    "!=": ["=="],
    "<": ["<=", ">"],
    ">": [">=", "<"],
    "<=": ["<"],
    ">=": [">"],
    "+": ["-"],
    "-": ["+"],
    "*": ["+"],
    "/": ["*"],
    "%": ["/"],
    "<<": [">>"],
    ">>": ["<<"],
    "&": ["|"],
    "|": ["&"],
    "^": ["&"],
    "&&": ["||"],
    "||": ["&&"],
    "+=": ["-="],
    "-=": ["+="],
    "|=": ["&="],
    "&=": ["|="],
}
OPERATOR = re.compile(r"(?<=\s)(" + "|".join(sorted(map(re.escape, SWAPS), key=len, reverse=True)) + r")(?=\s)")
# An intrinsic, and one of the same signature that does something else.
INTRINSICS = [
    ("cmpeq_", "cmpgt_"), ("cmpgt_", "cmpeq_"), ("cmpneq_", "cmpeq_"), ("cmpeq_", "cmpneq_"), ("cmple_", "cmplt_"),
    ("cmpgt_", "cmpge_"), ("_min_epu", "_max_epu"), ("_max_epu", "_min_epu"), ("_max_epu", "_max_epi"),
    ("_min_epi", "_max_epi"), ("_max_epi", "_min_epi"), ("_min_epu", "_min_epi"), ("_and_si", "_or_si"),
    ("_or_si", "_and_si"), ("_andnot_si", "_and_si"), ("packus_", "packs_"), ("packs_", "packus_"), ("_subs_epu", "_adds_epu"),
    ("_sub_epi", "_add_epi"), ("_add_epi", "_sub_epi"), ("testz_", "testc_"), ("testc_", "testz_"), ("test_epi", "testn_epi"),
    ("testn_epi", "test_epi"), ("vceqq_", "vcgtq_"), ("vcgtq_", "vceqq_"), ("vcgtq_", "vcgeq_"), ("vminq_", "vmaxq_"),
    ("vmaxq_", "vminq_"), ("vandq_", "vorrq_"), ("vorrq_", "vandq_"), ("vbicq_", "vandq_"), ("vuzp1q_", "vuzp2q_"),
    ("vuzp2q_", "vuzp1q_"), ("vqmovn", "vmovn"), ("vaddq_", "vsubq_"), ("vsubq_", "vaddq_"), ("vqsubq_", "vsubq_"),
    ("vtstq_", "vceqq_"), ("vmvnq_", "vnegq_"), ("vmaxvq_", "vminvq_"), ("vminvq_", "vmaxvq_"), ("vpaddq_", "vaddq_"),
]  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])(0x[0-9A-F_]+|0b[01_]+|\d[\d_]*)(?![\w.]|\.\d)")
ARRAY = re.compile(r"\[((?:\s*-?\d+\s*,\s*){3,}-?\d+\s*)(,?\s*)\]")
DROP_MASK = re.compile(r"\b(?:isa|self)\.(?:and|not_and)\(((?:[^(),]|\([^()]*(?:\([^()]*\)[^()]*)*\))+), with\.(?:mask|top)\)")
NOT = re.compile(r"(?<![\w#])!(?=[A-Za-z_(])")
BOOL = re.compile(r"\b(true|false)\b")
STATEMENT = re.compile(r"^\s+(?!let |return )[a-z][\w.:<>, ]*\(.*\);$")
# What a function may answer instead, by the type that it returns.
ANSWERS = [
    (re.compile(r"bool"), ["true", "false"]),
    (re.compile(r"[ui](8|16|32|64|128|size)"), ["0", "1"]),
    (re.compile(r"Option<.*>", re.S), ["None"]),
    (re.compile(r"(fmt::)?Result(<\(\), .*>)?", re.S), ["Ok(())"]),
    (re.compile(r"&('\w+ )?str"), ['""']),
    (re.compile(r"(Census|Class|Self::Output)"), ["Default::default()"]),
]


@dataclass(frozen=True)
class Mutant:
    """`text[begin:end]` of a file becomes `new`. The fields of the key stay the same while other lines come and go."""

    group: str = field(compare=False)
    file: str
    scope: str
    line: str
    column: int
    what: str
    nth: int
    begin: int = field(compare=False)
    end: int = field(compare=False)
    new: str = field(compare=False)
    number: int = field(compare=False)

    @property
    def key(self):
        return self.file, self.scope, self.line, str(self.column), self.what, str(self.nth)

    @property
    def checksum(self):
        """Orders and samples mutants, whatever stands beside them."""
        return zlib.crc32("\t".join(self.key).encode())

    def __str__(self):
        return f"{self.file}:{self.number}:{self.column} {self.what}"


def read(path):
    """Text in which an index is an offset in bytes."""
    return path.read_bytes().decode("latin-1")


def write(path, text):
    data = text.encode("latin-1")
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def parse(text):
    return PARSER.parse(text.encode("latin-1")).root_node


def code_of(text):
    """The text with comments, strings, attributes, imports and assertions blanked, so that offsets stay."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())  # noqa: E731
    text = re.sub(r"//[^\n]*", blank, text)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', blank, text)
    text = re.sub(r"#!?\[[^\n]*\]", blank, text)
    text = re.sub(r"^(?:pub )?use [^;]*;", blank, text, flags=re.M)
    text = re.sub(r"\b(?:debug_)?assert(?:_eq|_ne)?!\([^\n]*;", blank, text)
    return re.sub(r"^(?:mod tests \{|#\[cfg\(test\)\]).*", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M | re.S)


def numbers(text):
    """Constants: every bit of a mask flipped, other numbers one more and one less."""
    value = int(text.replace("_", ""), 0)
    if text.startswith("0x") and value:
        digits = len(text.replace("_", "")) - 2
        return [f"0x{value ^ 1 << bit:X}" for bit in range(4 * digits)]
    if text.startswith("0b"):
        digits = len(text.replace("_", "")) - 2
        return [f"0b{value ^ 1 << bit:b}" for bit in range(digits)]
    return [str(value + 1)] + ([str(value - 1)] if value else [])


def edits(text, root):
    """All ways to break a file: (begin, end, replacement, what)."""
    code = code_of(text)
    arrays = []
    for match in ARRAY.finditer(code):
        arrays.append(match.span())
        entries = list(re.finditer(r"-?\d+", match.group(1)))
        for a, b in zip(entries, entries[1:]):
            base = match.start(1)
            if a.group() != b.group():
                swapped = b.group() + match.group(1)[a.end() : b.start()] + a.group()
                yield base + a.start(), base + b.end(), swapped, "lanes swapped"
    for match in OPERATOR.finditer(code):
        for other in SWAPS[match.group()]:
            yield *match.span(), other, f"{match.group()} to {other}"
    for match in NUMBER.finditer(code):
        if any(begin <= match.start() < end for begin, end in arrays):
            continue
        # Widths of registers and lanes in types: they only fail to compile.
        if code[match.end() :].lstrip().startswith("]") and code[: match.start()].rstrip().endswith(";"):
            continue
        for other in numbers(match.group()):
            yield *match.span(), other, f"{match.group()} to {other}"
    for match in DROP_MASK.finditer(code):
        yield *match.span(), text[match.start(1) : match.end(1)], "mask dropped"
    for match in NOT.finditer(code):
        yield *match.span(), "", "! dropped"
    for match in BOOL.finditer(code):
        other = "false" if match.group() == "true" else "true"
        yield *match.span(), other, f"{match.group()} to {other}"
    for old, new in INTRINSICS:
        for match in re.finditer(re.escape(old), code):
            yield *match.span(), new, f"{old} to {new}"
    at = 0
    for line in code.split("\n"):
        if STATEMENT.match(line):
            begin = at + len(line) - len(line.lstrip())
            yield begin, at + len(line), ";", "statement dropped"
        at += len(line) + 1
    yield from answers(code, text, root)


def answers(code, text, root):
    """Functions that answer at once, whatever they are asked."""
    for node in walk(root):
        body = node.child_by_field_name("body") if node.type == "function_item" else None
        if body is None or not code[body.start_byte : body.end_byte].strip(" {}\n"):
            continue
        returns = node.child_by_field_name("return_type")
        if returns is None:
            choices = [""]
        else:
            kind = text[returns.start_byte : returns.end_byte]
            choices = next((choices for pattern, choices in ANSWERS if pattern.fullmatch(kind)), [])
        for answer in choices:
            here = body.start_byte + 1
            yield here, here, f" return {answer};".replace(" ;", ";"), f"answers {answer or 'at once'}"


def walk(node):
    yield node
    for child in node.named_children:
        yield from walk(child)


def in_type(root, begin, end):
    """Whether a place belongs to a type or a bound: to break it is for the compiler to notice."""
    node = root.named_descendant_for_byte_range(begin, end)
    while node is not None and node.type not in ("block", "token_tree"):
        if node.type in ("trait_bounds", "generic_type", "where_clause", "const_parameter", "bounded_type", "function_signature_item"):
            return True
        node = node.parent
    return False


def scope_of(root, offset, text):
    """The items around an offset, as they are headed."""
    names, node = [], root
    while node is not None:
        if node.type in ("function_item", "impl_item", "trait_item", "mod_item", "macro_definition"):
            body = node.child_by_field_name("body")
            head = text[node.start_byte : body.start_byte] if body else text[node.start_byte : node.end_byte]
            if node.type == "function_item":
                names.append("fn " + text[slice(*name_of(node))])
            elif node.type == "impl_item":
                names.append(" ".join(head.split()))
        node = next((c for c in node.named_children if c.start_byte <= offset < c.end_byte), None)
    return " / ".join(names)


def name_of(node):
    name = node.child_by_field_name("name")
    return name.start_byte, name.end_byte


def mutant_at(group, file, root, text, seen, edit):
    """`seen` counts the keys of the file."""
    begin, end, new, what = edit
    start = text.rfind("\n", 0, begin) + 1
    line = text[start : text.find("\n", begin)].strip()
    column = begin - start - (len(text[start:]) - len(text[start:].lstrip(" ")))
    key = (scope_of(root, begin, text), line.encode("latin-1").decode(), column, what)
    nth = seen[key] = seen.get(key, -1) + 1
    return Mutant(group, file, *key, nth, begin, end, new, text.count("\n", 0, begin) + 1)


def mutants_of(group, file, text):
    root, seen, found = parse(text), {}, []
    for begin, end, new, what in sorted(set(edits(text, root))):
        if begin < end and in_type(root, begin, end):
            continue
        found.append(mutant_at(group, file, root, text, seen, (begin, end, new, what)))
    return found
