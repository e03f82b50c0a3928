"""Reads the rules that `cargo test --lib format::tests::rules -- --show-output` prints and proves, over all bit patterns:

- for every IEEE-like format, each rule and its opposite hold exactly where IEEE 754 (as z3's theory of floating-point
  numbers has it) says so;
- what a kernel looks for first, the screen, holds wherever the rule does;
- a rule of which a kernel compares the top 16 bits only depends on no other bit;
- the three classes of a census, which come from the rule for NaN, are NaN, +Inf and -Inf.

The formats that are not IEEE-like have 256 codes each, which the path tests try.
"""
import re
import sys
import time

import z3

# Exponent bits, and bits of the significand with the hidden one: IEEE 754-2019 table 3.5, and the formats' definitions.
IEEE = {"f16": (5, 11), "bf16": (8, 8), "f32": (8, 24), "f64": (11, 53),
        "f8e5m2": (5, 3), "f8e4m3": (4, 4), "f8e3m4": (3, 5)}

DEFINITION = {
    "Nan": z3.fpIsNaN,
    "Inf": z3.fpIsInf,
    "PositiveInf": lambda x: z3.And(z3.fpIsInf(x), z3.fpIsPositive(x)),
    "NegativeInf": lambda x: z3.And(z3.fpIsInf(x), z3.fpIsNegative(x)),
    "Finite": lambda x: z3.Not(z3.Or(z3.fpIsNaN(x), z3.fpIsInf(x))),
    "NonFinite": lambda x: z3.Or(z3.fpIsNaN(x), z3.fpIsInf(x)),
}

LINE = re.compile(r"(rule|opposite) (\w+) (\w+) Test\(Test \{ mask: (\d+), bound: (\d+), screen: (\d+), "
                  r"width: (\w+), operation: (\w+), negate: (\w+), .*\}\)")
WIDTHS = {"One": 8, "Two": 16, "Four": 32, "Eight": 64}


class Rule:
    def __init__(self, match):
        _, self.format, self.predicate, mask, bound, screen, width, self.operation, negate = match.groups()
        self.width, self.negate = WIDTHS[width], negate == "true"
        assert negate in ("true", "false")
        # Of mask and bound the low bits count, as `Lane::truncate` has it.
        low = (1 << self.width) - 1
        self.mask, self.bound, self.screen = (int(number) & low for number in (mask, bound, screen))
        self.screened = int(screen) != 0

    def positive(self, bits):
        masked = bits & self.mask
        if self.operation == "Greater":
            return masked > self.bound  # signed in z3
        assert self.operation in ("Ones", "Equal"), self.operation
        return masked == self.bound

    def holds(self, bits):
        return z3.Not(self.positive(bits)) if self.negate else self.positive(bits)


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
        example = f"at {solver.model().eval(bits, True).as_long():#x}" if answer == z3.sat else str(answer)
        print(f"NOT PROVED: {text}: {example}")


def main():
    begin = time.monotonic()
    claims, seen = Claims(), set()
    for match in filter(None, map(LINE.match, sys.stdin)):
        rule, kind = Rule(match), match[1]
        if rule.format not in IEEE:
            continue
        name = f"{kind} {rule.format} {rule.predicate}"
        seen.add((kind, rule.format, rule.predicate))
        bits = z3.BitVec("bits", rule.width)
        sort = z3.FPSort(*IEEE[rule.format])
        assert sum(IEEE[rule.format]) == rule.width
        right = DEFINITION[rule.predicate](z3.fpBVToFP(bits, sort))
        right = z3.Not(right) if kind == "opposite" else right
        claims.prove(rule.holds(bits) == right, name, bits)
        if rule.screened:
            claims.prove(z3.Implies(rule.positive(bits), bits & rule.screen == rule.screen), f"{name}: screen", bits)
        for looked_at in {rule.screen if rule.screened else 0, rule.mask if rule.operation == "Ones" else 0} - {0}:
            if rule.width > 16:
                low = z3.BitVecVal((1 << rule.width - 16) - 1, rule.width)
                same = (bits | low) & looked_at == bits & looked_at
                claims.prove(same, f"{name}: top 16 bits of {looked_at:#x}", bits)
        if kind == "rule" and rule.predicate == "Nan":
            special, nan = bits & rule.bound == rule.bound, rule.positive(bits)
            positive = bits == rule.bound
            negative = z3.And(special, z3.Not(nan), z3.Not(positive))
            number = z3.fpBVToFP(bits, sort)
            claims.prove(z3.Implies(nan, special), f"{name}: census sees it", bits)
            for got, predicate in ((positive, "PositiveInf"), (negative, "NegativeInf")):
                claims.prove(got == DEFINITION[predicate](number), f"{name}: census {predicate}", bits)
    expected = {(kind, form, predicate) for kind in ("rule", "opposite") for form in IEEE for predicate in DEFINITION}
    for missing in sorted(expected - seen):
        print("NOT FOUND in what the crate prints:", *missing)
    # That z3 can refuse: a rule that takes infinity for a number is none.
    bits = z3.BitVec("bits", 32)
    control = z3.Solver()
    control.add(z3.Not((bits & 0x7FFFFFFF >= 0x7F800000) == z3.fpIsNaN(z3.fpBVToFP(bits, z3.FPSort(8, 24)))))
    refuses = control.check() == z3.sat
    print(f"{claims.proved} claims proved, {claims.failed} not, about {len(seen)} rules of {len(IEEE)} formats, "
          f"by z3 {z3.get_version_string()} in {time.monotonic() - begin:.0f} s")
    sys.exit(0 if refuses and claims.failed == 0 and seen == expected else 1)


main()
