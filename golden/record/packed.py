"""Sixteen rows of blocks interleaved, from the byte map in kernels/formats/packed.h.

A piece of the plain block (from a byte, so many bytes) is cut into words; the packed block holds word 0 of the
sixteen rows, then word 1 of the sixteen, and so on, pieces in the map's order.
"""
from __future__ import annotations

import numpy as np

from formats import Blocks

ROWS = 16
#                from, bytes, word
FORMATS = {
    "q4_k": [(0, 2, 2), (2, 2, 2), (4, 12, 4), (16, 128, 4)],  # d, dmin, scales, qs
    "q6_k": [(208, 2, 2), (192, 16, 4)] +  # d, scales; triples: two words of ql, one of qh
            [(at + i, 4, 4) for h in range(2) for i in range(0, 32, 4) for at in (64 * h, 64 * h + 32, 128 + 32 * h)],
    "q8_0": [(0, 2, 2), (2, 32, 4)],  # d, qs
}


def pack(rows: Blocks, padding: np.ndarray | int = 0) -> Blocks:
    """[n, B] plain blocks -> [ceil(n/16), B] packed ones; `padding`: the bytes of the rows past n."""
    n, blocks, size = rows.data.shape
    tiles = -(-n // ROWS)
    full = np.empty((tiles * ROWS, blocks, size), np.uint8)
    full[:n], full[n:] = rows.data, padding
    lanes = full.reshape(tiles, ROWS, blocks, size).swapaxes(1, 2)
    pieces = [lanes[..., at:at + count].reshape(tiles, blocks, ROWS, count // word, word).swapaxes(2, 3)
              .reshape(tiles, blocks, ROWS * count) for at, count, word in FORMATS[rows.format]]
    return Blocks(np.concatenate(pieces, axis=-1), f"{rows.format}_x16")


def unpack(packed: Blocks, n: int) -> Blocks:
    """The inverse: the first n rows, plain."""
    tiles, blocks, size = packed.data.shape
    plain = packed.format.removesuffix("_x16")
    full = np.empty((tiles, blocks, ROWS, size // ROWS), np.uint8)
    start = 0
    for at, count, word in FORMATS[plain]:
        piece = packed.data[..., start:start + ROWS * count].reshape(tiles, blocks, count // word, ROWS, word)
        full[..., at:at + count] = piece.swapaxes(2, 3).reshape(tiles, blocks, ROWS, count)
        start += ROWS * count
    rows = full.swapaxes(1, 2).reshape(tiles * ROWS, blocks, size // ROWS)
    return Blocks(np.ascontiguousarray(rows[:n]), plain)
