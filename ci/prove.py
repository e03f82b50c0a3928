"""Reads the rules that `cargo test --lib format::tests::rules -- --show-output` prints, and proves
over all bit patterns:

- for every IEEE-like format, each rule and its opposite hold exactly where IEEE 754 (as z3's theory
  of floating-point numbers has it) says so;
- what a kernel looks for first, the screen, holds wherever the rule does; so do its upper 32 bits
  (AVX2, of 64) and its top 16 (NEON, of 32 and 64), which are all that is looked at there;
- a rule of which a kernel compares the top 16 bits only depends on no other bit;
- the classes of a census, which come from the rule for NaN, are NaN, infinities and -Inf.

The formats that are not IEEE-like have 256 codes each, which the tests of the backends try.
"""

import re
import sys
import time

import z3

# Exponent bits, and bits of the significand with the hidden one: IEEE 754-2019 table 3.5, and the
# definitions of the formats.
IEEE = {
    "f16": (5, 11),
    "bf16": (8, 8),
    "f32": (8, 24),
    "f64": (11, 53),
    "f8e5m2": (5, 3),
    "f8e4m3": (4, 4),
    "f8e3m4": (3, 5),
}

DEFINITION = {
    "Nan": z3.fpIsNaN,
    "Inf": z3.fpIsInf,
    "PositiveInf": lambda x: z3.And(z3.fpIsInf(x), z3.fpIsPositive(x)),
    "NegativeInf": lambda x: z3.And(z3.fpIsInf(x), z3.fpIsNegative(x)),
    "Finite": lambda x: z3.Not(z3.Or(z3.fpIsNaN(x), z3.fpIsInf(x))),
    "NonFinite": lambda x: z3.Or(z3.fpIsNaN(x), z3.fpIsInf(x)),
    "NanOrPositiveInf": lambda x: z3.Or(z3.fpIsNaN(x), z3.And(z3.fpIsInf(x), z3.fpIsPositive(x))),
}

# What the test prints: `rule f32 Nan Comparison(Comparison { mask: 2147483647, .. })`, or
# `Either` with the comparison for NaN. The fields are read by their names, in any order.
LINE = re.compile(r"(rule|opposite) (\w+) (\w+) (Comparison|Either)\(\w+ \{(.*)\}\)")


class Rule:
    def __init__(self, match):
        self.kind, self.format, self.predicate, variant, fields = match.groups()
        # Two comparisons. Each is proved as the rule of another predicate.
        self.either = variant == "Either"
        fields = dict(re.findall(r"(\w+): (\w+)", fields))
        self.width = 8 * int(fields["width"])
        self.mask, self.bound = (int(fields[name]) for name in ("mask", "bound"))
        self.usual = int(fields["usual"])
        self.operation, self.screened = fields["operation"], fields["screens"]
        self.negate = fields["negate"] == "true"
        # As `Comparison::is_ieee` has it.
        self.ieee = fields["ieee"] == "true" and not self.negate
        # Shifts out the bits that a kernel does not read.
        self.below_top = max(self.width - 16, 0)

    def positive(self, bits):
        masked = bits & self.mask
        if self.operation == "Greater":
            return masked > self.bound  # signed in z3
        assert self.operation in ("Ones", "Equal"), self.operation
        return masked == self.bound

    def holds(self, bits):
        if self.either:
            either = z3.Or(self.positive(bits), bits == self.bound)
            return z3.Not(either) if self.negate else either
        return z3.Not(self.positive(bits)) if self.negate else self.positive(bits)

    def screens(self, bits):
        """The screen and its forms in kernels: a name, and the condition for a possible hit."""
        # As `Comparison::screen` makes them.
        if self.screened == "Flipped":
            assert self.width == 8
            yield "screen", bits ^ (~self.bound & 0xFF) == 0xFF
        elif self.screened in ("Above", "Ones"):
            above = self.screened == "Above"
            ones = self.bound & ~(1 << self.width - 1)
            mask, least = (self.mask, self.bound + 1) if above else (ones, ones)
            yield "screen", reaches(bits & mask, least)
            if self.width == 64:
                yield "screen of the upper 32 bits", reaches(z3.LShR(bits & mask, 32), least >> 32)
            if self.width > 16:
                top = z3.LShR(bits & mask, self.below_top)
                yield "screen of the top 16 bits", reaches(top, least >> self.below_top)
        else:
            assert self.screened == "Never", self.screened


