"""The error bounds of docs/numerics.md, for checking while recording that canonical bits obey them."""
from __future__ import annotations

import math

import numpy as np

from fma32 import quiet

U = 2.0**-24
ETA = 2.0**-150
EXP_ULP = 0.939  # E
FLT_MAX = float(np.finfo(np.float32).max)


def g(k: float) -> float:
    return k * U / (1 - k * U)


def ulp32(y: np.ndarray) -> np.ndarray:
    """The spacing of f32 at |y|; 2^-149 among denormals."""
    exponent = np.frexp(np.where(np.isfinite(y), y, 1.0))[1] - 1
    return np.ldexp(1.0, np.maximum(exponent, -126) - 23)


def matvec_steps(k: int) -> int:
    return k + 1 if k < 64 else 64 + math.ceil(k / 64)


@quiet
def matvec(w: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bound and bits-only mask [.., rows]; S is taken over finite terms."""
    k = w.shape[1]
    size = np.empty((*x.shape[:-1], w.shape[0]))
    for place in np.ndindex(size.shape):
        terms = np.abs(w[place[-1]].astype(np.float64) * x[place[:-1]].astype(np.float64))
        size[place] = terms[np.isfinite(terms)].sum()
    growth = g(matvec_steps(k))
    return growth * size + np.where(size > 0, 2 * k * ETA, 0.0), size * (1 + growth) >= FLT_MAX


@quiet
def rms_norm(x: np.ndarray, w: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    h = math.ceil(x.shape[1] / 16) + 4
    relative = (1 + U) ** 4 / math.sqrt(1 - g(h + 2)) - 1
    squares = (x.astype(np.float64) ** 2).sum(axis=1, keepdims=True)
    bits_only = np.broadcast_to(squares * (1 + g(h)) >= FLT_MAX, y.shape)
    return relative * np.abs(y) + 2 * ETA * (1 + np.abs(w.astype(np.float64))), bits_only


@quiet
def softmax(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64)
    shifted = x - x.max(axis=1, keepdims=True)
    doubt = U * np.abs(shifted) + 2 * EXP_ULP * U
    total = np.exp(shifted).sum(axis=1, keepdims=True)
    raised = np.where(np.isneginf(shifted), 0.0, np.exp(shifted + doubt) / total)
    growth = g(math.ceil(x.shape[1] / 16) + 4)
    excess = (raised - y).sum(axis=1, keepdims=True)
    return raised * (1 + U) / ((1 - excess) * (1 - growth)) - y + 2.0**-147


@quiet
def swiglu(gate: np.ndarray, up: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    gate, up = gate.astype(np.float64), up.astype(np.float64)
    sigmoid = 1 / (1 + np.exp(-gate))
    relative = (3 * U + (1 - sigmoid) * 2 * EXP_ULP * U) * (1 + 8 * U)
    slack = np.abs(up) * np.where(gate < -88, 2.0**-121, 2.0**-149) + 2 * ETA
    return relative * np.abs(y) + slack, np.isinf(up) & (gate < -88)


@quiet
def rotation(x0: np.ndarray, c: np.ndarray, x1: np.ndarray, s: np.ndarray) -> np.ndarray:
    """For x0 c -+ x1 s."""
    x0, c, x1, s = (v.astype(np.float64) for v in (x0, c, x1, s))
    return g(2) * (np.abs(x0 * c) + np.abs(x1 * s)) + 4 * ETA
