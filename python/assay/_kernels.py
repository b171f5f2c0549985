"""`order`, `explain` and `reduce`: what the commands find out about one kernel, as objects.

The kernel is what `assay.check` takes: a callable, which runs in an interpreter of its own, a function pointer of ctypes, a plugin's path.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay import _check, _truth
from assay._arrays import Array
from assay._check import Isolation, Limits
from assay._errors import ArgumentError
from assay._extension import _assay
from assay._forensics import PathLike, Table, made, option, run
from assay._ops import require
from assay._report import arrays_of

Shape = Mapping[str, int | float | str]


@dataclass(frozen=True)
class SumOrder:
    """A sum of a kernel, and the tree by which it is added up (docs/order.md); `not_found` says why there is none."""

    sum: str
    shape: str
    terms: int
    calls: int
    depends_on: list[str]
    words: str | None
    canonical: bool | None
    first_difference: list[int]
    accumulator: str | None
    fused: bool | None
    note: str | None
    joins: list[list[int]]
    not_found: str | None


@dataclass(frozen=True)
class KernelOrder:
    """A kernel's sums, one a shape."""

    variant: str
    claims_canonical: bool
    depends_on_shape: bool
    declares: str
    refuted: str
    sums: Table[SumOrder]


@dataclass(frozen=True)
class Order:
    """What `assay order` found; `str()` is what it prints."""

    op: str
    kernels: list[KernelOrder]
    text: str
    json: dict[str, Any]

    def __str__(self) -> str:
        return self.text

    @property
    def passed(self) -> bool:
        """No kernel that claims the canonical order, or declares one, has another."""
        return not any(one.refuted or (one.claims_canonical and any(s.canonical is False for s in one.sums)) for one in self.kernels)


@dataclass(frozen=True)
class Condition:
    """In which calls a kernel is wrong, where not in all."""

    words: str
    kind: str
    of: str


@dataclass(frozen=True)
class Explanation:
    """Another computation that fits every case (docs/explain.md)."""

    name: str
    kind: str
    words: str
    law: str
    when: Condition | None
    properties: str | None
    only_where: bool
    margin: float


@dataclass(frozen=True)
class Near:
    """A computation that fits most failing cases, or breaks some that pass: `against` is one that it does not fit."""

    name: str
    words: str
    explained: int
    broken: int
    against: str | None


@dataclass(frozen=True)
class KernelExplanation:
    """What explains a kernel's failures: the simplest, all that are equally simple; or what comes near."""

    variant: str
    failing: list[str]
    passing: int
    otherwise: int
    explanations: list[Explanation]
    permits: str | None
    near: list[Near]
    ended_early: bool


@dataclass(frozen=True)
class Explained:
    """What `assay explain` found of an op: the kernels that fail; `str()` is what it prints."""

    op: str
    header: str
    kernels: list[KernelExplanation]
    text: str
    json: dict[str, Any]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Call:
    """A failing call: its sizes, how many numbers are not 0, how many outputs it has, what is wrong."""

    params: str
    nonzero: int
    outputs: int
    message: str
    case: str | None


@dataclass(frozen=True)
class Reduction:
    """What `assay reduce` found: from which call to which. Of a callable `inputs`, `got` and `want` are the smallest call's arrays by name."""

    op: str
    variant: str
    check: str
    from_: Call
    reduced: Call
    calls: int
    seconds: float
    ended_early: bool
    command: str | None
    ctest: str | None
    json: dict[str, Any]
    inputs: Mapping[str, Array] = field(default_factory=dict, repr=False)
    got: Mapping[str, Array] = field(default_factory=dict, repr=False)
    want: Mapping[str, _truth.Truth] = field(default_factory=dict, repr=False)


def order(
    op: str,
    kernel: object = None,
    *,
    isa: str | None = None,
    shapes: Sequence[Shape] = (),
    svg: PathLike | None = None,
    traits: str = "",
    arrays: str | None = None,
    isolation: Isolation = "auto",
    time_limit: float = 10.0,
) -> Order:
    """In which order a kernel adds up; without one, ours do (`isa`: one of them). shapes: those to look at; by default several lengths. svg: a file
    for the drawing. The rest is as in `check`. Raises AssayError for an op whose sums are not looked into."""
    limits = Limits(isolation, time_limit)
    if _is_callable(op, kernel):
        _only_of_ours(op, isa)
        sizes = [{name: _check.plain(op, name, value) for name, value in shape.items()} for shape in shapes]
        return made(Order, json.loads(_of_callable(op, kernel, limits, arrays, traits, {}, _assay.order, sizes, os.fspath(svg or ""))))
    words = [word for shape in shapes for word in ("--shape", _shape(shape))]
    return made(Order, run("order", op, _where(op, kernel, limits, traits), words, option("--isa", isa), option("--svg", svg)))


