"""`order` and `reduce`: what the commands find out about one kernel, as objects. The kernel is a plugin or a function pointer of ctypes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay._check import plugin_of
from assay._errors import ArgumentError
from assay._forensics import PathLike, Table, _made, _option, run

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
    """What `assay order` found. `passed`: no kernel that claims the canonical order, or declares one, has another."""

    op: str
    kernels: list[KernelOrder]
    json: dict[str, Any]

    @property
    def passed(self) -> bool:
        """No kernel that claims the canonical order, or declares one, has another."""
        return not any(one.refuted or (one.claims_canonical and any(s.canonical is False for s in one.sums)) for one in self.kernels)


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
    """What `assay reduce` found: from which call to which."""

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


def order(
    op: str,
    kernel: object = None,
    *,
    isa: str | None = None,
    shapes: Sequence[Shape] = (),
    svg: PathLike | None = None,
    traits: str | None = None,
) -> Order:
    """In which order a kernel adds up: of a plugin's path, of a function pointer of ctypes, or, without one, of ours (`isa`: one of them). traits: what
    it declares, or is declared beside what the plugin says. Raises AssayError for an op whose sums are not looked into."""
    words = [word for shape in shapes for word in ("--shape", _shape(shape))]
    return _made(Order, run("order", op, _kernel(op, kernel), words, _option("--isa", isa), _option("--svg", svg), _option("--declare", traits)))


def reduce(
    op: str,
    kernel: object,
    *,
    case: str | None = None,
    shape: Shape | None = None,
    seed: int | None = None,
    output: PathLike | None = None,
    c: PathLike | None = None,
    calls: int | None = None,
    seconds: float | None = None,
    traits: str | None = None,
) -> Reduction:
    """The smallest call that a kernel still fails, of a plugin's path or a function pointer of ctypes. `output`: it as a golden file; `c`: as a program
    in C. traits: as in `order`. Raises AssayError where nothing fails."""
    options = {"--case": case, "--shape": shape and _shape(shape), "--seed": seed, "--output": output, "--c": c, "--calls": calls, "--seconds": seconds}
    options["--declare"] = traits
    words = [word for name, value in options.items() for word in _option(name, value)]
    found = run("reduce", op, _kernel(op, kernel), words)
    return _made(Reduction, {**found, "from_": found["from"]})


def _kernel(op: str, kernel: object) -> list[str]:
    if kernel is None:
        return []
    plugin = plugin_of(op, kernel)
    if plugin is None:
        raise ArgumentError(op, "the kernel", f"a {type(kernel).__name__}", "a plugin's path or a function pointer of ctypes: it is called in assay-runner")
    return ["--plugin", os.fspath(plugin)]


def _shape(shape: Shape) -> str:
    return ",".join(f"{name}={value}" for name, value in shape.items())
