"""Attention from its definition: the view unrolled, truth, a second opinion.

Scores are sums of exact products, kept to 106 bits; exponentials are mpmath's; the weighted sums are integers, and one
division of integers, correctly rounded, ends each output: the same bits on every machine.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from mpmath import mp, mpf

import truth
from fma32 import F32, quiet
from formats import Tensor, to_f32
from schema import Case

EXP_BITS = 420  # weights are multiples of 2^-420: one of e^-180 beside a v of 1e37 still has 160 bits
VALUE_BITS = 149  # every f32 is a multiple of 2^-149


@dataclass
class Problem:
    """A call without its storage: keys and values by position."""

    q: np.ndarray  # [rows, heads, head_dim]
    k: np.ndarray  # [n_kv, length, head_dim]
    v: np.ndarray
    first: int  # absolute position of key 0
    seen: np.ndarray  # [rows, length]: not masked
    scale: np.float32

    @property
    def group(self) -> int:
        return self.q.shape[1] // max(1, self.k.shape[0])

    def keys(self, row: int, head: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The unmasked keys of one query: absolute positions, K and V."""
        places = np.flatnonzero(self.seen[row])
        kv = head // self.group
        return self.first + places, self.k[kv, places], self.v[kv, places]


def slots_of(params: dict, length: int) -> tuple[int, list[int]]:
    """Positions in a span, and each span's slot (golden/SCHEMA.md, "Views")."""
    size = params.get("span_positions", 0) or length
    spans = -(-length // size) if length else 0
    slots = params.get("slots", max(1, spans))
    return size, [(params.get("first_slot", 0) + i * params.get("slot_step", 1)) % slots for i in range(spans)]


def by_position(stored: Tensor, params: dict) -> np.ndarray:
    """[slots, n_kv, span_positions, head_dim] -> [n_kv, length, head_dim]."""
    length, wide = params["length"], to_f32(stored)
    _, slots = slots_of(params, length)
    if not slots:
        return wide[0, :, :0]
    return np.concatenate([wide[slot] for slot in slots], axis=1)[:, :length]


def problem(case: Case) -> Problem:
    params, q = case.params, to_f32(case.tensor("q"))
    q = q if q.ndim == 3 else q[None]
    first, length = params.get("first_position", 0), params["length"]
    rows = np.arange(q.shape[0])[:, None] + params.get("position", max(0, first + length - q.shape[0]))
    keys = first + np.arange(length)[None, :]
    seen = np.ones((q.shape[0], length), bool)
    if params["causal"]:
        seen = keys <= rows
        if params.get("window", 0):
            seen &= keys > rows - params["window"]
    return Problem(q, by_position(case.tensor("k"), params), by_position(case.tensor("v"), params), first, seen,
                   F32(params["scale"]))


def scores(q: np.ndarray, k: np.ndarray, scale: np.float32) -> list[mpf] | None:
    """scale q . k_j for each key, mpmath's -inf among them; None where one is NaN or +inf."""
    found = []
    for terms in truth.wide(q) * truth.wide(k):
        if np.isfinite(terms).all():
            high = math.fsum(terms)
            found.append(mpf(float(scale)) * (mpf(high) + mpf(math.fsum([*terms, -high]))))
            continue
        total = float(scale) * terms.sum()
        if total != -math.inf:
            return None
        found.append(mpf("-inf"))
    return found


def one_query(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: np.float32) -> np.ndarray:
    """softmax(scale q . k) v, correctly rounded to fp64. A score of -inf takes no part."""
    s = scores(q, k, scale)
    if s is None:
        return np.full(len(q), np.nan)
    places = [j for j, score in enumerate(s) if score != mpf("-inf")]
    if not places:
        return np.zeros(len(q))
    with mp.workprec(EXP_BITS + 60):
        top = max(s[j] for j in places)
        weights = [int(mp.ldexp(mp.exp(s[j] - top), EXP_BITS)) for j in places]
    total = sum(weights)
    out = np.empty(len(q))
    for c, column in enumerate(truth.wide(v[places]).T):
        if np.isfinite(column).all():
            units = [int(math.ldexp(x, VALUE_BITS)) for x in column]
            out[c] = sum(w * x for w, x in zip(weights, units)) / (total << VALUE_BITS)
        else:
            out[c] = sum(w / total * x for w, x in zip(weights, column.tolist()))
    return out


@quiet
def opinion(q: np.ndarray, k: np.ndarray, v: np.ndarray, scale: np.float32, seen: np.ndarray) -> np.ndarray:
    """One query by PyTorch in fp64 over all positions, the mask written out; masked NaN would spread, so they are 0."""
    product = float(scale) * (truth.wide(k) * truth.wide(q)).sum(axis=1)
    used = seen & (product != -np.inf)
    if not used.any():
        return np.zeros(len(q))
    keys = torch.from_numpy(np.where(seen[:, None], truth.wide(k), 0.0))
    values = torch.from_numpy(np.where(used[:, None], truth.wide(v), 0.0))
    y = torch.nn.functional.scaled_dot_product_attention(torch.from_numpy(truth.wide(q))[None], keys, values,
                                                         attn_mask=torch.from_numpy(seen)[None], scale=float(scale))
    return y.numpy()[0]
