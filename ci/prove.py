"""Reads the rules that `cargo test --lib format::tests::rules -- --show-output` prints, and proves
over all bit patterns:

- for every IEEE-like format, each rule and its opposite hold exactly where IEEE 754 (as z3's theory
  of floating-point numbers has it) says so;
- what a search looks for first, the screen, passes wherever there is a hit; so do its upper 32
  bits (x86, of 64) and its top 16 (NEON), which are all that is looked at there; a screen that
  counts as exact passes nowhere else;
- a rule of which a mask compares the top 16 bits only depends on no other bit;
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
    "Never": lambda x: z3.BoolVal(False),
    "NanOrPositiveInf": lambda x: z3.Or(z3.fpIsNaN(x), z3.And(z3.fpIsInf(x), z3.fpIsPositive(x))),
}

# What the test prints: `rule f32 Nan Rule { width: 4, mask: 0x7fffffff, .. }`.
LINE = re.compile(r"(rule|opposite) (\w+) (\w+) Rule \{(.*)\}")


def signed(bits, width):
    return bits - (1 << width) if bits >> width - 1 else bits


class Rule:
    """A rule, and what `kernels/src/rule.rs` derived from it. All numbers are unsigned."""

    def __init__(self, match):
        self.kind, self.format, self.predicate, text = match.groups()
        fields = dict(re.findall(r"(\w+): (\w+|\[.*\])", text))
        self.width = 8 * int(fields["width"])
        self.mask, self.flip, self.limit = (int(fields[n], 16) for n in ("mask", "flip", "limit"))
        self.screen = [int(number, 16) for number in fields["screen"][1:-1].split(",")]
        self.tilted, self.opposite, self.ones, self.exact = (
            fields[n] == "true" for n in ("tilted", "opposite", "ones", "exact")
        )
        self.sign, self.all = 1 << self.width - 1, (1 << self.width) - 1
        self.max = self.sign - 1
        # Shifts out the bits that a mask or NEON does not read.
        self.below_top = max(self.width - 16, 0)

    def hit(self, bits):
        tilt = z3.If(bits < 0, z3.BitVecVal(1, self.width), 0) if self.tilted else 0
        return (bits & self.mask) - tilt ^ self.flip > self.limit  # signed in z3

    def holds(self, bits):
        return z3.Not(self.hit(bits)) if self.opposite else self.hit(bits)

    def answers(self, bits):
        """What masks and bits compare: the order turned around for the opposite."""
        tilt = z3.If(bits < 0, z3.BitVecVal(1, self.width), 0) if self.tilted else 0
        flip, limit = self.flip, self.limit
        if self.opposite:
            flip, limit = flip ^ self.all, (limit ^ self.all) - 1 & self.all
        return (bits & self.mask) - tilt ^ flip > limit

    def screens(self, bits):
        """The screen and its forms in backends: a name, and where it passes."""
        mask, flip, limit = self.screen
        yield "screen", bits & mask ^ flip > limit
        least = limit + 1
        if self.width == 64:
            yield "screen of the upper 32 bits", upper(bits & mask, 32) >= signed(least >> 32, 32)
        if self.width > 8:
            top = upper(bits & mask, 16)
            yield "screen of the top 16 bits", top >= signed(least >> self.below_top, 16)

    def exponent(self):
        """Of the rule for NaN of an IEEE format."""
        lowest = self.limit & -self.limit
        run = 0 < self.limit <= self.max and self.limit + lowest == self.sign and lowest > 2
        plain = self.flip == 0 and not self.tilted and not self.opposite
        return self.limit if plain and self.mask == self.max and run else None


def upper(bits, n):
    return z3.Extract(bits.size() - 1, bits.size() - n, bits)


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
        claims.prove(rule.answers(bits) == right, f"{name}: as masks compare", bits)
        if rule.mask == 0:
            continue  # the same answer for all: given above the loops
        # An element of zeros passes no screen: the screen would be of no use.
        zero = z3.BitVecVal(0, rule.width)
        for screen, passes in rule.screens(bits):
            claims.prove(z3.Implies(rule.hit(bits), passes), f"{name}: {screen}", bits)
            useful = z3.Not(z3.substitute(passes, (bits, zero)))
            claims.prove(useful, f"{name}: {screen}, zero", bits)
            # Of four bytes, AArch64 calls only rules for ones exact.
            top = screen.endswith("16 bits") and rule.width == 32
            if rule.exact and (rule.ones or not top):
                claims.prove(z3.Implies(passes, rule.hit(bits)), f"{name}: exact {screen}", bits)
        finite = rule.predicate == "Finite"
        few = z3.BoolVal(rule.opposite == (finite != (kind == "opposite")))
        claims.prove(few, f"{name}: hits are few", bits)
        if rule.ones:
            # Compares the bits that the top lacks, in 16-bit lanes that saturate from bit 15 on.
            top = rule.mask >> rule.below_top
            lacks = ~z3.Extract(rule.width - 1, rule.below_top, bits) & top
            claims.prove(rule.hit(bits) == (lacks == 0), f"{name}: top 16 bits", bits)
            claims.prove(lacks & 1 << lacks.size() - 1 == 0, f"{name}: no sign", bits)
        ieee = kind == "rule" and rule.predicate == "Nan"
        exponent = rule.exponent()
        claims.prove(z3.BoolVal((exponent is not None) == ieee), f"{name}: ieee", bits)
        if exponent is not None:
            for predicate, got in (
                ("Inf", bits & rule.mask == exponent),
                ("PositiveInf", bits == exponent),
                ("NegativeInf", bits == exponent | sign),
                ("NonFinite", bits & exponent > exponent - 1),
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
