"""Tensors of a GGUF file, as far as the recorders need them: versions 2 and 3, little endian, trusted input."""
from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from block_formats import FORMATS
from formats import Blocks, Tensor

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
PLAIN = {0: "<f4", 1: "<f2"}
BLOCKS = {form.number: form for form in FORMATS.values()}


class GgufFile:
    def __init__(self, path: Path) -> None:
        self.name = path.name
        self.raw = path.read_bytes()
        self.at = 0
        magic, version, tensors, pairs = self.take("<4sIQQ")
        if magic != b"GGUF" or version not in (2, 3):
            raise ValueError(f"{path}: expected a GGUF file of version 2 or 3")
        self.values = {}
        for _ in range(pairs):
            key = self.string()
            self.values[key] = self.value(self.take("<I")[0])
        infos = [self.info() for _ in range(tensors)]
        alignment = self.values.get("general.alignment", 32)
        self.start = -(-self.at // alignment) * alignment
        self.infos = {name: rest for name, *rest in infos}

    def take(self, form: str) -> tuple:
        found = struct.unpack_from(form, self.raw, self.at)
        self.at += struct.calcsize(form)
        return found

    def string(self) -> str:
        (size,) = self.take("<Q")
        self.at += size
        return self.raw[self.at - size:self.at].decode("utf-8", "surrogateescape")

    def value(self, kind: int) -> object:
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            inner, count = self.take("<IQ")
            return [self.value(inner) for _ in range(count)]
        return self.take(SCALARS[kind])[0]

    def info(self) -> tuple[str, tuple[int, ...], int, int]:
        name, (axes,) = self.string(), self.take("<I")
        shape = self.take(f"<{axes}Q")[::-1]  # stored innermost first
        kind, offset = self.take("<IQ")
        return name, shape, kind, offset

    def tensor(self, name: str) -> Tensor:
        """Plain tensors as they are; quantised ones as blocks [.., blocks of a row]."""
        shape, kind, offset = self.infos[name]
        if kind in PLAIN:
            return np.frombuffer(self.raw, PLAIN[kind], int(np.prod(shape)), self.start + offset).reshape(shape)
        form = BLOCKS[kind]
        blocks = (*shape[:-1], shape[-1] // form.elements)
        count = int(np.prod(blocks)) * form.size
        data = np.frombuffer(self.raw, np.uint8, count, self.start + offset)
        return Blocks(data.reshape(*blocks, form.size), form.name)
