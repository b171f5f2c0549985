"""Exact fp32 arithmetic in NumPy, and the building blocks of the canonical orders of docs/numerics.md.

NumPy's float32 +, -, *, / and sqrt are IEEE 754; what it lacks is the fused multiply-add.
"""
from __future__ import annotations

import numpy as np

F32 = np.float32
EXP_OVERFLOW = F32(float.fromhex("0x1.62e42ep6"))
EXP_UNDERFLOW = F32(-104.0)
LOG2_E = F32(float.fromhex("0x1.715476p0"))
MINUS_LN2_HIGH = F32(float.fromhex("-0x1.62e4p-1"))
MINUS_LN2_LOW = F32(float.fromhex("-0x1.7f7d1cp-20"))
EXP_COEFFICIENTS = [F32(float.fromhex(c)) for c in (
    "0x1.a01a02p-13", "0x1.6c16c2p-10", "0x1.111112p-7", "0x1.555556p-5", "0x1.555556p-3", "0x1p-1", "0x1p0", "0x1p0")]
LANES = 16

quiet = np.errstate(all="ignore")


def round_to_odd(total: np.ndarray, error: np.ndarray) -> np.ndarray:
    """total + error, |error| <= ulp/2, rounded to odd: exact if error is 0, else the neighbour whose last bit is 1."""
    bits = total.view(np.int64)
    step = np.where((error > 0) == (total > 0), 1, -1)
    inexact = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    return np.where(inexact, bits + step, bits).view(np.float64)


@quiet
def fma32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c, rounded once. The product is exact in fp64 (48 bits); the sum rounded to odd keeps 53 >= 24 + 2
    bits, so that the second rounding, to fp32, is that of the exact value (Boldo and Melquiond, 2008)."""
    product = np.asarray(a, np.float64) * np.asarray(b, np.float64)
    addend = np.asarray(c, np.float64)
    total = product + addend
    # Knuth's TwoSum: total + error = product + addend exactly.
    shadow = total - product
    error = (product - (total - shadow)) + (addend - shadow)
    return round_to_odd(np.atleast_1d(total), np.atleast_1d(error)).astype(F32).reshape(total.shape)


@quiet
def tree16(lanes: np.ndarray) -> np.ndarray:
    """[.., 16] -> [..]: l + (l+8), then +4, +2, +1."""
    for half in (8, 4, 2, 1):
        lanes = lanes[..., :half] + lanes[..., half:2 * half]
    return lanes[..., 0]


def dot16(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Over the last axis: element i goes to sum i mod 16 by fma, i ascending; then the tree."""
    lanes = np.zeros((*a.shape[:-1], LANES), F32)
    for start in range(0, a.shape[-1], LANES):
        part_a, part_b = a[..., start:start + LANES], b[..., start:start + LANES]
        width = part_a.shape[-1]
        lanes[..., :width] = fma32(part_a, part_b, lanes[..., :width])
    return tree16(lanes)


@quiet
def sum16(a: np.ndarray) -> np.ndarray:
    """As dot16 with additions."""
    lanes = np.zeros((*a.shape[:-1], LANES), F32)
    for start in range(0, a.shape[-1], LANES):
        part = a[..., start:start + LANES]
        lanes[..., :part.shape[-1]] = lanes[..., :part.shape[-1]] + part
    return tree16(lanes)


@quiet
def exp32(x: np.ndarray) -> np.ndarray:
    """The canonical exp: Cody and Waite's reduction, Taylor polynomial of degree 7."""
    x = np.asarray(x, F32)
    inside = np.where((x > EXP_OVERFLOW) | (x < EXP_UNDERFLOW) | np.isnan(x), F32(0), x)
    n = np.rint(inside * LOG2_E)
    r = fma32(n, MINUS_LN2_HIGH, inside)
    r = fma32(n, MINUS_LN2_LOW, r)
    p = np.full_like(r, EXP_COEFFICIENTS[0])
    for coefficient in EXP_COEFFICIENTS[1:]:
        p = fma32(p, r, coefficient)
    # (p * 2^a) * 2^(n-a): the first product is exact, so both are one product in fp64 and one rounding.
    y = np.ldexp(p.astype(np.float64), n.astype(np.int32)).astype(F32)
    y = np.where(x > EXP_OVERFLOW, F32(np.inf), np.where(x < EXP_UNDERFLOW, F32(0), y))
    return np.where(np.isnan(x), F32(np.nan), y).astype(F32)


@quiet
def matvec32(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """w [rows, k], x [.., k] -> [.., rows]: chains of 64 fma from +0, their sums added in order."""
    k = w.shape[1]
    total = np.zeros((*x.shape[:-1], w.shape[0]), F32)
    for start in range(0, k, 64):
        acc = np.zeros_like(total)
        for c in range(start, min(start + 64, k)):
            acc = fma32(w[:, c], x[..., c, None], acc)
        total = acc if start == 0 else total + acc
    return total
