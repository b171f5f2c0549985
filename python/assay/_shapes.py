"""Sizes out of shapes: which parameters of an op its arrays' shapes settle, and how shapes read in terms of parameters.

An op says what its tensors' shapes are for given parameters, and not the reverse. So the reverse is found by asking: a parameter is changed by
itself, and the axes that change with it show how they depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from assay._errors import ArgumentError, unknown
from assay._extension import _assay

Params = dict[str, int | float | str]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Spec:
    """A tensor of a call: its name, element type, shape (of blocks in blocks), and whether it goes in or comes out."""

    name: str
    dtype: str
    role: str
    shape: Shape
    aliases: tuple[str, ...]
    in_place_only: bool


@cache
def info(op: str) -> dict[str, Any]:
    """What the extension knows of an op. Raises ValueError for an unknown one."""
    return _assay.op_info(op)


def specs(op: str, params: Params) -> list[Spec]:
    """The tensors of the call that the parameters describe."""
    return [Spec(**one) for one in _assay.signature(op, params)]


def parameter_names(op: str) -> list[str]:
    """Everything that a call's parameters may name, layout aside."""
    about = info(op)
    fields = [field["param"] for field in about["fields"] if field["kind"] not in ("tensor", "array") and field["param"]]
    sizes = [size["name"] for size in about["sizes"] if not size["stride"]]
    return list(dict.fromkeys(name for name in [*sizes, *about["choices"], *fields] if not name.endswith("stride")))


def _sizes(op: str) -> dict[str, dict[str, Any]]:
    return {size["name"]: size for size in info(op)["sizes"] if not size["optional"]}


def _choices(op: str) -> Params:
    return {name: values[0] for name, values in info(op)["choices"].items()}


def _trial(op: str, known: Mapping[str, Any], scale: Mapping[str, int] | None = None) -> list[Spec]:
    """The call where every size that is not known has a value that many divisors go into."""
    params: Params = {**_choices(op), **known}
    for name, size in _sizes(op).items():
        if name not in params or (scale and name in scale):
            value = size["unit"] * 48 * (scale or {}).get(name, 1)
            params[name] = value if value <= size["limit"] else size["default"]
    return specs(op, params)


def _axes(specs_: Sequence[Spec], names: Sequence[str]) -> dict[tuple[str, int], int]:
    return {(one.name, axis): extent for one in specs_ if one.role == "in" and one.name in names for axis, extent in enumerate(one.shape)}


def _candidate(op: str, known: Params, name: str, shapes: Mapping[str, Shape]) -> int | None:
    """The one value of a size with which an axis that depends on no other unknown size has the extent that is given."""
    unknown_sizes = [other for other in _sizes(op) if other not in known]
    base = _axes(_trial(op, known), list(shapes))
    moved = {other: _axes(_trial(op, known, {other: 2}), list(shapes)) for other in unknown_sizes}
    value = _sizes(op)[name]["unit"] * 48
    for (tensor, axis), extent in base.items():
        alone = moved[name].get((tensor, axis)) == 2 * extent and all(moved[o].get((tensor, axis)) == extent for o in unknown_sizes if o != name)
        if not alone or axis >= len(shapes[tensor]) or value * shapes[tensor][axis] % extent:
            continue
        found: int = value * shapes[tensor][axis] // extent
        unit = _sizes(op)[name]["unit"]
        near = [_axes(specs(op, {**_choices(op), **_filled(op, known), name: found + d}), [tensor]).get((tensor, axis)) for d in (0, -unit)]
        if near[0] == shapes[tensor][axis] and near[1] != near[0]:
            return found
    return None


def _filled(op: str, known: Params) -> Params:
    return {**{name: size["unit"] for name, size in _sizes(op).items()}, **known}


def complete(op: str, given: Mapping[str, object], shapes: Mapping[str, Shape]) -> Params:
    """The parameters of a call: those given, and the sizes that the arrays' shapes settle. Raises ArgumentError for a name that the op does not
    have, for a value of another kind, and for what is needed and neither given nor settled."""
    known = _plain(op, given)
    sizes = _sizes(op)
    found = True
    while found and any(name not in known for name in sizes):
        found = False
        for name in sizes:
            if name not in known and (value := _candidate(op, known, name, shapes)) is not None:
                known[name] = value
                found = True
    needed = {field["param"] for field in info(op)["fields"] if not field["optional"]}
    optional = {field["param"] for field in info(op)["fields"] if field["optional"]}
    for name in [*(size for size in sizes if size not in optional), *(choice for choice in info(op)["choices"] if choice in needed)]:
        if name not in known:
            raise ArgumentError(op, name, "not given", f"a value: the shapes of {', '.join(shapes)} do not settle it")
    return known


def _plain(op: str, given: Mapping[str, object]) -> Params:
    allowed = parameter_names(op)
    kinds = {field["param"]: field for field in info(op)["fields"]}
    params: Params = {}
    for name, value in given.items():
        if name not in allowed:
            raise ArgumentError(op, f"'{name}'", unknown("argument", name, [*inputs_of(op), *allowed]), "one that the op has")
        field = kinds.get(name, {"kind": "size", "choices": []})
        params[name] = _value(op, name, value, str(field["kind"]), field["choices"])
    return params


def _value(op: str, name: str, value: object, kind: str, choices: Sequence[str]) -> int | float | str:
    if kind == "choice":
        if isinstance(value, str) and value in choices:
            return value
        raise ArgumentError(op, name, repr(value), "one of " + ", ".join(map(repr, choices)))
    wanted = "a real number" if kind.startswith("real") else "an integer"
    try:
        number = float(value) if kind.startswith("real") else value.__index__()  # type: ignore[arg-type, attr-defined]
    except (TypeError, ValueError, AttributeError):
        raise ArgumentError(op, name, repr(value), wanted) from None
    if kind == "size" and not 0 <= number < 2**31:
        raise ArgumentError(op, name, repr(value), "a size: 0 to 2^31")
    if not kind.startswith("real") and not -(2**63) <= number < 2**63:
        raise ArgumentError(op, name, repr(value), "an integer of 64 bits")
    return float(number) if kind.startswith("real") else int(number)


@cache
def inputs_of(op: str) -> tuple[str, ...]:
    """The names of an op's inputs."""
    return tuple(one.name for one in _trial(op, {}) if one.role == "in")


@cache
def outputs_of(op: str) -> tuple[str, ...]:
    """The names of its outputs."""
    return tuple(one.name for one in _trial(op, {}) if one.role == "out")


@cache
def symbolic(op: str) -> dict[tuple[str, str], tuple[int | str, ...]]:
    """By tensor and role, each axis in terms of the parameters: ("rows", "n"), ("n", "k / 32")."""
    base = _trial(op, {})
    moved = {name: _trial(op, {}, {name: 2}) for name in _sizes(op)}
    shapes: dict[tuple[str, str], tuple[int | str, ...]] = {}
    for index, one in enumerate(base):
        axes: list[int | str] = []
        for axis, extent in enumerate(one.shape):
            on = [name for name in moved if moved[name][index].shape[axis] != extent]
            axes.append(_term(op, on, extent))
        shapes[one.name, one.role] = tuple(axes)
    return shapes


def _term(op: str, names: Sequence[str], extent: int) -> int | str:
    if not names:
        return extent
    value = 1
    for name in names:
        value *= _sizes(op)[name]["unit"] * 48
    text = " * ".join(names)
    if value == extent:
        return text
    if value % extent == 0:
        return f"{text} / {value // extent}"
    return f"{text} * {extent // value}" if extent % value == 0 else f"f({', '.join(names)})"
