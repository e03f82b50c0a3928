"""Many mutants in one file, of which a number picks one at run time: `(if crate::mutant(7) { broken } else { whole })`.

The innermost expression or statement around a mutation is wrapped. Where the compiler refuses that (`levels` counts how often it
did), it is the next one around it. What is evaluated at compile time cannot be switched and is built alone.
"""

import re

from edits import parse

EXPRESSIONS = {
    "binary_expression", "unary_expression", "call_expression", "macro_invocation", "integer_literal", "boolean_literal",
    "array_expression", "parenthesized_expression", "tuple_expression", "type_cast_expression", "compound_assignment_expr",
    "assignment_expression", "if_expression", "match_expression", "struct_expression", "try_expression", "return_expression",
    "reference_expression", "range_expression", "for_expression", "while_expression", "expression_statement",
}  # fmt: skip
# Evaluated by the compiler, or no expression at all.
FIXED = {
    "const_item", "static_item", "const_block", "type_arguments", "array_type", "attribute_item", "const_parameter",
    "enum_variant", "match_pattern", "tuple_pattern", "tuple_struct_pattern", "range_pattern", "slice_pattern", "or_pattern",
    "captured_pattern", "struct_pattern", "macro_definition", "token_tree", "bracketed_type", "function_type",
}  # fmt: skip
# A row of `operations!`: a method and the intrinsic that it calls, or an expression.
CALL = re.compile(r"(\w+) = (\w+\s*(?:::<[^>]*>)?)\s*\(([^)]*)\) -> ([^;]+);")
CLOSURE = re.compile(r"\w+ = \|[^|]*\|(?: -> [^{]*\{)? *([^;]*[^;\s}])")


class Site:
    """`text[lo:hi]`, and what stands there in each mutant."""

    def __init__(self, lo, hi, kind):
        self.lo, self.hi, self.kind = lo, hi, kind
        self.alternatives, self.children = [], []


def candidates(text, root, mutant):
    """The places that may be wrapped for a mutant, innermost first."""
    if mutant.begin == mutant.end:
        node = root.descendant_for_byte_range(mutant.begin - 1, mutant.begin)
        while node.type != "function_item":
            node = node.parent
        if not is_const(text, node):
            yield mutant.begin, mutant.end, "answer"
        return
    node = root.named_descendant_for_byte_range(mutant.begin, mutant.end)
    found, inside = [], False
    while node is not None:
        if node.type == "function_item":
            inside = not is_const(text, node)
            break
        if node.type == "closure_expression":
            inside = True
            break
        if node.type in FIXED:
            found.clear()
            if node.type == "token_tree":
                yield from row(text, node, mutant)
        elif node.type in EXPRESSIONS:
            place = kind_of(text, node)
            if place and not (found and found[-1][:2] == (node.start_byte, node.end_byte)):
                found.append((node.start_byte, node.end_byte, place))
        node = node.parent
    if inside:
        yield from found


def is_const(text, function):
    head = text[function.start_byte : function.child_by_field_name("name").start_byte]
    return re.search(r"\bconst\b", head) is not None


def kind_of(text, node):
    """How a node can be wrapped: as a statement, an expression, or (None) not at all."""
    parent = node.parent
    if node.type == "expression_statement":
        return "bare" if text[node.end_byte - 1] == ";" else None
    if node.type == "unary_expression" and text[node.start_byte] == "*":
        return None
    if parent.type == "else_clause":
        return None
    if parent.type in ("assignment_expression", "compound_assignment_expr") and same(parent.child_by_field_name("left"), node):
        return None
    if parent.type == "let_condition" and not same(parent.child_by_field_name("value"), node):
        return None
    if parent.type == "let_declaration" and not same(parent.child_by_field_name("value"), node):
        return None
    if parent.type in ("block", "expression_statement"):
        return "bare"
    return "expression"


def same(a, b):
    return a is not None and (a.start_byte, a.end_byte) == (b.start_byte, b.end_byte)


