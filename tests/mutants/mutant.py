"""What a catalogue of kernel mutants is made of."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field

from edits import Edit


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
    by_class: bool = False  # one of a class, made by rule: the first case that rejects it is enough

    def only_rounds(self, op: str) -> bool:
        """Whether it is one that equality of bits is there for."""
        return any(fnmatch.fnmatch(op, pattern) for pattern in self.order)

    def reason(self, op: str, isa: str) -> str | None:
        """Why nothing can tell it from the kernel there; None if something must."""
        return next((why for pattern, why in self.equivalent.items() if fnmatch.fnmatch(f"{op}:{isa}", pattern)), None)
