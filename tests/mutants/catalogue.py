"""Kernel mutants: the edits of tests/mutants/kernels/*.toml, and translation units that hold many mutants side by side.

A mutant is edits of files under kernels/, or a function around a kernel. Edits concern each op and ISA whose kernels/<family>/kernels.cc
includes an edited file. Such a source is written out for the op's row alone, with its includes, once for each mutant, each copy in a namespace
of its own and with its function renamed, after one copy of the C headers, which cost the most to compile. The shipped sources are never touched.
"""

from __future__ import annotations

import fnmatch
import functools
import re

import calls
import steering
from edits import Edit, EntryError, edits_of, read_folder, text_of
from layouts import output_function
from mutant import Mutant
from ops import included, includes, isas, members, ops, source_of

SYSTEM = re.compile(r"^\s*#\s*include\s*(<[^>]+>)", re.MULTILINE)
# What is linear's own: the rest is that of quantize, gemv and gemm, and mutated there.
COMPOSITION = frozenset({"kernels/products/linear.h"})
AROUND = "tests/mutants/around.h"
FIELDS = {"by_class", "ops", "isas", "wrap", "needs", "but", "order", "equivalent", "quick"}  # beside those of every mutant


def make_mutant(entry: dict) -> Mutant:
    """Checks one entry."""
    edits = edits_of(entry, FIELDS)
    if bool(edits) == ("wrap" in entry):
        raise EntryError("expected edits, or wrap")
    return Mutant(entry["name"], entry["kind"], entry["what"], edits, **{key: entry[key] for key in FIELDS & set(entry)})


def read_catalogue() -> list[Mutant]:
    """Every mutant: those of the files, in their order, and those of each class."""
    return [*read_folder("kernels", make_mutant), *steering.generated(), *calls.generated()]


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
        return set(mutant.needs) <= set(members(ops()[op].arguments))
    files = COMPOSITION if op.startswith("linear_") else includes(source_of(op), isa)
    return not files.isdisjoint(edit.file for edit in mutant.edits)


def expand(name: str, op: str, isa: str, edits: tuple[Edit, ...], seen: set[str]) -> str:
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
{output_function(ops()[op])}
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


@functools.lru_cache(maxsize=16)
def copy_of(op: str, isa: str, number: int = 0, edits: tuple[Edit, ...] = ()) -> str:
    """The kernel with these edits, in its namespace."""
    return f"""#define {op}_{isa} {symbol(op, isa, number)}
namespace {space(number)} {{
{composed(expand(source_of(op), op, isa, edits, set()), isa, number)}
}}
#undef {op}_{isa}
#undef ASSAY_OP"""


def unit(op: str, isa: str, mutants: list[Mutant]) -> str:
    """The translation unit of one variant: the kernel as it is, then each of its mutants."""
    source = source_of(op)
    names = [*includes(source, isa), AROUND]
    system = sorted({header for name in names for header in SYSTEM.findall(text_of(name))})
    head = [f"#include {header}" for header in system] + [SYSTEM.sub("", text_of(AROUND)), f"#define ASSAY_ISA {isa}", "#define ASSAY_ROWS"]
    out = [*head, copy_of(op, isa)]
    for number, mutant in enumerate(mutants, start=1):
        out.append(wrapper(op, isa, number, mutant.wrap) if mutant.wrap else copy_of(op, isa, number, tuple(mutant.edits)))
    return "\n".join(out) + "\n"
