"""Quantised blocks made from a seed: "Generated blocks" of golden/SCHEMA.md."""
from __future__ import annotations

import numpy as np

from block_formats import FORMATS

DISTRIBUTIONS = ("blocks", "activations", "wide", "denormal", "bits", "zeros")


def words_of(dtype: str) -> int:
    return -(-FORMATS[dtype].size // 4)


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
    raw = np.ascontiguousarray(words.astype("<u4")).view(np.uint8).reshape(-1, 4 * words_of(dtype))[:, :FORMATS[dtype].size]
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
    for at in FORMATS[dtype].halves:
        scale = np.ascontiguousarray(data[:, at:at + 2]).view("<u2")
        data[:, at:at + 2] = with_exponent(distribution, scale, 5, 10).view(np.uint8)
    if dtype == "q8_0" and distribution == "activations":
        codes = data[:, 2:]
        codes[codes == 0x80] = 0x81
    return data
