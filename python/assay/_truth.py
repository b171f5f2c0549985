"""Goldens and the reference: `cases`, `reference`, `compare`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from assay import _arrays, _shapes
from assay._arrays import Array
from assay._errors import ArgumentError, AssayError, unknown
from assay._extension import _assay
from assay._ops import require
from assay._shapes import Params, Spec


@dataclass(frozen=True)
class Truth:
    """What one output must be. Of a bounded op `value` is the truth in fp64 and `bound` how far from it a right kernel may be, in the unit of the
    value; where `bits_only` is set no bound holds. Of an exact op `value` is the one right answer in the output's type, and `bound` 0. Of an
    encoder that searches `value` is None: its error is judged, not its bytes."""

    name: str
    value: Array | None
    bound: Array | None
    bits_only: Array | None

    @property
    def tolerance(self) -> float:
        """The widest bound of any element: one number, for whoever must have one. Bounds of other elements are tighter."""
        if self.bound is None:
            raise AssayError(f"{self.name}: judged by the error of what it encodes, not by a bound of each element")
        return float(np.max(self.bound, initial=0.0))


@dataclass(frozen=True)
class Worst:
    """The worst element of an output: where, and both values, in hexadecimal and decimal."""

    element: str
    index: int
    got: str
    want: str
    margin: float
    ulp: float


@dataclass(frozen=True)
class Comparison:
    """One result held to truth. `margin` is the largest |y - truth| / bound; above 1 it fails. `text` is the verdict's line."""

    op: str
    passed: bool
    margin: float
    worst: Worst | None
    text: str
    nmse: float
    all_close: bool

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        return f"{self.op}: {'pass' if self.passed else 'FAIL'}, margin {self.margin:.4g}" + (f"\n  {self.text}" if self.text else "")


class Case:
    """A golden case: `inputs` as arrays by name, `params`, `tags`, `status` (what a kernel must return), and `truth` by output."""

    def __init__(self, op: str, name: str) -> None:
        read = _assay.read_case(op, name)
        self.op = op
        self.name: str = read["name"]
        self.tags: tuple[str, ...] = tuple(read["tags"])
        self.status: str = read["status"]
        self.params: Params = read["params"]
        self.specs = [Spec(**one) for one in read["signature"]]
        self.inputs: dict[str, Array] = inputs_by_name(self.specs, read["inputs"])
        self.truth: dict[str, Truth] = truths(self.specs, read["expected"]) if self.status == "ok" else {}

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.params.items())
        return f"<Case {self.name} of {self.op}: {sizes}>"


class Cases(Sequence[Case]):
    """The golden cases of an op, each read when it is asked for: by index, by name, in turn."""

    def __init__(self, op: str) -> None:
        self.op = require(op)
        self.names: tuple[str, ...] = tuple(_assay.case_names(op))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Case]:
        return (Case(self.op, name) for name in self.names)

    @overload
    def __getitem__(self, key: int | str) -> Case: ...
    @overload
    def __getitem__(self, key: slice) -> list[Case]: ...
    def __getitem__(self, key: int | str | slice) -> Case | list[Case]:
        if isinstance(key, str):
            if key not in self.names:
                raise AssayError(f"{self.op}: {unknown('case', key, self.names)}")
            return Case(self.op, key)
        names = self.names[key]
        return Case(self.op, names) if isinstance(names, str) else [Case(self.op, name) for name in names]


def inputs_by_name(specs: Sequence[Spec], arrays: Sequence[_arrays.Wire]) -> dict[str, Array]:
    """The inputs of a call, by the names of the signature."""
    names = [one.name for one in specs if one.role == "in"]
    return {name: _arrays.from_wire(array) for name, array in zip(names, arrays, strict=True)}


def truths(specs: Sequence[Spec], expected: Sequence[Mapping[str, Array]]) -> dict[str, Truth]:
    """What the extension says of the outputs of a call, by name."""
    outputs = [one for one in specs if one.role == "out"]
    return {spec.name: _truth(spec, one) for spec, one in zip(outputs, expected, strict=True)}


