"""`diff`, `audit`, `attribute`, `bisect`: the command's own answers, as objects.

Each runs the program that came with the package and reads its JSON (assay/schemas); a fault in a model's file so stays in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Generic, TypeVar, cast

from assay._errors import AssayError
from assay._extension import PROGRAMS

PathLike = str | os.PathLike[str]
Row = TypeVar("Row")


class Table(Sequence[Row], Generic[Row]):
    """Rows of a report: a sequence of dataclasses. `to_pandas()` where pandas is installed."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = list(rows)

    @typing.overload
    def __getitem__(self, key: int) -> Row: ...
    @typing.overload
    def __getitem__(self, key: slice) -> list[Row]: ...
    def __getitem__(self, key: int | slice) -> Row | list[Row]:
        return self._rows[key]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __repr__(self) -> str:
        return f"Table({self._rows!r})"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row each."""
        import pandas

        return pandas.DataFrame([asdict(cast(Any, row)) for row in self._rows])


@dataclass(frozen=True)
class Element:
    """An element of two traces, and its values."""

    position: int
    index: list[int]
    ours: float | None
    theirs: float | None


@dataclass(frozen=True)
class WorstRow:
    """The row that is farthest off."""

    position: int
    relative_rms: float | None


@dataclass(frozen=True)
class SiteDiff:
    """A site of two traces (docs/diff.md). None stands for infinity."""

    site: str
    elements: int
    max_abs: float | None
    rms: float | None
    relative_rms: float | None
    cosine: float | None
    worst: Element | None
    worst_row: WorstRow | None
    growth: float | None
    diverges: bool


@dataclass(frozen=True)
class PromptDiff:
    """One prompt of two traces."""

    prompt: str
    tokens: int
    first_divergence: str | None
    sites: Table[SiteDiff]


@dataclass(frozen=True)
class Diff:
    """What `assay diff` found."""

    aligned: bool
    diverged: bool
    notes: list[str]
    prompts: list[PromptDiff]
    json: dict[str, Any]


@dataclass(frozen=True)
class SiteAudit:
    """A site of an engine's trace: right, wrong, not judged or allowed, and its distance in bounds (docs/audit.md)."""

    site: str
    verdict: str
    bounds: float | None
    row: int | None
    output: int | None
    explanations: list[str]
    remarks: list[str]


@dataclass(frozen=True)
class PromptAudit:
    """One prompt of it."""

    prompt: str
    rows: int
    sites: Table[SiteAudit]

    @property
    def wrong(self) -> list[SiteAudit]:
        """The sites that are wrong."""
        return [one for one in self.sites if one.verdict == "wrong"]


@dataclass(frozen=True)
class Audit:
    """What `assay audit` found."""

    passed: bool
    recipe: str
    prompts: list[PromptAudit]
    json: dict[str, Any]


@dataclass(frozen=True)
class SiteAttribution:
    """A site of a run of ours against a golden's: clean, inherits, GUILTY, MISWIRED (docs/bisecting.md)."""

    site: str
    verdict: str
    op: str | None
    variant: str | None
    local_bounds: float | None
    total: float | None
    inherited: float | None
    own: float | None
    explanations: list[str]
    remarks: list[str]


@dataclass(frozen=True)
class PromptAttribution:
    """One prompt of it."""

    prompt: str
    rows: int
    sites: Table[SiteAttribution]

    @property
    def to_blame(self) -> list[SiteAttribution]:
        """The sites that are guilty or miswired, in execution order."""
        return [one for one in self.sites if one.verdict in ("GUILTY", "MISWIRED")]


@dataclass(frozen=True)
class Attribution:
    """What `assay attribute` found."""

    passed: bool
    recipe: str
    prompts: list[PromptAttribution]
    json: dict[str, Any]


@dataclass(frozen=True)
class Bisection:
    """What `assay bisect` found: distances of the logits to the golden's, relative RMS, and the steps to blame."""

    all_reference: float | None
    as_chosen: float | None
    threshold: float | None
    reference_is_far: bool
    sites: list[Any]
    runs: int
    json: dict[str, Any]


def diff(ours: PathLike, theirs: PathLike, *, prompt: str | None = None, sites: str | None = None, against: PathLike | None = None) -> Diff:
    """Two traces against one another: where they part. Raises AssayError where one cannot be read."""
    found = run("diff", ours, theirs, option("--prompt", prompt), option("--sites", sites), option("--against", against), codes=(0, 1, 2))
    return made(Diff, found)


def audit(
    model: PathLike,
    trace: PathLike,
    *,
    prompt: str | None = None,
    recipe: str | Mapping[str, Any] | None = None,
    allow: Mapping[str, str] | None = None,
) -> Audit:
    """Another engine's trace against the definition, site by site. `recipe`: a name, or what differs from one, {"base": "hf-float32", "silu_steps": 2}
    (docs/audit.md). `allow`: known deviations, {"layers.*.swiglu": "20 its sigmoid"}: of 20 bounds at most. Raises AssayError where model or trace
    cannot be read."""
    named = json.dumps(recipe) if isinstance(recipe, Mapping) else recipe
    allowed = [word for site, why in (allow or {}).items() for word in ("--allow", f"{site}={why}")]
    return made(Audit, run("audit", model, trace, option("--prompt", prompt), option("--recipe", named), allowed))


def attribute(model: PathLike, golden: PathLike, *, prompt: str | None = None, recipe: str | None = None) -> Attribution:
    """Our run of a model against a golden trace: which site is to blame. Raises AssayError where one cannot be read."""
    return made(Attribution, run("attribute", model, ["--golden", os.fspath(golden)], option("--prompt", prompt), option("--recipe", recipe)))


def bisect(model: PathLike, golden: PathLike, *, prompt: str | None = None, threshold: float | None = None) -> Bisection:
    """Which steps, given to the reference, bring the logits back to the golden's. Raises AssayError where one cannot be read."""
    return made(Bisection, run("bisect", model, ["--golden", os.fspath(golden)], option("--prompt", prompt), option("--threshold", threshold)))


def option(name: str, value: object) -> list[str]:
    """An option of the program, or nothing for None."""
    return [] if value is None else [name, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]


def run(command: str, *words: PathLike | Sequence[str], codes: Sequence[int] = (0, 1)) -> dict[str, Any]:
    """The JSON that the program prints. Raises AssayError with its words where it ends otherwise."""
    flat = [text for word in words for text in ([os.fspath(word)] if isinstance(word, (str, os.PathLike)) else word)]
    done = subprocess.run([PROGRAMS / "assay", command, *flat, "--json"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode not in codes or not done.stdout.startswith("{"):
        raise AssayError(done.stderr.strip().removeprefix("assay: ") or f"assay {command} ended with status {done.returncode}")
    return cast(dict[str, Any], json.loads(done.stdout))


Made = TypeVar("Made")


def made(kind: type[Made], value: dict[str, Any]) -> Made:
    """A dataclass out of JSON: its fields by name; what the JSON leaves out is None or empty."""
    hints = _hints(cast(Any, kind))
    given = {**value, "json": value}
    return kind(**{field.name: _converted(hints[field.name], given.get(field.name)) for field in fields(cast(Any, kind))})


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _converted(hint: Any, value: Any) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _converted(next(one for one in inner if one is not type(None)), value)
    if origin is list:
        return [_converted(inner[0], one) for one in value or []]
    if origin is Table:
        return Table([_converted(inner[0], one) for one in value or []])
    if is_dataclass(hint) and isinstance(value, dict):
        return made(cast(type, hint), value)
    return value
