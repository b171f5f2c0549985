"""`assay.bench`: a kernel on the clock, beside our best one and the roof of this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay import _arrays, _check, _forensics, _host
from assay._clock import Clock
from assay._errors import ParityError
from assay._extension import _assay
from assay._ops import require
from assay._shapes import Spec
from assay._subject import Scalars, Wrong

_ROUND_LIMIT = 60.0  # seconds that preparing, or a round, may take


@dataclass(frozen=True)
class Timing:
    """A kernel at one shape. Times are of a call: the median of the rounds, in processor time of all its threads."""

    variant: str
    shape: str
    seconds: float | None
    wall_seconds: float | None
    threads: int
    read_percent: float | None  # of the read roof, that was measured in the same rounds
    compute_percent: float | None  # of the arithmetic's peak
    rival: str | None  # our best, timed in the same rounds
    speed: float | None  # against it: above 1 faster than ours
    error: str | None  # why it has no time


class BenchReport:
    """What `assay.bench` found: `str()` is the command's table, `timings` a row a shape, `json` what `assay bench --json` prints."""

    def __init__(self, json_: dict[str, Any], table: str) -> None:
        self.json = json_
        self.table = table

    @property
    def timings(self) -> _forensics.Table[Timing]:
        """A row a shape."""
        return _forensics.Table([_timing(one) for one in self.json["benchmarks"]])

    def raise_for_status(self) -> BenchReport:
        """Returns the report of a kernel that was timed at every shape. Raises ParityError for any other."""
        if any(one.error for one in self.timings):
            raise ParityError(self)
        return self

    def to_json(self, indent: int | None = 1) -> str:
        """As `assay bench --json` prints it (schema: assay/schemas/bench.json)."""
        return json.dumps(self.json, indent=indent)

    def __str__(self) -> str:
        return self.table


def _timing(one: Mapping[str, Any]) -> Timing:
    seconds = one.get("real_time")
    wall = one.get("wall_time")
    return Timing(
        variant=one["variant"],
        shape=one["shape"],
        seconds=None if seconds is None else seconds * 1e-9,
        wall_seconds=None if wall is None else wall * 1e-9,
        threads=one.get("threads_seen", 1),
        read_percent=one.get("read_percent"),
        compute_percent=one.get("compute_percent"),
        rival=one.get("rival"),
        speed=one.get("speed"),
        error=one.get("error_message"),
    )


class _Apart:
    """What the extension asks of a callable in its own interpreter: prepare, round, kept."""

    def __init__(self, judged: _host.Isolated) -> None:
        self._judged = judged
        self._specs: list[dict[str, Any]] = []

    def _ask(self, head: dict[str, Any], buffers: Sequence[Any] = ()) -> tuple[dict[str, Any], list[bytearray]] | str:
        try:
            answer = self._judged.ask(head, buffers, _ROUND_LIMIT)
        except Wrong as wrong:
            return f"the interpreter {wrong}"
        return str(answer[0]["wrong"]) if "wrong" in answer[0] else answer

    def prepare(self, scalars: Scalars, specs: list[dict[str, Any]], copies: Sequence[Sequence[_arrays.Wire]]) -> object:
        self._specs = specs
        head = {"clock": "prepare", "scalars": dict(scalars), "specs": specs, "copies": len(copies)}
        said = self._ask(head, [one[2] for inputs in copies for one in inputs])
        return said if isinstance(said, str) else None

    def round(self, seconds: float) -> object:
        said = self._ask({"clock": "round", "seconds": seconds})
        return said if isinstance(said, str) else (said[0]["cpu"], said[0]["wall"], said[0]["threads"])

    def kept(self) -> object:
        said = self._ask({"clock": "kept"})
        if isinstance(said, str):
            return said
        outputs = _host.outputs_of(self._specs, said[1])
        return outputs if isinstance(outputs, str) else (int(said[0]["copy"]), outputs)


class _Here:
    """The same in this interpreter."""

    def __init__(self, judged: _host.Here) -> None:
        self._subject = judged.subject
        self._clock: Clock | None = None

    def prepare(self, scalars: Scalars, specs: list[dict[str, Any]], copies: Sequence[Sequence[_arrays.Wire]]) -> object:
        arrays = [[_arrays.from_wire(one) for one in inputs] for inputs in copies]
        try:
            self._clock = Clock(self._subject, scalars, [Spec(**one) for one in specs], arrays)
        except Exception as error:  # whatever the callable raises
            return f"raised {type(error).__name__}: {error}"
        return None

    def round(self, seconds: float) -> object:
        assert self._clock is not None
        return self._clock.round(seconds)

    def kept(self) -> object:
        assert self._clock is not None
        try:
            copy, outputs = self._clock.kept()
        except Wrong as wrong:
            return str(wrong)
        return copy, [one.reshape(-1).view(np.uint8) for one in outputs]


def bench(
    op: str,
    kernel: object,
    *,
    shape: Mapping[str, int | float | str] | None = None,
    warm: bool = False,
    arrays: str | None = None,
    traits: str = "",
    isolation: _check.Isolation = "auto",
    time_limit: float = 10.0,
    allow_read: Sequence[str | os.PathLike[str]] = (),
) -> BenchReport:
    """Times a kernel that passes `assay.check`, call by call in turn with our best one and with the roofs.

    `kernel`, arrays, traits, isolation, time_limit, allow_read: as in `assay.check`. shape: one instead of the op's own; warm: the same
    buffers again and again. A callable is timed with all that a call of it takes, Python's part too, and what it returned while it was timed
    is held to the reference. A kernel that fails has no time: Timing.error. Raises AssayError for wrong use.
    """
    require(op)
    limits = _check.Limits(isolation, time_limit, [os.fspath(path) for path in allow_read])
    sizes = {name: _check.plain(op, name, value) for name, value in (shape or {}).items()}
    plugin = _check.plugin_of(op, kernel)
    if plugin is not None:
        return _bench_plugin(op, plugin, sizes, warm, limits, traits)
    checked = _check.check(op, kernel, arrays=arrays, traits=traits, isolation=isolation, time_limit=time_limit)
    refusal = "" if checked.passed else str((checked.failures or checked.faults)[0])
    with _check.judge(op, kernel, limits, arrays) as judged:
        timer = _Apart(judged) if isinstance(judged, _host.Isolated) else _Here(judged)
        found = _check.asked(_assay.time_callable, op, "python:" + _check.name_of(kernel), _check.properties(traits), sizes, warm, timer, refusal)
    return BenchReport(json.loads(found["json"]), found["table"])


def _bench_plugin(op: str, plugin: str, sizes: Mapping[str, object], warm: bool, limits: _check.Limits, traits: str) -> BenchReport:
    words = ["--plugin", plugin, "--isolation", limits.isolation, "--time-limit", f"{limits.time_limit:g}"]
    words += [word for path in limits.allow_read for word in ("--allow-read", path)]
    words += ["--declare", traits] if traits else []
    words += ["--shape", ",".join(f"{name}={value}" for name, value in sizes.items())] if sizes else []
    found = _forensics.run("bench", op, words, ["--warm"] if warm else [])
    report = BenchReport(found, "")
    rows = [f"{one.variant}  {one.shape}  {_time_text(one)}" for one in report.timings]
    report.table = "\n".join(rows) + "\n"
    return report


def _time_text(one: Timing) -> str:
    if one.error or one.seconds is None:
        return one.error or "not timed"
    return f"{one.seconds * 1e6:.2f} us" + (f"  {one.speed:.2f} x {one.rival}" if one.speed is not None else "")


__all__ = ["BenchReport", "Timing", "bench"]
