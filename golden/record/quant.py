"""The closed-form encoders and the activation quantisers, from their definitions (kernels/encode_*, quantize_*).

All arithmetic is fp32 and rounds step by step, as NumPy's does. Rows in, blocks out; None stands for a refusal.
"""
from __future__ import annotations

import numpy as np

from block_formats import FORMATS
from blocks import Fields, join
from fma32 import F32, quiet
from formats import Blocks, f32_to_f16_bits

ALMOST_HALF = F32(float.fromhex("0x1.fffffep-2"))
SYMMETRIC = {"q4_0": (F32(-8), F32(8.5), 15, 8), "q5_0": (F32(-16), F32(16.5), 31, 16)}  # divisor, shift, top, zero
OFFSET = {"q4_1": (F32(15), 15), "q5_1": (F32(31), 31)}
CLOSED = tuple(form.name for form in FORMATS.values() if form.elements == 32)
K_FORMATS = tuple(form.name for form in FORMATS.values() if form.subs > 1)


@quiet
def inverse(numerator: float, x: np.ndarray) -> np.ndarray:
    """numerator / x; 0 where that is not finite."""
    value = F32(numerator) / x
    return np.where(np.isfinite(value), value, F32(0))


def first_equal(x: np.ndarray, value: np.ndarray) -> np.ndarray:
    """[.., n], [.., 1] -> [.., 1]: the first element that equals the value, whose zero has its sign."""
    return np.take_along_axis(x, (x == value).argmax(axis=-1, keepdims=True), axis=-1)


def first_largest(x: np.ndarray) -> np.ndarray:
    """[.., n] -> [.., 1]: the signed value of the first largest magnitude; +0 if all are zeros."""
    found = np.take_along_axis(x, np.abs(x).argmax(axis=-1, keepdims=True), axis=-1)
    return np.where(found == 0, F32(0), found)


def half_range(x: np.ndarray) -> np.ndarray:
    """f32 rounded to f16 and widened; infinite beyond its range."""
    return f32_to_f16_bits(x).view(np.float16).astype(F32)


def in_blocks(x: np.ndarray, elements: int) -> np.ndarray:
    return x.reshape(*x.shape[:-1], x.shape[-1] // elements, elements)


def finish(name: str, fields: Fields) -> Blocks | None:
    scales = [fields.d] if fields.m is None else [fields.d, fields.m]
    return join(name, fields) if all(np.isfinite(s).all() for s in scales) else None


@quiet
def encode(name: str, x: np.ndarray) -> Blocks | None:
    """encode_<name> of f32 rows [.., k], for the closed formulas."""
    if not np.isfinite(x).all():
        return None
    x = in_blocks(x, FORMATS[name].elements)
    if name in SYMMETRIC:
        divisor, shift, top, zero = SYMMETRIC[name]
        d = first_largest(x) / divisor
        code = np.minimum(np.trunc(x * inverse(1, d) + shift), top) - zero
        return finish(name, Fields(half_range(d[..., 0]), code.astype(np.int32)))
    if name in OFFSET:
        steps, top = OFFSET[name]
        low, high = (first_equal(x, end) for end in (x.min(axis=-1, keepdims=True), x.max(axis=-1, keepdims=True)))
        d = (high - low) / steps
        code = np.minimum(np.trunc((x - low) * inverse(1, d) + F32(0.5)), top)
        code = np.where(np.isfinite(code), code, 0).astype(np.int32)  # an infinite range is refused below
        return finish(name, Fields(half_range(d[..., 0]), code, half_range(low[..., 0])))
    assert name == "q8_0", name
    d = np.abs(x).max(axis=-1, keepdims=True) / F32(127)
    product = x * inverse(1, d)
    return finish(name, Fields(half_range(d[..., 0]), np.trunc(product + np.copysign(ALMOST_HALF, product))
                               .astype(np.int32)))


@quiet
def quantize(name: str, x: np.ndarray) -> Blocks | None:
    """quantize_<name> of f32 rows [.., k]: q8_0 or q8_k."""
    if not np.isfinite(x).all():
        return None
    x = in_blocks(x, FORMATS[name].elements)
    if name == "q8_0":
        top = np.abs(x).max(axis=-1, keepdims=True)
        code = np.rint(x * inverse(127, top))
        return finish(name, Fields(half_range((top / F32(127))[..., 0]), code.astype(np.int32)))
    assert name == "q8_k", name
    scale = inverse(-127, first_largest(x))
    d = np.where(scale == 0, F32(0), F32(1) / scale)[..., 0]
    return join(name, Fields(d, np.rint(scale * x).astype(np.int32)))


def weighted_error(x: np.ndarray, decoded: np.ndarray, name: str) -> float:
    """Sum of w (x - decoded)^2 in fp64: w = rms(sub-block of 32) + |x| for q4_k and q5_k, x^2 for q6_k."""
    x, decoded = x.astype(np.float64).reshape(-1, 32), decoded.astype(np.float64).reshape(-1, 32)
    if name == "q6_k":
        weight = x**2
    else:
        weight = np.sqrt((x**2).mean(axis=1, keepdims=True)) + np.abs(x)
    return float((weight * (x - decoded)**2).sum())
