"""The kernels' tables as they stand: ISAs, ops, the files that each is made of, and the formats."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from edits import ROOT, text_of

QUOTED = re.compile(r'^#\s*include\s*"([^"]+)"')
# #include ASSAY_HEADER(formats, ASSAY_PASTE(bytes_, ASSAY_ISA)): kernels/formats/bytes_<isa>.h.
HEADER = re.compile(r"^#\s*include\s+ASSAY_HEADER\((\w+), (?:ASSAY_PASTE\((\w+), (\w+)\)|(\w+))\)")


@dataclass(frozen=True)
class Op:
    """A row of kernels/<family>/ops.inc, and what the group above it says."""

    name: str
    family: str
    arguments: str  # the struct
    isas: tuple[str, ...]
    row: str
    columns: tuple[str, ...]  # after the op's name


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
            elif row := re.match(r"ASSAY_OP\((\w+(?:, \w+)*)\)", line):
                name, *columns = row[1].split(", ")
                found[name] = Op(name, path.parent.name, arguments, group_isas, line, tuple(columns))
    return dict(sorted(found.items()))


@functools.cache
def formats() -> dict[str, tuple[int, int]]:
    """The block formats of kernels/formats/formats.inc to the elements and the bytes of a block."""
    rows = re.findall(r"^ASSAY_FORMAT\((\w+),\s*-?\d+,\s*(\d+),\s*(\d+),", text_of("kernels/formats/formats.inc"), re.MULTILINE)
    return {name: (int(elements), int(size)) for name, elements, size in rows}


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
def members(arguments: str) -> dict[str, str]:
    """The members of an argument struct to their types: `const float*`, `int64_t`, `int32_t[4]`."""
    for path in sorted((ROOT / "kernels").glob("*/*.h")):
        if struct := re.search(rf"typedef struct {arguments} \{{(.*?)\}} {arguments};", path.read_text(), re.DOTALL):
            found = re.findall(r"^\s*((?:const )?\w+\*?) (\w+)(\[\d+\])?;", struct[1], re.MULTILINE)
            return {name: kind + (size or "") for kind, name, size in found}
    raise SystemExit(f"kernels: no struct {arguments}")
