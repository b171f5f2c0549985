"""Blocks decoded one element at a time with struct: a second opinion on blocks.py, sharing nothing with it."""
from __future__ import annotations

import math
import struct

import numpy as np

from formats import Blocks


def six_bits(b: bytes, j: int) -> tuple[int, int]:
    """Scale and minimum of sub-block j out of twelve bytes."""
    if j < 4:
        return b[j] % 64, b[j + 4] % 64
    return b[j + 4] % 16 + b[j - 4] // 64 * 16, b[j + 4] // 16 + b[j] // 64 * 16


def element(name: str, b: bytes, i: int) -> float:
    """The value of element i, in fp64."""
    def half(at: int) -> float:
        return struct.unpack_from("<e", b, at)[0]

    if name in ("q4_0", "q4_1", "q5_0", "q5_1"):
        nibble = b[len(b) - 16 + i % 16] // (16 if i >= 16 else 1) % 16
        if name.startswith("q5"):
            nibble += (int.from_bytes(b[len(b) - 20:len(b) - 16], "little") >> i) % 2 * 16
        if name.endswith("_1"):
            return half(0) * nibble + half(2)
        return half(0) * (nibble - (8 if name == "q4_0" else 16))
    if name == "q8_0":
        return half(0) * struct.unpack_from("b", b, 2 + i)[0]
    if name == "q8_k":
        return struct.unpack_from("<f", b)[0] * struct.unpack_from("b", b, 4 + i)[0]
    if name == "q6_k":
        side, place = divmod(i, 128)
        group, lane = divmod(place, 32)
        low = b[64 * side + lane + 32 * (group % 2)]
        low = low // 16 if group >= 2 else low % 16
        high = b[128 + 32 * side + lane] // 4**group % 4
        return half(208) * struct.unpack_from("b", b, 192 + i // 16)[0] * (low + 16 * high - 32)
    sub = i // 32
    scale, minimum = six_bits(b[4:16], sub)
    byte = b[len(b) - 128 + 32 * (sub // 2) + i % 32]
    code = byte // 16 if sub % 2 else byte % 16
    if name == "q5_k":
        code += b[16 + i % 32] // 2**sub % 2 * 16
    return half(0) * scale * code - half(2) * minimum


def decode(blocks: Blocks, elements: int) -> np.ndarray:
    """f32 [.., elements]; a NaN of any kind."""
    rows = blocks.data.reshape(-1, blocks.data.shape[-1])
    with np.errstate(all="ignore"):
        values = [element(blocks.format, row.tobytes(), i) for row in rows for i in range(elements)]
        values = [math.nan if math.isnan(v) else v for v in values]
        return np.array(values, np.float64).astype(np.float32).reshape(*blocks.shape, elements)
