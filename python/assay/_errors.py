"""What the package raises."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class AssayError(Exception):
    """All that this package raises of itself."""


class ArgumentError(AssayError, ValueError):
    """An argument of an op that is not what the op's specification says: the op, the argument, what it is, what was expected."""

    def __init__(self, op: str, argument: str, got: str, wanted: str) -> None:
        super().__init__(f"{op}: {argument} is {got}; expected {wanted}")
        self.op = op
        self.argument = argument
        self.got = got
        self.wanted = wanted


class ParityError(AssayError, AssertionError):
    """A kernel that failed: the report's table as text, the report itself as `report`."""

    def __init__(self, report: object) -> None:
        super().__init__(str(report))
        self.report = report


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """Words for a name that is unknown: unknown op 'rms_nrom'; the nearest is 'rms_norm'."""
    names = list(known)
    near = get_close_matches(word, names, n=1)
    return f"unknown {what} '{word}'; " + (f"the nearest is '{near[0]}'" if near else "there are " + ", ".join(names))