def explain(
    op: str,
    kernel: object = None,
    *,
    isa: str | None = None,
    variant: str | None = None,
    seconds: float = 300.0,
    traits: str = "",
    arrays: str | None = None,
    isolation: Isolation = "auto",
    time_limit: float = 10.0,
) -> Explained:
    """Why a kernel fails, or ours do. seconds: what the search may take for each. The rest is as in `check`. Raises AssayError for wrong use."""
    limits = Limits(isolation, time_limit)
    if _is_callable(op, kernel):
        _only_of_ours(op, isa)
        request = _check.request_of(op, case=None, shape=None, cases=3, seed=None)
        document = json.loads(_of_callable(op, kernel, limits, arrays, traits, request, _assay.explain, seconds))
    else:
        chosen = [*option("--isa", isa), *option("--variant", variant), *option("--seconds", seconds)]
        document = run("explain", op, _where(op, kernel, limits, traits), chosen)
    return replace(made(Explained, document["ops"][0]), json=document)


def reduce(
    op: str,
    kernel: object,
    *,
    case: str | None = None,
    shape: Shape | None = None,
    seed: int | None = None,
    output: PathLike | None = None,
    c: PathLike | None = None,
    calls: int = 100_000,
    seconds: float = 120.0,
    traits: str = "",
    arrays: str | None = None,
    isolation: Isolation = "auto",
    time_limit: float = 10.0,
) -> Reduction:
    """The smallest call that a kernel still fails. output: a golden file for it; c: a program in C for it; both of a plugin or a function pointer.
    calls, seconds: what the search may take. The rest is as in `check`. Raises AssayError where nothing fails."""
    limits = Limits(isolation, time_limit)
    if _is_callable(op, kernel):
        for name, value in (("output", output), ("c", c)):
            if value is not None:
                raise ArgumentError(op, name, repr(os.fspath(value)), "none: a callable is in no library that a file could name; see Reduction.inputs")
        request = _check.request_of(op, case=case, shape=shape, cases=3, seed=seed)
        found = _of_callable(op, kernel, limits, arrays, traits, request, _assay.reduce, calls, seconds)
        inputs, got, want = arrays_of(found["call"])
        return replace(_reduction(json.loads(found["json"])), inputs=inputs, got=got, want=want)
    options = {"--case": case, "--shape": shape and _shape(shape), "--seed": seed, "--output": output, "--c": c, "--calls": calls, "--seconds": seconds}
    words = [word for name, value in options.items() for word in option(name, value)]
    return _reduction(run("reduce", op, _where(op, kernel, limits, traits), words))


def _reduction(found: dict[str, Any]) -> Reduction:
    return made(Reduction, {**found, "from_": found["from"]})


def _is_callable(op: str, kernel: object) -> bool:
    return kernel is not None and _check.plugin_of(op, kernel) is None


def _only_of_ours(op: str, isa: str | None) -> None:
    if isa is not None:
        raise ArgumentError(op, "isa", repr(isa), "none: it chooses among our kernels")


def _of_callable(
    op: str, kernel: object, limits: Limits, arrays: str | None, traits: str, request: Mapping[str, Any], ask: Callable[..., Any], *words: object
) -> Any:
    """What a function of the extension finds of a callable."""
    with _check.judge(op, kernel, limits, arrays) as exchange:
        return _check.asked(ask, _check.with_callable({"ops": [require(op)], **request}, op, kernel, exchange, traits), *words)


def _where(op: str, kernel: object, limits: Limits, traits: str) -> list[str]:
    """A plugin or a function pointer, and how it is run, as the program's options."""
    if kernel is None:
        return option("--declare", traits or None)
    words = [*option("--plugin", _check.plugin_of(op, kernel)), *option("--declare", traits or None)]
    return [*words, *option("--isolation", limits.isolation), *option("--time-limit", limits.time_limit)]


def _shape(shape: Shape) -> str:
    return ",".join(f"{name}={value}" for name, value in shape.items())
