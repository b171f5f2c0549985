"""The score of kernel mutants: by family of ops and by the check that rejects them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from mutant import Mutant

CHECKS = ("classes", "bound", "bias", "spread", "exact", "guard", "bits")
USUAL_NMSE = 5e-4
FAMILIES = (
    ("attention", r"attn_"), ("linear", r"linear_"), ("gemm, gemv over blocks", r"gem[mv]_q"), ("gemm, matvec", r"gemm_|matvec_"),
    ("encode, quantize", r"encode_|quantize_"), ("decode", r"decode_"), ("pack, unpack", r"(un)?pack_"), ("kv", r"kv_"),
    ("rope", r"rope"), ("convert, embed, copy", r"convert_|embed_|logits_"), ("norm, softmax, swiglu, exp, add, argmax", r""),
)


def family(op: str) -> str:
    """The line of the table that an op is counted in."""
    return next(name for name, pattern in FAMILIES if re.match(pattern, op))


@dataclass
class Form:
    """One variant of one op, mutated, and what became of it."""

    mutant: Mutant
    op: str
    isa: str
    key: str
    same_code: bool = False
    failures: list[dict] = field(default_factory=list)
    nmse: float = 0.0
    all_close: bool = True

    def take(self, verdict: dict) -> None:
        """What tests/mutant_judge printed, or an earlier run kept."""
        self.same_code = verdict.get("same_code", False)
        self.failures = list(verdict["failures"])
        if verdict["ended"]:
            self.failures.append({"case": "", "check": "guard", "message": "the process ended by " + verdict["ended"]})
        self.nmse = float(verdict["nmse"])
        self.all_close = verdict["all_close"]

    def kept(self) -> dict:
        """What take() reads."""
        return {"same_code": self.same_code, "failures": self.failures[:3], "ended": "", "nmse": self.nmse,
                "all_close": self.all_close}

    def checks(self) -> set[str]:
        """The checks that reject it, in any case."""
        return {failure["check"] for failure in self.failures}

    def first(self) -> str:
        """The one that a verdict would name: the first in its order."""
        return next((check for check in CHECKS if check in self.checks()), "")

    def equivalent(self) -> str | None:
        """The reason why nothing can reject it, where the catalogue has one."""
        return self.mutant.reason(self.op, self.isa)

    def order(self) -> bool:
        """Whether only bits need see it."""
        return self.mutant.only_rounds(self.op)

    def counts(self) -> bool:
        """Whether it is a mutant of this op at all, and not one that is listed as equivalent."""
        return not self.same_code and self.equivalent() is None

    def survived(self) -> bool:
        """Whether it lives though it should not."""
        return self.counts() and not self.checks()

    def nmse_passes(self) -> bool:
        """What a test by normalised mean squared error would say."""
        return self.nmse < USUAL_NMSE

    def json(self) -> dict:
        """For programs."""
        return {"mutant": self.mutant.name, "kind": self.mutant.kind, "op": self.op, "isa": self.isa, "order": self.order(),
                "same_code": self.same_code, "equivalent": self.equivalent(), **{"checks": sorted(self.checks())},
                "first": self.first(), "failures": self.failures[:3], "nmse": self.nmse, "all_close": self.all_close}


def all_variants(forms: list[Form]) -> dict[tuple[str, str], list[Form]]:
    """Mutant and op to its forms: with all of them mutated at once, the spread has nothing to compare with."""
    found: dict[tuple[str, str], list[Form]] = {}
    for form in forms:
        if form.counts():
            found.setdefault((form.mutant.name, form.op), []).append(form)
    return found


def lives_everywhere(forms: list[Form]) -> bool:
    """Whether a bench on which every variant has the same defect would pass."""
    return not any(form.checks() - {"spread"} for form in forms)


def table(rows: list[tuple[str, list[Form]]], head: str, tolerances: bool = True) -> list[str]:
    """Lines: mutants, forms, by check, survivors, what tolerances let through."""
    names = [head, "mutants", "forms", *CHECKS, "survive", *(("NMSE", "allclose") if tolerances else ())]
    lines = []
    for name, forms in rows:
        first = Counter(form.first() for form in forms)
        lines.append([name, len({(f.mutant.name, f.op) for f in forms}), len(forms), *(first[c] or "" for c in CHECKS), first[""] or ""])
        if tolerances:
            lines[-1] += [sum(f.nmse_passes() for f in forms) or "", sum(f.all_close for f in forms) or ""]
    widths = [max(len(str(line[i])) for line in [names, *lines]) for i in range(len(names))]
    return ["  ".join(str(cell).ljust(w) if i == 0 else str(cell).rjust(w) for i, (cell, w) in enumerate(zip(line, widths)))
            for line in [names, *lines]]


def grouped(forms: list[Form], key) -> list[tuple[str, list[Form]]]:
    """Forms by key, then all of them."""
    groups: dict[str, list[Form]] = {}
    for form in sorted(forms, key=lambda f: key(f)[0]):
        groups.setdefault(key(form)[1], []).append(form)
    return [*groups.items(), ("all", forms)]


def kind_key(form: Form) -> tuple[tuple[int, str], str]:
    """Rows of docs/defects.md first, by number."""
    number = re.match(r"defect (\d+)", form.mutant.kind)
    return ((int(number[1]) if number else 100, form.mutant.kind), form.mutant.kind)


def report(forms: list[Form], every_op: bool) -> int:
    """Prints the score; the exit code. An edit that changes nothing is only known for one where every op was tried."""
    judged = [f for f in forms if f.counts()]
    values, order = [f for f in judged if not f.order() and not f.mutant.by_class], [f for f in judged if f.order()]
    classes = [f for f in judged if f.mutant.by_class and not f.order()]
    names = [name for name, _ in FAMILIES]
    if values:
        print("\n".join(table(grouped(values, lambda f: (names.index(family(f.op)), family(f.op))), "ops")) + "\n")
        print("\n".join(table(grouped(values, kind_key), "kind")) + "\n")
    if classes:
        print("By class; judged up to the first case that rejects:")
        print("\n".join(table(grouped(classes, kind_key), "class", tolerances=False)) + "\n")
    if order:
        print("Only the order of rounding changes, so bits must see it:")
        print("\n".join(table(grouped(order, kind_key), "kind")) + "\n")
    equivalent = sorted({(f.mutant.name, f.equivalent() or "") for f in forms if not f.same_code and f.equivalent()})
    for name, why in equivalent:
        where = sorted({f"{f.op}:{f.isa}" for f in forms if f.mutant.name == name and f.equivalent() == why and not f.same_code})
        print(f"equivalent  {name}: {why} ({len(where)} forms: {', '.join(where[:4])}{' ...' if len(where) > 4 else ''})")
        for form in forms:
            if form.mutant.name == name and form.equivalent() == why and form.checks():
                print(f"NOT EQUIVALENT  {name}, {form.op} {form.isa}: {form.failures[0]['check']}: {form.failures[0]['message']}")
    survivors = [f for f in judged if f.survived()]
    everywhere = [key for key, own in all_variants(values + classes).items() if lives_everywhere(own)]
    unused = sorted({f.mutant.name for f in forms if not f.mutant.by_class} - {f.mutant.name for f in forms if not f.same_code}) if every_op else []
    for form in survivors:
        print(f"SURVIVES  {form.mutant.name} ({form.mutant.kind}), {form.op} {form.isa}: {form.mutant.what}")
    for name, op in everywhere:
        if not any(f.mutant.name == name and f.op == op for f in survivors):
            print(f"SURVIVES with all variants alike  {name}, {op}")
    for name in unused:
        print(f"CHANGES NOTHING  {name}: the machine code of every kernel it concerns is as before")
    pairs = all_variants(judged)
    lost = {(f.mutant.name, f.op) for f in survivors} | set(everywhere)
    print(f"{len({f.mutant.name for f in judged})} edits, {len({f.op for f in judged})} ops: {len(pairs) - len(lost)} of {len(pairs)} "
          f"mutants rejected, {len(judged) - len(survivors)} of {len(judged)} one-variant forms")
    print(f"alone, NMSE < {USUAL_NMSE:g} would have let {sum(f.nmse_passes() for f in values)} of {len(values)} forms pass, "
          f"allclose(1e-3) {sum(f.all_close for f in values)}")
    return 1 if survivors or everywhere or unused or not judged else 0
