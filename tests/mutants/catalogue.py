"""Kernel mutants: the edits of tests/mutants/kernels/*.toml, and translation units that hold many mutants side by side.

A mutant is edits of files under kernels/, or a function around a kernel. Edits concern each op and ISA whose kernels/<family>/kernels.cc
includes an edited file. Such a source is written out for the op's row alone, with its includes, once for each mutant, each copy in a namespace
of its own and with its function renamed, after one copy of the C headers, which cost the most to compile. The shipped sources are never touched.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from dataclasses import dataclass, field

from edits import ROOT, Edit, EntryError, edits_of, read_folder, text_of

QUOTED = re.compile(r'^#\s*include\s*"([^"]+)"')
# #include ASSAY_HEADER(formats, ASSAY_PASTE(bytes_, ASSAY_ISA)): kernels/formats/bytes_<isa>.h.
HEADER = re.compile(r"^#\s*include\s+ASSAY_HEADER\((\w+), (?:ASSAY_PASTE\((\w+), (\w+)\)|(\w+))\)")
SYSTEM = re.compile(r"^\s*#\s*include\s*(<[^>]+>)", re.MULTILINE)
# What is linear's own: the rest is that of quantize, gemv and gemm, and mutated there.
COMPOSITION = frozenset({"kernels/products/linear.h"})
FIELDS = {"ops", "isas", "wrap", "needs", "but", "order", "equivalent", "quick"}  # beside those of every mutant


@dataclass
class Mutant:
    """What an entry of the catalogue says."""

    name: str
    kind: str  # "defect 22", or of the systematic ones a word such as "tail"
    what: str
    edits: list[Edit]
    wrap: str = ""  # instead of edits: what a function of `a`, a copy of the arguments, does with `kernel`, which takes &a
    needs: list[str] = field(default_factory=list)  # of a wrap: fields that the op's arguments must have
    ops: list[str] = field(default_factory=lambda: ["*"])  # shell patterns
    but: list[str] = field(default_factory=list)  # ops that it is not tried on, though the file is included
    isas: list[str] = field(default_factory=lambda: ["*"])
    order: list[str] = field(default_factory=list)  # ops (patterns) where only roundings change, inside the bound: bits must see it
    equivalent: dict[str, str] = field(default_factory=dict)  # "op:isa" as shell pattern to the reason why nothing can see it
    quick: list[str] = field(default_factory=list)  # the ops that it is tried on in a quick run

    def only_rounds(self, op: str) -> bool:
        """Whether it is one that equality of bits is there for."""
        return any(fnmatch.fnmatch(op, pattern) for pattern in self.order)

    def reason(self, op: str, isa: str) -> str | None:
        """Why nothing can tell it from the kernel there; None if something must."""
        return next((why for pattern, why in self.equivalent.items() if fnmatch.fnmatch(f"{op}:{isa}", pattern)), None)


def make_mutant(entry: dict) -> Mutant:
    """Checks one entry."""
    edits = edits_of(entry, FIELDS)
    if bool(edits) == ("wrap" in entry):
        raise EntryError("expected edits, or wrap")
    return Mutant(entry["name"], entry["kind"], entry["what"], edits, **{key: entry[key] for key in FIELDS & set(entry)})


def read_catalogue() -> list[Mutant]:
    """Every mutant, in the order of the files."""
    return read_folder("kernels", make_mutant)


@dataclass(frozen=True)
class Op:
    """A row of kernels/<family>/ops.inc, and what the group above it says."""

    name: str
    family: str
    arguments: str  # the struct
    isas: tuple[str, ...]
    row: str


@functools.cache
def isas() -> dict[str, list[str]]:
    """The ISAs of kernels/isa.inc to their compile flags, those of what they include first."""
    found: dict[str, list[str]] = {}
    for line in text_of("kernels/isa.inc").splitlines():
        if line.startswith("ASSAY_ISA("):
            name, _, parent = re.findall(r"\w+", line)[1:4]
            found[name] = [*found.get(parent, []), *line.rsplit('"', 2)[1].split()]
    return found


@functools.cache
def ops() -> dict[str, Op]:
    """Every op by its name."""
    found: dict[str, Op] = {}
    for path in sorted((ROOT / "kernels").glob("*/ops.inc")):
        for line in path.read_text().splitlines():
            if group := re.fullmatch(r"ASSAY_GROUP\(\w+, (\w+), ([\w ]+)\)", line):
                arguments, group_isas = group[1], tuple(isa for isa in isas() if isa in group[2].split())
            elif row := re.match(r"ASSAY_OP\((\w+)", line):
                found[row[1]] = Op(row[1], path.parent.name, arguments, group_isas, line)
    return dict(sorted(found.items()))


def source_of(op: str) -> str:
    """What its kernels are compiled from."""
    return f"kernels/{ops()[op].family}/kernels.cc"


def included(line: str, isa: str) -> str | None:
    """The project's file that a line includes, for this ISA."""
    if quoted := QUOTED.match(line):
        return quoted[1]
    if header := HEADER.match(line):
        name = header[4] or header[2] + header[3]
        return f"kernels/{header[1]}/{name.replace('ASSAY_ISA', isa)}.h"
    return None


@functools.cache
def includes(name: str, isa: str) -> frozenset[str]:
    """The project's files that this one includes, itself among them."""
    found = {name}
    for line in text_of(name).splitlines():
        if (target := included(line, isa)) and target not in found:
            found |= includes(target, isa)
    return frozenset(found)