def row(text, tree, mutant):
    """The row of `operations!` around a mutation."""
    macro = tree.parent
    if macro is None or macro.type != "macro_invocation" or not text.startswith("operations!", macro.start_byte):
        return
    for pattern, kind in ((CALL, "row"), (CLOSURE, "expression")):
        for match in pattern.finditer(text, tree.start_byte, tree.end_byte):
            lo, hi = match.span() if kind == "row" else match.span(1)
            if lo <= mutant.begin and mutant.end <= hi:
                yield lo, hi, kind
                return


class Schema:
    """A file with mutants in it, and where in it each of them stands."""

    def __init__(self, text, chosen, owner=None):
        """`chosen`: (number, mutant, place) each; `owner`: the type with `operations!`."""
        self.text, self.owner = text, owner
        self.pieces, self.at, self.regions, self.rows = [], 0, [], []
        sites = {}
        for number, mutant, place in chosen:
            site = sites.setdefault(place, Site(*place))
            broken = mutant.new if place[2] == "answer" else text[site.lo : mutant.begin] + mutant.new + text[mutant.end : site.hi]
            site.alternatives.append((number, broken))
        top, stack = [], []
        order = {"bare": 1, "row": 1, "expression": 2, "answer": 3}
        for site in sorted(sites.values(), key=lambda s: (s.lo, -s.hi, order[s.kind])):
            while stack and stack[-1].hi <= site.lo:
                stack.pop()
            (stack[-1].children if stack else top).append(site)
            stack.append(site)
        self.render(0, len(text), top)
        for site in self.rows:
            self.method(site)
        self.out = "".join(self.pieces)

    def emit(self, piece):
        self.pieces.append(piece)
        self.at += len(piece)

    def render(self, lo, hi, sites):
        for site in sites:
            self.emit(self.text[lo : site.lo])
            self.site(site)
            lo = site.hi
        self.emit(self.text[lo:hi])

    def site(self, site):
        begin = self.at
        if site.kind == "row":
            self.rows.append(site)
        elif site.kind == "answer":
            for number, broken in site.alternatives:
                self.branch(number, broken)
        else:
            self.emit("(" if site.kind == "expression" else "")
            for number, broken in site.alternatives:
                self.branch(number, broken)
                self.emit(" else ")
            self.emit("{ ")
            self.render(site.lo, site.hi, site.children)
            self.emit(" })" if site.kind == "expression" else " }")
        self.regions.append((begin, self.at, [number for number, _ in site.alternatives], False))

    def branch(self, number, broken):
        self.emit(f"if crate::mutant({number}) {{ ")
        begin = self.at
        self.emit(broken)
        self.regions.append((begin, self.at, [number], True))
        # A comment must not take the brace along.
        self.emit("\n}")

    def method(self, site):
        begin = self.at
        name, call, parameters, returns = CALL.fullmatch(self.text[site.lo : site.hi]).groups()
        names = ", ".join(part.split(":")[0].strip() for part in parameters.split(","))
        self.emit(f"\nimpl {self.owner} {{ #[inline(always)] fn {name}(self, {parameters}) -> {returns} {{ unsafe {{ ")
        for number, broken in site.alternatives:
            match = CALL.fullmatch(broken)
            self.branch(number, f"{match.group(2)}({names})")
            self.emit(" else ")
        self.emit(f"{{ {call}({names}) }} }} }} }}")
        self.regions.append((begin, self.at, [number for number, _ in site.alternatives], False))

    def calling(self, name, value):
        """The mutants that call an intrinsic with an immediate."""
        for begin, end, numbers, broken in self.regions:
            found = re.findall(rf"\b{name}\s*::<(\w+)>", self.out[begin:end]) if broken else []
            if value in [int(text, 0) for text in found if text[0].isdigit()]:
                yield from numbers

    def at_offset(self, offset):
        """The mutants that a place in the output belongs to, and whether it is in the broken text of one."""
        around = [region for region in self.regions if region[0] <= offset <= region[1]]
        if not around:
            return [], False
        region = min(around, key=lambda region: region[1] - region[0])
        return region[2], region[3]


def span(node):
    return node.start_byte, node.end_byte
