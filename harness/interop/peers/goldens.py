"""Golden cases as arrays: what golden/SCHEMA.md stores, generated inputs made."""
from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from formats import Bf16, Blocks
from generate import Generated


def text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def tensor(node: h5py.Group | h5py.Dataset) -> np.ndarray | Blocks | Bf16:
    if isinstance(node, h5py.Group):
        a = node.attrs
        return Generated(text(a["distribution"]), tuple(int(n) for n in a["shape"]), text(a["dtype"]), int(a["seed"]),
                         int(a["stream"]), float(a["scale"]), int(a["low"]), int(a["high"])).tensor
    kind = text(node.attrs["dtype"]) if "dtype" in node.attrs else ""
    if kind == "bfloat16":
        return Bf16(node[()])
    return Blocks(node[()], kind) if kind else node[()]


class Case:
    def __init__(self, group: h5py.Group) -> None:
        self.status = text(group.attrs.get("status", "ok"))
        self.params = {k: text(v) if isinstance(v, (bytes, str)) else v for k, v in group["params"].attrs.items()}
        self.inputs = {name: tensor(node) for name, node in group["inputs"].items()}


def read_case(golden: Path, op: str, name: str) -> Case:
    with h5py.File(golden / "ops" / f"{op}.h5", "r") as file:
        return Case(file["cases"][name])