@functools.cache
def argument_fields(op: str) -> frozenset[str]:
    """The members of an op's argument struct."""
    name, family = ops()[op].arguments, ops()[op].family
    struct = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", text_of(f"kernels/{family}/{family}.h"), re.DOTALL)
    if not struct:
        raise SystemExit(f"kernels/{family}/{family}.h: no struct {name}")
    return frozenset(re.findall(r"(\w+)(?:\[\d+\])?;", struct[1]))


def variants(runs: frozenset[str]) -> dict[str, list[str]]:
    """Op to those of its ISAs that this CPU runs, scalar first."""
    return {op.name: [isa for isa in op.isas if isa in runs] for op in ops().values()}


def concerns(mutant: Mutant, op: str, isa: str) -> bool:
    """Whether the mutant edits something that this variant includes, and is meant for it."""
    if not any(fnmatch.fnmatch(op, pattern) for pattern in mutant.ops) or any(fnmatch.fnmatch(op, p) for p in mutant.but):
        return False
    if not any(fnmatch.fnmatch(isa, pattern) for pattern in mutant.isas):
        return False
    if mutant.wrap:
        return set(mutant.needs) <= argument_fields(op)
    files = COMPOSITION if op.startswith("linear_") else includes(source_of(op), isa)
    return not files.isdisjoint(edit.file for edit in mutant.edits)


def expand(name: str, op: str, isa: str, edits: list[Edit], seen: set[str]) -> str:
    """A file with its includes in place, headers once; system headers are left to the head of the unit, and of the rows stands the op's."""
    if name in seen:
        return ""
    text = text_of(name)
    if "#pragma once" in text:
        seen.add(name)
    for edit in edits:
        if edit.file == name:
            text = text.replace(edit.find, edit.replace)
    out = [f'#line 1 "{name}"']
    for number, line in enumerate(text.split("\n"), start=1):
        if target := included(line, isa):
            out += [expand(target, op, isa, edits, seen), f'#line {number + 1} "{name}"']
        elif line == "#include ASSAY_ROWS":
            out.append(ops()[op].row)
        elif SYSTEM.match(line) or line.startswith("#pragma once"):
            out.append("")
        else:
            out.append(line)
    return "\n".join(out)


def space(number: int) -> str:
    """The namespace of a mutant; 0 is the kernel as it is."""
    return f"mutant_{number:04}"


def symbol(op: str, isa: str, number: int) -> str:
    """The name of its function."""
    return f"{op}_{isa}__{space(number)}"


def wrapper(op: str, isa: str, number: int, body: str) -> str:
    """A function around the kernel as it is, which it calls through memory, so that the compiler moves nothing across."""
    kernel = f"{space(0)}::assay::{symbol(op, isa, 0)}"
    return f"""namespace {space(number)} {{
using namespace {space(0)}::assay;
template <class A> A argument_of(AssayStatus (*)(const A*) noexcept);
using Args = decltype(argument_of(&{kernel}));
template <class A> void* out(A& a) {{
  if constexpr (requires {{ a.y; }}) return a.y;
  else if constexpr (requires {{ a.dst; }}) return a.dst;
  else if constexpr (requires {{ a.index; }}) return a.index;
  else if constexpr (requires {{ a.cos; }}) return a.cos;
  else return a.data;
}}
static AssayStatus (*volatile kernel)(const Args*) noexcept = {kernel};
extern "C" AssayStatus {symbol(op, isa, number)}(const Args* args) noexcept {{
  Args a = *args;
  {body}
}}
}}"""


# Another kernel that this one calls: AssayStatus ASSAY_PASTE(quantize_q8_0_, ASSAY_QUANTIZER_ISA)(const CodecArgs* args) noexcept;
DECLARED = re.compile(r"^(AssayStatus ASSAY_PASTE\((\w+_), (\w+)\)\(const \w+\* args\) noexcept);", re.MULTILINE)


def composed(text: str, isa: str, number: int) -> str:
    """Such kernels are C functions: here under names of this namespace, because two may not declare them differently."""
    names: set[str] = set()

    def declared(found: re.Match[str]) -> str:
        macro = re.search(rf"^#define {found[3]} (?!ASSAY_ISA)(\w+)", text, re.MULTILINE)
        names.add(name := found[2] + (macro[1] if macro else isa))
        return f'{found[1]} __asm__("{name}");'

    text = DECLARED.sub(declared, text)
    defines = "".join(f"#define {name} {name}__{space(number)}\n" for name in sorted(names))
    return defines + text + "".join(f"\n#undef {name}" for name in sorted(names))


def unit(op: str, isa: str, mutants: list[Mutant]) -> str:
    """The translation unit of one variant: the kernel as it is, then each of its mutants."""
    source = source_of(op)
    system = sorted({header for name in includes(source, isa) for header in SYSTEM.findall(text_of(name))})
    out = [f"#include {header}" for header in ["<string.h>", "<xmmintrin.h>", *system]] + [f"#define ASSAY_ISA {isa}", "#define ASSAY_ROWS"]
    for number, mutant in enumerate([None, *mutants]):
        if mutant and mutant.wrap:
            out.append(wrapper(op, isa, number, mutant.wrap))
            continue
        edits = mutant.edits if mutant else []
        out += [
            f"#define {op}_{isa} {symbol(op, isa, number)}",
            f"namespace {space(number)} {{",
            composed(expand(source, op, isa, edits, set()), isa, number),
            "}",
            f"#undef {op}_{isa}",
            "#undef ASSAY_OP",
        ]
    return "\n".join(out) + "\n"
