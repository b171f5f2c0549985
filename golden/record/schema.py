"""Cases, and the writer of golden files: golden/SCHEMA.md, byte for byte the same on every machine.

Nothing is filtered or time-stamped, strings have fixed lengths, and a file replaces its predecessor whole.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

from formats import Bf16, Blocks, Tensor, tensor_array
from generate import Generated
from real import Real

SCHEMA = 1
GENERATOR = "golden/record/record_ops.py"
VERSION = "1"
SCALARS = int | float | str


@dataclass
class Output:
    """One output tensor of a case: what is stored of it, and what the checks while recording need."""

    truth: Tensor  # fp64 if bounded, the output's dtype if exact
    index: np.ndarray | None = None  # flat indices that truth is kept for; None: all
    canonical: np.ndarray | None = None  # f32, at the same indices
    bound: np.ndarray | None = None  # None: exact
    bits_only: np.ndarray | None = None  # where no bound holds
    opinion: np.ndarray | None = None  # another's values: fp64 if bounded, else widened to what the truth holds
    opinion_scale: np.ndarray | None = None  # what the opinion's error is relative to; None: |truth|
    judged_by: str = ""  # "weighted_error": truth's bytes are for information

    def __post_init__(self) -> None:
        """The sign and payload of an arithmetic NaN depend on the machine: one NaN, 0x7fc00000, stands for all."""
        if self.bound is not None:
            self.truth = np.where(np.isnan(self.truth), np.nan, self.truth)
            self.canonical = np.where(np.isnan(self.canonical), np.float32(np.nan), self.canonical)


@dataclass
class Case:
    """One call of an op: its data, then (after evaluation) its outputs."""

    name: str
    params: dict[str, SCALARS]
    inputs: dict[str, Tensor | Generated]
    tags: str = ""
    status: str = "ok"
    note: str = ""
    outputs: dict[str, Output] = field(default_factory=dict)
    parts: dict[str, np.ndarray] = field(default_factory=dict)
    source: str = ""  # where the bytes come from, if not from the file's source

    def tensor(self, name: str) -> Tensor:
        value = self.inputs[name]
        return value.tensor if isinstance(value, Generated) else value


@dataclass(frozen=True)
class Op:
    """How an op's goldens come about: the cases (of a trained model too), and what fills in a case's outputs."""

    cases: Callable[[Real], list[Case]]
    evaluate: Callable[[Case], None]


def set_text(place: h5py.HLObject, name: str, text: str) -> None:
    raw = text.encode()
    place.attrs.create(name, np.array(raw, f"S{max(1, len(raw))}"), dtype=h5py.string_dtype("utf-8", max(1, len(raw))))


def set_scalar(place: h5py.HLObject, name: str, value: SCALARS) -> None:
    if isinstance(value, str):
        set_text(place, name, value)
    else:
        place.attrs.create(name, np.float64(value) if isinstance(value, float) else np.int64(value))


def make_group(parent: h5py.Group, name: str) -> h5py.Group:
    plist = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    plist.set_obj_track_times(False)
    return h5py.Group(h5py.h5g.create(parent.id, name.encode(), gcpl=plist))


def put_array(parent: h5py.Group, name: str, tensor: Tensor) -> None:
    data = np.ascontiguousarray(tensor_array(tensor))
    sparse = data.nbytes > 1 << 18 and np.count_nonzero(data) < data.size // 1000
    how = {"compression": "gzip", "shuffle": True, "chunks": data.shape} if sparse else {}
    dataset = parent.create_dataset(name, data=data, track_times=False, **how)
    if isinstance(tensor, Bf16):
        set_text(dataset, "dtype", "bfloat16")
    elif isinstance(tensor, Blocks):
        set_text(dataset, "dtype", tensor.format)


def put_input(parent: h5py.Group, name: str, tensor: Tensor | Generated) -> None:
    if not isinstance(tensor, Generated):
        put_array(parent, name, tensor)
        return
    group = make_group(parent, name)
    set_text(group, "generator", "philox4x32-10")
    set_text(group, "distribution", tensor.distribution)
    group.attrs.create("seed", np.uint64(tensor.seed))
    group.attrs.create("stream", np.uint32(tensor.stream))
    group.attrs.create("scale", np.float64(tensor.scale))
    group.attrs.create("low", np.int64(tensor.low))
    group.attrs.create("high", np.int64(tensor.high))
    group.attrs.create("shape", np.array(tensor.shape, np.int64))
    set_text(group, "dtype", tensor.dtype)
    set_text(group, "sha256", tensor.sha256)


def put_case(cases: h5py.Group, case: Case) -> None:
    group = make_group(cases, case.name)
    set_text(group, "tags", case.tags)
    if case.status != "ok":
        set_text(group, "status", case.status)
    for name, text in (("note", case.note), ("source", case.source)):
        if text:
            set_text(group, name, text)
    params = make_group(group, "params")
    for name, value in case.params.items():
        set_scalar(params, name, value)
    inputs = make_group(group, "inputs")
    for name, tensor in case.inputs.items():
        put_input(inputs, name, tensor)
    for kind in ("truth", "canonical"):
        kept = {n: (getattr(o, kind), o.index) for n, o in case.outputs.items() if getattr(o, kind) is not None}
        if not kept:
            continue
        place = make_group(group, kind)
        for name, (tensor, index) in kept.items():
            put_array(place, name, tensor)
            if index is not None:
                put_array(place, name + ".index", index.astype(np.int64))
            if kind == "truth" and case.outputs[name].judged_by:
                set_text(place[name], "judged_by", case.outputs[name].judged_by)
    if case.parts:
        place = make_group(group, "parts")
        for name, figures in case.parts.items():
            put_array(place, name, figures)


def read_tensor(dataset: h5py.Dataset) -> Tensor:
    form = dataset.attrs.get("dtype", b"")
    form = form.decode() if isinstance(form, bytes) else form
    if form == "bfloat16":
        return Bf16(dataset[()])
    return Blocks(dataset[()], form) if form else dataset[()]


def read_cases(path: Path, prefix: str) -> list[Case]:
    """The cases of a golden file whose names begin so, as they were written. Their inputs are all stored."""
    found = []
    with h5py.File(path) as file:
        for name, group in file["cases"].items():
            if not name.startswith(prefix):
                continue
            texts = {key: value.decode() if isinstance(value, bytes) else value for key, value in group.attrs.items()}
            params = {key: value.decode() if isinstance(value, bytes) else value.item() if hasattr(value, "item") else value
                      for key, value in group["params"].attrs.items()}
            outputs = {}
            for output, truth in group.get("truth", {}).items():
                canonical = group["canonical"].get(output) if "canonical" in group else None
                judged_by = truth.attrs.get("judged_by", b"")
                outputs[output] = Output(read_tensor(truth), canonical=None if canonical is None else canonical[()],
                                         judged_by=judged_by.decode() if isinstance(judged_by, bytes) else judged_by)
            found.append(Case(name, params, {key: read_tensor(value) for key, value in group["inputs"].items()}, **texts,
                              outputs=outputs, parts={key: value[()] for key, value in group.get("parts", {}).items()}))
    return found


def write_op(path: Path, op: str, cases: list[Case], source: str, licence: str, generator: str = GENERATOR) -> None:
    """Writes beside the file, flushes, renames."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".h5.part")
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_obj_track_times(False)
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_libver_bounds(h5py.h5f.LIBVER_V18, h5py.h5f.LIBVER_V18)
    with h5py.File(h5py.h5f.create(str(beside).encode(), h5py.h5f.ACC_TRUNC, creation, access)) as file:
        set_scalar(file, "schema", SCHEMA)
        for name, text in {"op": op, "generator": generator, "version": VERSION, "source": source,
                           "licence": licence}.items():
            set_text(file, name, text)
        group = make_group(file["/"], "cases")
        for case in cases:
            put_case(group, case)
    with open(beside, "rb") as written:
        os.fsync(written.fileno())
    os.replace(beside, path)