def reaches(masked, least):
    # A screen that all elements pass is right, and of no use: zero must not pass.
    return z3.And(z3.UGE(masked, least), least > 0)


class Claims:
    def __init__(self):
        self.proved, self.failed = 0, 0

    def prove(self, claim, text, bits):
        solver = z3.Solver()
        solver.add(z3.Not(claim))
        answer = solver.check()
        if answer == z3.unsat:
            self.proved += 1
            return
        self.failed += 1
        example = (
            f"at {solver.model().eval(bits, True).as_long():#x}"
            if answer == z3.sat
            else str(answer)
        )
        print(f"NOT PROVED: {text}: {example}")


def main():
    begin = time.monotonic()
    claims, seen = Claims(), set()
    for match in filter(None, map(LINE.match, sys.stdin)):
        rule = Rule(match)
        kind, sign = rule.kind, 1 << rule.width - 1
        if rule.format not in IEEE:
            continue
        name = f"{kind} {rule.format} {rule.predicate}"
        seen.add((kind, rule.format, rule.predicate))
        bits = z3.BitVec("bits", rule.width)
        number = z3.fpBVToFP(bits, z3.FPSort(*IEEE[rule.format]))
        assert sum(IEEE[rule.format]) == rule.width
        right = DEFINITION[rule.predicate](number)
        right = z3.Not(right) if kind == "opposite" else right
        claims.prove(rule.holds(bits) == right, name, bits)
        if rule.either:
            continue
        for screen, may_hit in rule.screens(bits):
            claims.prove(z3.Implies(rule.positive(bits), may_hit), f"{name}: {screen}", bits)
        claims.prove(z3.BoolVal(rule.usual == rule.negate), f"{name}: answers", bits)
        if rule.operation == "Ones":
            # Compares the bits that the top lacks, in 16-bit lanes that saturate from bit 15 on.
            top = rule.mask >> rule.below_top
            lacks = ~z3.Extract(rule.width - 1, rule.below_top, bits) & top
            claims.prove(rule.positive(bits) == (lacks == 0), f"{name}: top 16 bits", bits)
            claims.prove(lacks & 1 << lacks.size() - 1 == 0, f"{name}: no sign", bits)
        ieee = kind == "rule" and rule.predicate == "Nan"
        claims.prove(z3.BoolVal(rule.ieee == ieee), f"{name}: ieee", bits)
        if rule.ieee:
            nan, special = rule.positive(bits), bits & rule.bound == rule.bound
            claims.prove(z3.BoolVal(rule.mask + 1 == sign), f"{name}: census' sign", bits)
            for predicate, got in (
                ("Inf", bits & rule.mask == rule.bound),
                ("Inf", z3.And(special, z3.Not(nan))),
                ("PositiveInf", bits == rule.bound),
                ("NegativeInf", bits == rule.bound | sign),
                ("NonFinite", special),
                ("NonFinite", reaches(bits & rule.bound, rule.bound)),
            ):
                claims.prove(
                    got == DEFINITION[predicate](number), f"{name}: census {predicate}", bits
                )
    expected = {
        (kind, form, predicate)
        for kind in ("rule", "opposite")
        for form in IEEE
        for predicate in DEFINITION
    }
    for missing in sorted(expected - seen):
        print("NOT FOUND in what the crate prints:", *missing)
    # That z3 can refuse: a rule that takes infinity for a number is none.
    bits = z3.BitVec("bits", 32)
    control = z3.Solver()
    control.add(
        z3.Not((bits & 0x7FFFFFFF >= 0x7F800000) == z3.fpIsNaN(z3.fpBVToFP(bits, z3.FPSort(8, 24))))
    )
    refuses = control.check() == z3.sat
    seconds = time.monotonic() - begin
    print(
        f"{claims.proved} claims proved, {claims.failed} not, about {len(seen)} rules of "
        f"{len(IEEE)} formats, by z3 {z3.get_version_string()} in {seconds:.0f} s"
    )
    sys.exit(0 if refuses and claims.failed == 0 and seen == expected else 1)


main()
