"""Blocks whose codes sit so near a tie that a slightly different formula gives other bytes, found by search.

Each rival below is a mistake that looks right: a division where a product by the reciprocal belongs, an fma, a
reciprocal or a tie rule of another op. Every rival is shown up by some blocks of every set.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from block_formats import FORMATS
from fma32 import F32, fma32, quiet
from generate import Draw
from quant import ALMOST_HALF, OFFSET, SYMMETRIC, first_largest, inverse

CANDIDATES = 3000
KEPT = 6  # blocks a rival
Codes = Callable[[np.ndarray], np.ndarray]


def near(draw: Draw, elements: int, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Blocks [CANDIDATES, elements] of values within a few last places of (code + 1/2) steps, and their steps."""
    step = np.abs(draw.array("uniform", (CANDIDATES, 1))).astype(np.float64) + 0.01
    half = levels[draw.array("index", (CANDIDATES, elements), "i32", low=0, high=len(levels))] + 0.5
    shift = draw.array("index", (CANDIDATES, elements), "i32", low=-2, high=3)
    x = ((half * step).astype(F32).view(np.int32) + shift).view(F32)
    return x, step


@quiet
def rivals_symmetric(name: str) -> tuple[Codes, list[Codes]]:
    divisor, shift, top, _ = SYMMETRIC[name]

    def d_of(x: np.ndarray) -> np.ndarray:
        return first_largest(x) / divisor

    def cut(value: np.ndarray) -> np.ndarray:
        return np.minimum(np.trunc(value), top)
    return (lambda x: cut(x * inverse(1, d_of(x)) + shift),
            [lambda x: cut(x / d_of(x) + shift),
             lambda x: cut(fma32(x, inverse(1, d_of(x)), shift)),
             lambda x: np.minimum(np.rint(x * inverse(1, d_of(x))) + (shift - F32(0.5)), top)])


@quiet
def rivals_offset(name: str) -> tuple[Codes, list[Codes]]:
    steps, top = OFFSET[name]

    def low_of(x: np.ndarray) -> np.ndarray:
        return x.min(axis=-1, keepdims=True)

    def d_of(x: np.ndarray) -> np.ndarray:
        return (x.max(axis=-1, keepdims=True) - low_of(x)) / steps

    def cut(value: np.ndarray) -> np.ndarray:
        return np.minimum(np.trunc(value), top)
    return (lambda x: cut((x - low_of(x)) * inverse(1, d_of(x)) + F32(0.5)),
            [lambda x: cut((x - low_of(x)) / d_of(x) + F32(0.5)),
             lambda x: cut(fma32(x - low_of(x), inverse(1, d_of(x)), F32(0.5))),
             lambda x: np.minimum(np.rint((x - low_of(x)) * inverse(1, d_of(x))), top)])


def amax(x: np.ndarray) -> np.ndarray:
    return np.abs(x).max(axis=-1, keepdims=True)


def away(product: np.ndarray) -> np.ndarray:
    return np.trunc(product + np.copysign(ALMOST_HALF, product))


@quiet
def rivals_q8_0(to_even: bool) -> tuple[Codes, list[Codes]]:
    """The weights' encoder (1/d, ties away) and the activations' quantiser (127/amax, ties to even)."""
    def by_d(x: np.ndarray) -> np.ndarray:
        return x * inverse(1, amax(x) / F32(127))

    def by_amax(x: np.ndarray) -> np.ndarray:
        return x * inverse(127, amax(x))
    ours, other = (by_amax, by_d) if to_even else (by_d, by_amax)
    tie, other_tie = (np.rint, away) if to_even else (away, np.rint)
    return lambda x: tie(ours(x)), [lambda x: tie(other(x)), lambda x: other_tie(ours(x)),
                                    lambda x: tie(x / (amax(x) / F32(127)))]


@quiet
def rivals_q8_k() -> tuple[Codes, list[Codes]]:
    """Codes and, as one more column, d."""
    def with_d(code: np.ndarray, d: np.ndarray) -> np.ndarray:
        return np.concatenate([code, d], axis=-1)

    def scale(x: np.ndarray) -> np.ndarray:
        return inverse(-127, first_largest(x))

    def d_of(x: np.ndarray) -> np.ndarray:
        return F32(1) / scale(x)
    return (lambda x: with_d(np.rint(scale(x) * x), d_of(x)),
            [lambda x: with_d(away(scale(x) * x), d_of(x)),
             lambda x: with_d(np.rint(scale(x) * x), first_largest(x) / F32(-127)),
             lambda x: with_d(np.rint(x / (first_largest(x) / F32(-127))), d_of(x)),
             lambda x: with_d(np.rint(inverse(-128, first_largest(x)) * x), d_of(x)),
             lambda x: with_d(np.rint(inverse(127, amax(x)) * x), F32(1) / inverse(127, amax(x)))])


def pick(x: np.ndarray, ours: Codes, rivals: list[Codes]) -> np.ndarray:
    """The first KEPT blocks that show each rival up."""
    with np.errstate(all="ignore"):
        right = ours(x)
        kept: set[int] = set()
        for number, rival in enumerate(rivals):
            shown = np.flatnonzero((rival(x) != right).any(axis=-1))
            assert len(shown), f"rival {number} is never shown up"
            kept.update(shown[:KEPT].tolist())
    return np.ascontiguousarray(x[sorted(kept)])


def top_of(x: np.ndarray, step: np.ndarray, draw: Draw, top: float, signed: bool = True) -> np.ndarray:
    """Puts the extreme value, `top` steps, somewhere into every block."""
    rows = np.arange(len(x))
    sign = np.where(rows % 2 == 0, 1.0, -1.0) if signed else np.ones(len(x))
    place = draw.array("index", (len(x),), "i32", low=0, high=x.shape[1])
    x[rows, place] = (top * step[:, 0] * sign).astype(F32)
    return x


def encoder_ties(name: str) -> np.ndarray:
    draw = Draw(f"encode_{name}/near_ties")
    if name in SYMMETRIC:
        divisor, _, top, zero = SYMMETRIC[name]
        x, step = near(draw, 32, np.arange(-zero, zero - 1))
        return pick(top_of(x, step, draw, zero), *rivals_symmetric(name))
    if name in OFFSET:
        steps, top = OFFSET[name]
        x, step = near(draw, 32, np.arange(top))
        x = top_of(x, step, draw, top, signed=False)
        x[:, 11] = 0
        return pick(x, *rivals_offset(name))
    x, step = near(draw, 32, np.arange(-127, 126))
    return pick(top_of(x, step, draw, 127), *rivals_q8_0(to_even=False))


def quantizer_ties(name: str) -> np.ndarray:
    draw = Draw(f"quantize_{name}/near_ties")
    x, step = near(draw, FORMATS[name].elements, np.arange(-127, 126))
    x = top_of(x, step, draw, 127)
    return pick(x, *(rivals_q8_0(to_even=True) if name == "q8_0" else rivals_q8_k()))
