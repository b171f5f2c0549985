"""Quantised blocks made from a seed: "Generated blocks" of golden/SCHEMA.md."""
from __future__ import annotations

import numpy as np

SIZES = {"q4_0": 18, "q4_1": 20, "q5_0": 22, "q5_1": 24, "q8_0": 34, "q4_k": 144, "q5_k": 176, "q6_k": 210, "q8_k": 292}
SCALES = {"q4_0": (0,), "q4_1": (0, 2), "q5_0": (0,), "q5_1": (0, 2), "q8_0": (0,), "q4_k": (0, 2), "q5_k": (0, 2),
          "q6_k": (208,)}  # where the f16 scales lie; q8_k has an f32 at 0
DISTRIBUTIONS = ("blocks", "activations", "wide", "denormal", "bits", "zeros")


def words_of(dtype: str) -> int:
    return -(-SIZES[dtype] // 4)


def exponent(distribution: str, e: np.ndarray, bits: int) -> np.ndarray:
    bias = (1 << bits - 1) - 1
    if distribution in ("blocks", "activations"):
        return bias - 12 + e % 8
    if distribution == "wide":
        return bias - 14 + (30 * e >> bits)
    return np.zeros_like(e)


def with_exponent(distribution: str, scale: np.ndarray, bits: int, mantissa: int) -> np.ndarray:
    """The same sign and mantissa under another exponent field."""
    raw = scale.astype(np.int64)
    field = (1 << bits) - 1
    kept = raw & ~(field << mantissa)
    return (kept | exponent(distribution, raw >> mantissa & field, bits) << mantissa).astype(scale.dtype)


def block_bytes(distribution: str, dtype: str, words: np.ndarray) -> np.ndarray:
    """[count * words_of(dtype)] words -> [count, bytes of a block]."""
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"no distribution {distribution!r} for blocks")
    raw = np.ascontiguousarray(words.astype("<u4")).view(np.uint8).reshape(-1, 4 * words_of(dtype))[:, :SIZES[dtype]]
    data = np.ascontiguousarray(raw)
    if distribution in ("bits", "zeros"):
        return data if distribution == "bits" else np.zeros_like(data)
    if dtype == "q8_k":
        d = np.ascontiguousarray(data[:, :4]).view("<u4")
        data[:, :4] = with_exponent(distribution, d, 8, 23).view(np.uint8)
        codes = data[:, 4:260]
        codes[codes == 0x80] = 0x81
        sums = codes.view(np.int8).reshape(-1, 16, 16).sum(axis=-1, dtype=np.int64)
        data[:, 260:] = np.ascontiguousarray(sums.astype("<i2")).view(np.uint8)
        return data
    for at in SCALES[dtype]:
        scale = np.ascontiguousarray(data[:, at:at + 2]).view("<u2")
        data[:, at:at + 2] = with_exponent(distribution, scale, 5, 10).view(np.uint8)
    if dtype == "q8_0" and distribution == "activations":
        codes = data[:, 2:]
        codes[codes == 0x80] = 0x81
    return data