def _truth(spec: Spec, expected: Mapping[str, Array]) -> Truth:
    if "value" in expected:
        bits_only = expected["bits_only"]
        shaped = bits_only.astype(bool).reshape(spec.shape) if bits_only.size else np.zeros(spec.shape, bool)
        return Truth(spec.name, expected["value"].reshape(spec.shape), expected["bound"].reshape(spec.shape), shaped)
    if "bytes" in expected:
        value = _arrays.from_wire((spec.dtype, spec.shape, expected["bytes"]))
        return Truth(spec.name, value, np.zeros(value.shape), np.zeros(value.shape, bool))
    return Truth(spec.name, None, None, None)


def cases(op: str) -> Cases:
    """The golden cases of an op. Raises AssayError for an unknown op."""
    return Cases(op)


def reference(op: str, **arguments: object) -> dict[str, Truth]:
    """Truth in fp64 and bound of each output for inputs of one's own: which tolerance may be used.

    Arrays are named as in the op's specification, and so are the scalars that the arrays' shapes do not settle:
    `assay.reference("rms_norm", x=x, w=w, eps=1e-6)["y"].bound`. Raises ArgumentError.
    """
    params, specs, inputs = _call(op, arguments)
    return truths(specs, _refusing(op, _assay.reference, op, params, inputs))


def compare(op: str, *outputs: object, **arguments: object) -> Comparison:
    """One result held to truth: `assay.compare("rms_norm", y, x=x, w=w, eps=1e-6)`. Outputs in the order of the specification. Raises
    ArgumentError; what is only wrong in value is a Comparison that did not pass."""
    params, specs, inputs = _call(op, arguments)
    wanted = [one for one in specs if one.role == "out"]
    if len(outputs) != len(wanted):
        names = ", ".join(one.name for one in wanted)
        raise ArgumentError(op, "the result", f"{len(outputs)} arrays", f"{len(wanted)}: {names}")
    got = [_arrays.to_wire(s.dtype, _arrays.checked(op, s.name, y, s.dtype, s.shape)) for s, y in zip(wanted, outputs, strict=True)]
    found = _refusing(op, _assay.compare, op, params, inputs, got)
    worst = max(found, key=lambda one: one["margin"])
    return _comparison(op, worst, next((one for one in found if one["wrong_class"]), None))


def _comparison(op: str, worst: Mapping[str, Any], wrong: Mapping[str, Any] | None) -> Comparison:
    miss = wrong["wrong_class"] if wrong else worst["worst"]
    element = Worst(*(miss[key] for key in ("element", "index", "got", "want", "margin", "ulp"))) if miss else None
    passed = wrong is None and worst["margin"] <= 1
    text = miss["text"] if miss else worst["note"]
    return Comparison(op, passed, worst["margin"], element, text, worst["nmse"], worst["all_close"])


def _refusing(op: str, function: Any, *arguments: object) -> Any:
    try:
        return function(*arguments)
    except ValueError as error:
        raise AssayError(f"{op}: {error}") from None


def _call(op: str, arguments: Mapping[str, object]) -> tuple[Params, list[Spec], list[_arrays.Wire]]:
    """Arguments of a call as the extension takes them."""
    require(op)
    names = _shapes.inputs_of(op)
    given = {name: _arrays.as_numpy(op, name, value) for name, value in arguments.items() if name in names}
    scalars = {name: value for name, value in arguments.items() if name not in names}
    dtypes = {one.name: one.dtype for one in _shapes._trial(op, {}) if one.role == "in"}
    for name, array in given.items():
        if array.dtype != _arrays.numpy_dtype(dtypes[name]):
            raise ArgumentError(op, name, _arrays.describe(array), _arrays.wanted_text(dtypes[name], _shapes.symbolic(op)[name, "in"]))
    shapes = {name: array.shape[:-1] if _arrays.is_block(dtypes[name]) else array.shape for name, array in given.items()}
    params = _shapes.complete(op, scalars, shapes)
    try:
        specs = _shapes.specs(op, params)
    except (ValueError, IndexError) as error:
        raise AssayError(f"{op}: {error}") from None
    inputs = []
    for spec in specs:
        if spec.role == "out":
            continue
        if spec.name not in given:
            raise ArgumentError(op, spec.name, "not given", _arrays.wanted_text(spec.dtype, _shapes.symbolic(op)[spec.name, "in"]))
        array = _arrays.checked(op, spec.name, given[spec.name], spec.dtype, spec.shape)
        inputs.append(_arrays.to_wire(spec.dtype, array))
    return params, specs, inputs
