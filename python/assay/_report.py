"""What a check found."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from assay import _truth
from assay._arrays import Array, from_wire
from assay._errors import ParityError
from assay._shapes import Spec


@dataclass(frozen=True)
class Failure:
    """A case that did not pass. `inputs`, `got` and `want` are arrays by name; empty where the case is to be refused, or where the failures
    before it took more memory than a report keeps (64 MiB)."""

    op: str
    variant: str
    case: str
    check: str  # classes, bound, bias, spread, exact, guard, bits; "mistrusted": a kernel that returns zeros would pass too
    message: str
    repeat: str
    inputs: Mapping[str, Array] = field(repr=False)
    got: Mapping[str, Array] = field(repr=False)
    want: Mapping[str, _truth.Truth] = field(repr=False)

    def __str__(self) -> str:
        return f"FAIL {self.variant}, case {self.case}: {self.check}\n  {self.message}\n  repeat: {self.repeat}"


class Report:
    """The verdict of `assay.check`: `str()` is the command line's table, `json` what its `--json` prints."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.table: str = found["table"]
        self.json: dict[str, Any] = json.loads(found["json"])
        self._calls: Sequence[Mapping[str, Any] | None] = found["calls"]

    @property
    def passed(self) -> bool:
        """Whether every case passed, and something was compared."""
        return bool(self.json["passed"])

    def __bool__(self) -> bool:
        return self.passed

    @property
    def cases(self) -> list[dict[str, Any]]:
        """Every case as `--json` has it: margin, z, spread, verdict, and so on."""
        return list(self.json["cases"])

    @property
    def margin(self) -> float:
        """The largest margin of any case; a case that is infinitely far off counts as infinity."""
        return max((float("inf") if one["margin"] is None else one["margin"] for one in self.cases), default=0.0)

    @property
    def isolation(self) -> str:
        """What held the kernel in."""
        return str(self.json.get("isolation", "none"))

    @property
    def not_asked(self) -> list[str]:
        """What was not asked of the kernel, and why."""
        return [f"{one['what']}: {one['why']}" for one in self.json["skipped"]]

    @property
    def faults(self) -> list[str]:
        """What is wrong with the run as a whole, such as that nothing was compared."""
        return list(self.json["faults"])

    @cached_property
    def failures(self) -> list[Failure]:
        """The cases that did not pass, with their arrays."""
        failed = [one for one in self.cases if one["verdict"] != "pass"]
        return [_failure(one, call) for one, call in zip(failed, self._calls, strict=True)]

    def to_json(self, indent: int | None = 1) -> str:
        """The report as `assay check --json` prints it (schema: assay/schemas/check.json)."""
        return json.dumps(self.json, indent=indent)

    def raise_for_status(self) -> Report:
        """Returns the report of a kernel that passed. Raises ParityError, with the table as its text, for any other."""
        if not self.passed:
            raise ParityError(self)
        return self

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        return f"<assay.Report: {'pass' if self.passed else f'FAIL {len(self.failures)}'}, {len(self.cases)} cases, margin {self.margin:.3g}>"

    def _repr_html_(self) -> str:
        colour, word = ("#1a7f37", "PASS") if self.passed else ("#cf222e", "FAIL")
        table, _, rest = self.table.partition("\n\n" if self.table.startswith("isolation") else "\0")
        text = html.escape((rest or table).rstrip().removesuffix(word).rstrip())
        return f'<div><b style="color:{colour}">{word}</b><pre style="line-height:1.3">{text}</pre></div>'


def _failure(one: Mapping[str, Any], call: Mapping[str, Any] | None) -> Failure:
    failure = one.get("failure", {"check": "mistrusted", "message": "a kernel that returns zeros would pass"})
    return Failure(one["op"], one["variant"], one["case"], failure["check"], failure["message"], one["repro"], *arrays_of(call))


def arrays_of(call: Mapping[str, Any] | None) -> tuple[dict[str, Array], dict[str, Array], dict[str, _truth.Truth]]:
    """A call's inputs, outputs and truths by name; of None empty."""
    if call is None:
        return {}, {}, {}
    specs = [Spec(**spec) for spec in call["signature"]]
    outputs = [spec.name for spec in specs if spec.role == "out"]
    got = {name: from_wire(array) for name, array in zip(outputs, call["outputs"], strict=True)}
    return _truth.inputs_by_name(specs, call["inputs"]), got, _truth.truths(specs, call["expected"])
