"""The ops' values from their definitions, correctly rounded to fp64: the same bits on every machine.

Sums of products go through math.fsum (products of two f32 are exact in fp64), functions through mpmath at 160
bits, which is integer arithmetic. Where an input is NaN or infinite the equation is evaluated in IEEE fp64: only
its class matters there.
"""
from __future__ import annotations

import math

import numpy as np
from mpmath import mp, mpf

from fma32 import quiet

mp.prec = 160
PRODUCT_SCALE = 298  # every product of two f32 is a multiple of 2^-298


def wide(x: np.ndarray) -> np.ndarray:
    """f32 values as fp64, exactly."""
    with np.errstate(invalid="ignore"):
        return np.asarray(x).astype(np.float64)


@quiet
def matvec(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """w [rows, k], x [.., k] -> [.., rows]: sums of products."""
    out = np.empty((*x.shape[:-1], w.shape[0]))
    for place in np.ndindex(out.shape):
        terms = wide(w[place[-1]]) * wide(x[place[:-1]])
        out[place] = math.fsum(terms.tolist()) if np.isfinite(terms).all() else terms.sum()
    return out


def exact_sum_of_squares(row: np.ndarray) -> mpf:
    """Rounded to 160 bits from the exact integer."""
    squares = (wide(row) * wide(row)).tolist()
    return mp.ldexp(mpf(sum(int(math.ldexp(s, PRODUCT_SCALE)) for s in squares)), -PRODUCT_SCALE)


@quiet
def rms_norm(x: np.ndarray, w: np.ndarray, eps: float) -> np.ndarray:
    """x [rows, n]: x / sqrt(mean x^2 + eps) * w."""
    rows, n = x.shape
    out = np.empty((rows, n))
    for j in range(rows if n else 0):
        if not np.isfinite(x[j]).all():
            out[j] = wide(x[j]) / np.sqrt((wide(x[j]) ** 2).sum() / n + eps) * wide(w)
            continue
        scale = 1 / mp.sqrt(exact_sum_of_squares(x[j]) / n + mpf(eps))
        for i, product in enumerate((wide(x[j]) * wide(w)).tolist()):
            out[j, i] = float(mpf(product) * scale) if math.isfinite(product) else product
    return out


def exp(x: float) -> float:
    """e^x for a finite or infinite x; beyond fp64's range its limit."""
    if math.isnan(x) or x > 710.0:
        return x if math.isnan(x) else math.inf
    return 0.0 if x < -800.0 else float(mp.exp(mpf(x)))


def softmax(x: np.ndarray) -> np.ndarray:
    """x [rows, n]: e^(x - max) / sum."""
    out = np.empty(x.shape)
    for j, row in enumerate(x):
        if np.isnan(row).any() or row.max() == np.inf or row.max() == -np.inf:
            out[j] = np.nan
            continue
        top = mpf(float(row.max()))
        # Terms below e^-800 are zero in fp64 and do not reach the 160 bits that the sum keeps.
        terms = [mp.exp(mpf(float(v)) - top) if float(v) - float(top) > -800.0 else mpf(0) for v in row]
        total = mp.fsum(terms)
        out[j] = [float(t / total) for t in terms]
    return out


@quiet
def swiglu(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    """g / (1 + e^-g) * up, elementwise."""
    out = np.empty(gate.shape)
    for place in np.ndindex(out.shape):
        g, v = float(gate[place]), float(up[place])
        if not (math.isfinite(g) and math.isfinite(v)):
            out[place] = np.float64(g) / (1.0 + np.float64(exp(-g))) * np.float64(v)
        elif g < -1500.0:  # |g v| e^g < 2^256 e^-1500: zero in fp64
            out[place] = math.copysign(0.0, -v)
        else:
            out[place] = float(mpf(g) * mpf(v) / (1 + mp.exp(-mpf(g))))
    return out


def power(theta: float, exponent: float) -> float:
    """theta^exponent, correctly rounded to fp64."""
    return float(mp.power(mpf(theta), mpf(exponent)))


def cosine(angle: np.ndarray) -> np.ndarray:
    return np.array([float(mp.cos(mpf(a))) for a in angle.reshape(-1).tolist()]).reshape(angle.shape)


def sine(angle: np.ndarray) -> np.ndarray:
    return np.array([float(mp.sin(mpf(a))) for a in angle.reshape(-1).tolist()]).reshape(angle.shape)
