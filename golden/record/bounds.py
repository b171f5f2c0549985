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


def dot16_steps(n: int) -> int:
    return math.ceil(n / 16) + 4


@quiet
def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: float,
              position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One query's bound and bits-only mask [head_dim]; k, v [keys, head_dim]: its unmasked keys, `position` theirs."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    a, depth = float(scale), dot16_steps(len(q))
    terms = np.abs(q * k)
    size = np.where(np.isfinite(terms), terms, 0.0).sum(axis=1)
    overflow = bool((max(1.0, abs(a)) * size * (1 + g(depth + 1)) >= FLT_MAX).any())
    s = a * (q * k).sum(axis=1)
    used = s != -np.inf
    s, size, v, position = s[used], size[used], v[used], position[used]
    if not len(s) or not np.isfinite(s).all():
        return np.zeros(len(q)), np.full(len(q), overflow)
    blocks, spans = np.unique(position // 16), len(np.unique(position // 1024))
    scalings = (position[:, None] // 16 < blocks).sum(axis=1) + spans + 1  # R_j + 1
    below = s.max() - s
    w = np.exp(-below) / np.exp(-below).sum()
    d = g(depth + 1) * abs(a) * size
    x = d + U * (below + d + d.max()) + scalings * 2 * EXP_ULP * U
    t = w * np.expm1(x)
    o, total = (w[:, None] * v).sum(axis=0), t.sum()
    growth = g(min(len(s), 1024) + min(len(blocks), 64) + 2 * spans + 1)
    far = np.where(below + x > 86, scalings * 2.0**-148, 0.0)[:, None]
    bound = (t[:, None] * np.abs(v - o)).sum(axis=0) + (far * (np.abs(v) + np.abs(o))).sum(axis=0)
    bound += growth * (((w + t)[:, None] * np.abs(v)).sum(axis=0) + (1 + total) * np.abs(o))
    bound += (len(s) + len(blocks) + 2 * spans + 2) * ETA
    divisor = 1 - total - growth * (1 + total)
    bound = (1 + U) * bound / divisor + U * np.abs(o)
    magnitude = np.abs(v).sum(axis=0)
    void = ~((divisor > 0.5) & np.isfinite(bound)) & (magnitude > 0)
    bits_only = overflow | void | ~((1 + growth) * magnitude < FLT_MAX)
    return np.where((magnitude > 0) & np.isfinite(bound), bound, 0.0), bits_only
