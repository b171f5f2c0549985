"""Products of quantised rows: integer parts, truth, canonical bits and bound (docs/numerics.md, block-quantised dots).

Weights are blocks [n, N_b], activations blocks [.., N_b] or f32 [.., k]; results are [.., n].
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import bounds
from block_formats import FORMATS
from blocks import decode64, rows_of, split
from fma32 import F32, fma32, matvec32, quiet
from formats import Blocks
from schema import Case, Output

LOW_BITS = 14  # I = high * 2^14 + low: each half times a product of scales (35 bits) is exact in fp64


@dataclass
class Parts:
    """What the sums are made of: integer parts [.., n, N_b], scales widened to fp64 (their products are exact)."""

    first: np.ndarray
    second: np.ndarray | None
    d_w: np.ndarray  # f32 [n, N_b]
    m_w: np.ndarray | None
    d_x: np.ndarray  # f32 [.., 1, N_b]
    sign: int = -1  # of the second: a minimum is subtracted, an offset added

    def terms(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pairs of a product of scales, in fp64, and the integers that it multiplies."""
        d_x = self.d_x.astype(np.float64)
        found = [(self.d_w.astype(np.float64) * d_x, self.first)]
        if self.second is not None:
            found.append((self.sign * (self.m_w.astype(np.float64) * d_x), self.second))
        return found


def integer_parts(w: Blocks, x: Blocks) -> Parts:
    form, fw, fx = FORMATS[w.format], split(w), split(x)
    lead, (n, blocks) = x.shape[:-1], w.shape
    width = form.elements // form.subs
    q_w = fw.q.reshape(n, blocks, form.subs, width).astype(np.int64)
    q_x = fx.q.reshape(*lead, 1, blocks, form.subs, width).astype(np.int64)
    sums = np.empty((*lead, n, blocks, form.subs), np.int64)
    for row in range(n):
        sums[..., row, :, :] = (q_w[row] * q_x[..., 0, :, :, :]).sum(axis=-1)
    first = sums[..., 0] if fw.scale is None else (sums * fw.scale).sum(axis=-1)
    second = None
    if form.has_minimum:
        second = (q_x.sum(axis=-1) * fw.minimum).sum(axis=-1)
    elif form.has_offset:
        second = np.broadcast_to(q_x.sum(axis=(-2, -1)), first.shape)
    return Parts(first, second, fw.d, fw.m, fx.d[..., None, :], 1 if form.has_offset else -1)


@quiet
def truth(parts: Parts) -> np.ndarray:
    """The exact sum, rounded once to fp64."""
    terms = parts.terms()
    out = np.empty(parts.first.shape[:-1])
    for place in np.ndindex(out.shape):
        pieces: list[float] = []
        for scales, integers in terms:
            scale, whole = np.broadcast_to(scales, integers.shape)[place], integers[place]
            high = whole >> LOW_BITS
            pieces += (scale * (high << LOW_BITS)).tolist() + (scale * (whole - (high << LOW_BITS))).tolist()
        finite = all(math.isfinite(p) for p in pieces)
        out[place] = math.fsum(pieces) if finite else sum(pieces)
    return out


@quiet
def canonical(parts: Parts) -> np.ndarray:
    """Block by block from +0: fma(d_w d_x, I1), then fma(-(dmin_w d_x), I2), or m_w d_x; every scale product rounded to f32."""
    d = parts.d_w * parts.d_x
    m = None if parts.second is None else F32(parts.sign) * (parts.m_w * parts.d_x)
    acc = np.zeros(parts.first.shape[:-1], F32)
    for b in range(parts.first.shape[-1]):
        acc = fma32(d[..., b], parts.first[..., b].astype(F32), acc)
        if m is not None:
            acc = fma32(m[..., b], parts.second[..., b].astype(F32), acc)
    return acc


def steps(weights: str, blocks: int) -> int:
    """h of the bound."""
    if FORMATS[weights].subs == 1:
        return 2 * blocks if FORMATS[weights].has_offset else blocks
    return 2 * blocks + 2 if FORMATS[weights].has_minimum else blocks + 2


@quiet
def bound(parts: Parts, weights: str) -> tuple[np.ndarray, np.ndarray]:
    """B, and where only bits apply."""
    blocks = parts.first.shape[-1]
    size, integers = np.zeros(parts.first.shape[:-1]), np.zeros(parts.first.shape[:-1])
    too_large = np.zeros(parts.first.shape[:-1], bool)
    for scales, whole in parts.terms():
        term = np.abs(scales * whole)
        size += np.where(np.isfinite(term), term, 0).sum(axis=-1)
        integers += np.abs(whole).sum(axis=-1)
        too_large |= (np.abs(np.broadcast_to(scales, whole.shape)) >= bounds.FLT_MAX).any(axis=-1)
    growth = bounds.g(steps(weights, blocks))
    limit = growth * size + 2 * bounds.ETA * (2 * blocks + integers)
    return np.where(size > 0, limit, 0.0), too_large | (size * (1 + growth) >= bounds.FLT_MAX)


@quiet
def by_elements(w: Blocks, x: Blocks) -> tuple[np.ndarray, np.ndarray]:
    """sum w x and sum |w x| in plain fp64 over the decoded elements; |d sc q| and |dmin m|, or |d q| and |m|, counted apart."""
    form, f = FORMATS[w.format], split(w)
    n, k, lead = w.shape[0], w.shape[1] * form.elements, x.shape[:-1]
    values = decode64(w).reshape(n, k)
    sizes = np.abs(values)
    if form.has_minimum:
        minimum = np.repeat(f.m.astype(np.float64)[..., None] * f.minimum, form.elements // form.subs, axis=-1)
        sizes = np.abs(values + minimum.reshape(n, k)) + np.abs(minimum.reshape(n, k))
    if form.has_offset:
        offset = np.repeat(f.m.astype(np.float64)[..., None], form.elements, axis=-1).reshape(n, k)
        sizes = np.abs(values - offset) + np.abs(offset)
    x64 = decode64(x).reshape(*lead, 1, k)
    return (values * x64).sum(axis=-1), (sizes * np.abs(x64)).sum(axis=-1)


@quiet
def evaluate_blocks(case: Case, w: Blocks | None = None) -> None:
    """Outputs and parts of a product of blocks by blocks; `w` stands for the case's weights when those are packed."""
    w, x = w or case.tensor("w"), case.tensor("x")
    parts = integer_parts(w, x)
    value = truth(parts)
    limit, bits_only = bound(parts, w.format)
    opinion, scale = by_elements(w, x)
    opinion = np.where(bits_only, value, opinion)  # infinite scales: 0 * inf in other places
    case.outputs["y"] = Output(value, None, canonical(parts), limit, bits_only, opinion, scale)
    case.parts = {"I1": parts.first.astype(np.int32)}
    if parts.second is not None:
        case.parts["I2"] = parts.second.astype(np.int32)


@quiet
def evaluate_f32(case: Case) -> None:
    """Blocks by f32: over the weights as decode_<format> gives them, in chains of 64."""
    w, x = rows_of(case.tensor("w")), case.tensor("x")
    limit, bits_only = bounds.matvec(w, x)
    terms = w.astype(np.float64) * x.astype(np.float64)[..., None, :]
    value = np.empty(terms.shape[:-1])
    for place in np.ndindex(value.shape):
        row = terms[place]
        value[place] = math.fsum(row.tolist()) if np.isfinite(row).all() else row.sum()
    case.outputs["y"] = Output(value, None, matvec32(w, x), limit, bits_only, terms.sum(axis=-1),
                               np.abs(terms).sum(axis=-1))


