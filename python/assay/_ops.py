"""Ops as data: `assay.ops()`, `assay.op("rms_norm")`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assay import _shapes
from assay._arrays import wanted_text
from assay._errors import AssayError, unknown
from assay._extension import FOLDER, _assay


@dataclass(frozen=True)
class Tensor:
    """A tensor of an op. `shape` is in terms of the parameters; of block types it counts blocks."""

    name: str
    role: str  # "in" or "out"
    dtype: str
    shape: tuple[int | str, ...]
    aliases: tuple[str, ...]  # of an output: the inputs that it may lie on

    def __str__(self) -> str:
        return f"{self.name}  {wanted_text(self.dtype, self.shape)}  {self.role}"


@dataclass(frozen=True)
class Parameter:
    """A scalar of an op's argument struct: size, number, choice, int32, real32 or real64."""

    name: str
    kind: str
    optional: bool
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Op:
    """What an op is. `text` is its specification, from the header of its family."""

    name: str
    family: str
    args: str
    header: str
    exactness: str
    domain: str
    bound: str
    order: str
    tensors: tuple[Tensor, ...]
    parameters: tuple[Parameter, ...]
    variants: tuple[str, ...]
    text: str

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """The tensors that go in."""
        return tuple(one for one in self.tensors if one.role == "in")

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """The tensors that come out."""
        return tuple(one for one in self.tensors if one.role == "out")

    def __str__(self) -> str:
        lines = [f"{self.name} ({self.exactness}; struct {self.args}, {self.header})", *(f"  {one}" for one in self.tensors)]
        lines += [f"  {one.name}  {one.kind}{', optional' if one.optional else ''} {' | '.join(one.choices)}".rstrip() for one in self.parameters]
        return "\n".join([*lines, f"  domain: {self.domain}", f"  bound: {self.bound}", "", self.text])


def ops() -> list[str]:
    """The names of all ops."""
    return list(_assay.op_names())


def require(name: str) -> str:
    """`name`, if an op has it. Raises AssayError that names the nearest."""
    if name not in ops():
        raise AssayError(unknown("op", name, ops()))
    return name


def include_dir() -> Path:
    """Where the headers lie that a kernel in C or C++ is compiled against: `#include "kernels/norms/norms.h"`."""
    return FOLDER / "include"


@cache
def op(name: str) -> Op:
    """An op's specification, as text and as data. Raises AssayError for an unknown name."""
    about = _shapes.info(require(name))
    shapes = _shapes.symbolic(name)
    tensors = tuple(Tensor(one.name, one.role, one.dtype, shapes[one.name, one.role], one.aliases) for one in _shapes._trial(name, {}))
    text = _specification(include_dir() / about["header"], name)
    order = re.search(r"Canonical order:(.*?)(?:\n\s*(?:Bound|Classes|Source|Domain)\b|\Z)", text, re.DOTALL)
    return Op(
        name=name,
        family=about["family"],
        args=about["args"],
        header=about["header"],
        exactness=about["exactness"],
        domain=about["domain"],
        bound=about["bound"],
        order=" ".join(order[1].split()) if order else "",
        tensors=tensors,
        parameters=_parameters(name),
        variants=tuple(one["name"] for one in about["variants"]),
        text=text,
    )


def _parameters(name: str) -> tuple[Parameter, ...]:
    about = _shapes.info(name)
    fields = {field["param"]: field for field in about["fields"]}
    optional = {size["name"] for size in about["sizes"] if size["optional"]}
    made = []
    for parameter in _shapes.parameter_names(name):
        field = fields.get(parameter, {"kind": "size", "optional": parameter in optional, "choices": ()})
        made.append(Parameter(parameter, field["kind"], field["optional"], tuple(field["choices"])))
    return tuple(made)


def _specification(header: Path, name: str) -> str:
    """The comments of a header of a family that speak of all its ops, and of this one."""
    comments = [_plain(one) for one in re.findall(r"/\*(.*?)\*/", header.read_text(encoding="utf-8"), re.DOTALL)]
    titles = [comment.partition("\n")[0].strip() for comment in comments]
    own = [comment for comment, title in zip(comments, titles, strict=True) if title == name]
    if own:
        others = [title for title in titles if title in ops() and title != name]
        return "\n\n".join(c for c, t in zip(comments, titles, strict=True) if t == name or t not in others)
    return "\n\n".join(comments)


def _plain(comment: str) -> str:
    return re.sub(r"\n   ", "\n", comment.strip())
