"""Mutants of the bench: the edits of tests/mutants/bench/*.toml, all in one build, each behind a switch that is thrown at run time.

An edit replaces an expression, a statement if it ends in `;` or `}`, or what a declaration begins with; the copy has both, and takes the mutant's
where the environment variable ASSAY_MUTANT names it. What is neither (a constant, a loop's head) is written out: in `replace`, MUTANT stands for the condition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from edits import Edit, EntryError, edits_of, read_folder, text_of

SWITCH = "tests/mutants/bench_switch.h"
# FNV-1a, so that the number of a mutant does not depend on the others: one that comes new makes no other file compile again.
HEADER = """#pragma once
#include <cstdint>
#include <cstdlib>
namespace assay_mutant {
inline std::uint64_t number_of(const char* name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (; name != nullptr && *name != 0; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3u;
  return hash;
}
inline const std::uint64_t planted = number_of(std::getenv("ASSAY_MUTANT"));
}
"""


@dataclass(frozen=True)
class BenchMutant:
    """What an entry of the catalogue says."""

    name: str
    kind: str
    what: str
    edits: list[Edit]
    tests: list[str]  # of ctest, shell patterns: those that are meant to see it
    equivalent: str = ""  # why nothing can see it
    lives: str = ""  # why nothing does


def make_mutant(entry: dict) -> BenchMutant:
    """Checks one entry."""
    edits = edits_of(entry, {"tests", "equivalent", "lives"})
    if not edits or not entry.get("tests"):
        raise EntryError("expected edits and tests")
    for edit in edits:
        if edit.find.rstrip().endswith("{") and "MUTANT" not in edit.replace:
            raise EntryError(f"'{edit.find.strip()}' is the head of a block; expected MUTANT in what replaces it")
    return BenchMutant(entry["name"], entry["kind"], entry["what"], edits, entry["tests"], entry.get("equivalent", ""), entry.get("lives", ""))


def read_catalogue() -> list[BenchMutant]:
    """Every mutant, in the order of the files."""
    return read_folder("bench", make_mutant)


def condition(name: str) -> str:
    """True in the run that has this mutant."""
    number = 0xCBF29CE484222325
    for byte in name.encode():
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return f"(assay_mutant::planted == {number:#x}u)"


def switched(name: str, edit: Edit, body: str) -> str:
    """Both texts, and what chooses. `body` is the edit's own stretch, in which others may be planted already."""
    chosen = condition(name)
    if "MUTANT" in edit.replace:
        if body != edit.find and "ORIGINAL" not in edit.replace:
            raise SystemExit(f"{name}: another mutant edits within\n{edit.find}")
        return edit.replace.replace("MUTANT", chosen).replace("ORIGINAL", body)
    declared = re.match(r"(?:const )?[\w:<>*& ]+ \*?\w+ = ", edit.find)
    if declared and edit.find.endswith(";") and edit.replace.startswith(declared[0]):
        left = declared[0]
        return f"{left}{chosen} ? ({edit.replace[len(left) : -1]}) : ({body[len(left) : -1]});"
    if edit.find.rstrip().endswith((";", "}")):
        return f"if {chosen} {{ {edit.replace} }} else {{ {body} }}"
    return f"({chosen} ? ({edit.replace}) : ({body}))"


@dataclass(frozen=True)
class Stretch:
    """Where an edit lies in its file."""

    begin: int
    end: int
    name: str
    edit: Edit


def planted(text: str, begin: int, end: int, stretches: list[Stretch]) -> str:
    """text[begin:end] with all that lies within it; one may lie in another, or be another's own."""
    out, at = [], begin
    rest = sorted(stretches, key=lambda s: (s.begin, -s.end))
    while rest:
        first = rest[0]
        same = [s for s in rest if (s.begin, s.end) == (first.begin, first.end)]
        inner = [s for s in rest if s not in same and s.begin < first.end]
        for stretch in inner:
            if stretch.end > first.end:
                raise SystemExit(f"{first.name} and {stretch.name} edit texts that overlap")
        body = planted(text, first.begin, first.end, inner)
        for stretch in same:
            body = switched(stretch.name, stretch.edit, body)
        out += [text[at : first.begin], body]
        at = first.end
        rest = [s for s in rest if s not in same and s not in inner]
    return "".join(out) + text[at:end]


def with_mutants(mutants: list[BenchMutant]) -> dict[str, str]:
    """The text of every file that is edited, with the mutants in it, and that of the switch."""
    stretches: dict[str, list[Stretch]] = {}
    for mutant in mutants:
        for edit in mutant.edits:
            text = text_of(edit.file)
            begin = text.index(edit.find)
            before = text[text.rfind("\n", 0, begin) + 1 : begin].rstrip()
            if before.endswith((")", "else")) and edit.find.rstrip().endswith(";") and edit.find.count(";") > 1:
                raise SystemExit(f"{mutant.name}: the first of its statements belongs to '{before.lstrip()}', the others do not")
            stretches.setdefault(edit.file, []).append(Stretch(begin, begin + len(edit.find), mutant.name, edit))
    files = {SWITCH: HEADER}
    for name, own in stretches.items():
        text = text_of(name)
        body = planted(text, 0, len(text), own)
        pragma = "#pragma once\n"
        include = f'#include "{SWITCH}"\n'
        files[name] = body.replace(pragma, pragma + include, 1) if pragma in body else include + body
    return files
