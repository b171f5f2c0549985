"""The canonical order of attention (docs/numerics.md), in exact fp32 arithmetic: all rows and heads side by side."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from attention import Problem
from fma32 import F32, LANES, dot16, exp32, fma32, quiet, tree16

SPAN = 1024  # positions
NONE = F32(-np.inf)


@dataclass
class State:
    """A running result for every row and head."""

    m: np.ndarray  # [rows, heads]
    l: np.ndarray
    o: np.ndarray  # [rows, heads, head_dim]

    @staticmethod
    def empty(rows: int, heads: int, head_dim: int) -> State:
        return State(np.full((rows, heads), NONE), np.zeros((rows, heads), F32), np.zeros((rows, heads, head_dim), F32))


def pick(where: np.ndarray, new: State, old: State) -> State:
    return State(np.where(where, new.m, old.m), np.where(where, new.l, old.l),
                 np.where(where[..., None], new.o, old.o))


def add_block(state: State, score: np.ndarray, used: np.ndarray, v: np.ndarray) -> State:
    """score, used [rows, heads, 16], v [16, heads, head_dim]: one block of positions, its lanes in order."""
    peak = np.where(used, score, NONE).max(axis=-1)
    rises = used.any(axis=-1) & (peak > state.m)
    c = np.where(rises, exp32(state.m - peak), F32(1))
    m = np.where(rises, peak, state.m)
    l, o = state.l * c, state.o * c[..., None]
    p = exp32(score - m[..., None])
    for j in range(LANES):
        o = np.where(used[..., j, None], fma32(p[..., j, None], v[j], o), o)
    l = l + tree16(np.where(used, p, F32(0)))
    return pick(used.any(axis=-1), State(m, l, o), state)


def merge(one: State, two: State) -> State:
    m = np.maximum(one.m, two.m)
    c1, c2 = exp32(one.m - m), exp32(two.m - m)
    both = State(m, fma32(c2, two.l, c1 * one.l), fma32(c2[..., None], two.o, c1[..., None] * one.o))
    return pick(two.m == NONE, one, pick(one.m == NONE, two, both))


@quiet
def canonical(call: Problem) -> np.ndarray:
    """[rows, heads, head_dim]."""
    rows, heads, head_dim = call.q.shape
    kv = np.arange(heads) // call.group
    running, length = State.empty(rows, heads, head_dim), call.seen.shape[1]
    broken = np.zeros((rows, heads), bool)
    for span in range(call.first // SPAN, -(-(call.first + length) // SPAN)):
        state = State.empty(rows, heads, head_dim)
        begin, end = max(span * SPAN, call.first), min((span + 1) * SPAN, call.first + length)
        for block in range(begin - call.first, end - call.first, LANES):
            width = min(LANES, length - block)
            seen = np.zeros((rows, heads, LANES), bool)
            seen[..., :width] = call.seen[:, None, block:block + width]
            if not seen.any():
                continue
            k, v = (np.zeros((heads, LANES, head_dim), F32) for _ in range(2))
            k[:, :width], v[:, :width] = call.k[kv, block:block + width], call.v[kv, block:block + width]
            q, k = np.broadcast_arrays(call.q[:, :, None, :], k[None])
            score = call.scale * dot16(q, k)
            broken |= (seen & ~(score < np.inf)).any(axis=-1)
            state = add_block(state, score, seen & (score != NONE), v.swapaxes(0, 1))
        running = merge(running, state)
    y = np.where((running.m == NONE)[..., None], F32(0), running.o / running.l[..., None])
    return np.where(broken[..., None], F32(np.nan), y).astype(F32)
