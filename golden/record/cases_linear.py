"""linear_<weights>: activations quantised on the way, then the product. The blocks of x are quant.py's, the rest is dots.py's."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

import bounds
import dots
import quant
from block_formats import FORMATS, GGML_PARTNER, PARTNER
from blocks import split
from fma32 import F32, quiet
from formats import Blocks, Tensor, to_f32
from generate import Draw, Generated
from near_ties import quantizer_ties
from real import Real
from schema import Case, Op, Output

LANES_STEPS = 8  # roundings that lanes, scales and integers add to a row's chains


@quiet
def bound(w: Blocks, x: Blocks) -> tuple[np.ndarray, np.ndarray]:
    """B over the magnitudes of the products, whatever the order of the sums, and where only bits apply."""
    form, fw, fx = FORMATS[w.format], split(w), split(x)
    (n, blocks), width = w.shape, form.elements // form.subs
    q_w = np.abs(fw.q.reshape(n, blocks, form.subs, width).astype(np.int64) + form.zero) + form.zero
    q_x = np.abs(fx.q.reshape(len(x.data), 1, blocks, form.subs, width).astype(np.int64))
    sums = (q_w * q_x).sum(axis=-1)
    first = sums[..., 0] if fw.scale is None else (sums * np.abs(fw.scale)).sum(axis=-1)
    d_x = np.abs(fx.d.astype(np.float64)).reshape(len(x.data), 1, blocks)
    terms = [(np.abs(fw.d.astype(np.float64)) * d_x, first)]
    if form.has_minimum:
        terms.append((np.abs(fw.m.astype(np.float64)) * d_x, (q_x.sum(axis=-1) * fw.minimum).sum(axis=-1)))
    size, integers, too_large = np.zeros(first.shape[:-1]), np.zeros(first.shape[:-1]), np.zeros(first.shape[:-1], bool)
    for scales, whole in terms:
        term = scales * whole
        size += np.where(np.isfinite(term), term, 0).sum(axis=-1)
        integers += whole.sum(axis=-1)
        too_large |= (np.broadcast_to(scales, whole.shape) >= bounds.FLT_MAX).any(axis=-1)
    growth = bounds.g(2 * blocks + LANES_STEPS)
    limit = growth * size + 2 * bounds.ETA * (32 * blocks + integers)
    return np.where(size > 0, limit, 0.0), too_large | (size * (1 + growth) >= bounds.FLT_MAX)


class Target:
    """One op: its formats, and how its cases are put together."""

    def __init__(self, weights: str) -> None:
        self.weights, self.x, self.form = weights, PARTNER[weights], FORMATS[weights]
        self.name = f"linear_{weights}"

    def draw(self, what: str) -> Draw:
        return Draw(f"{self.name}/{what}")

    def evaluate(self, case: Case) -> None:
        w, x = case.tensor("w"), quant.quantize(self.x, case.tensor("x"))
        assert x is not None, case.name
        parts = dots.integer_parts(w, x)
        value, (limit, bits_only) = dots.truth(parts), bound(w, x)
        opinion, scale = dots.by_elements(w, x)
        opinion = np.where(bits_only, value, opinion)
        case.outputs["y"] = Output(value, None, dots.canonical(parts), limit, bits_only, opinion, scale)

    def case(self, name: str, w: Blocks | Generated, x: Tensor | Generated, tags: str = "", status: str = "ok",
             note: str = "", k: int | None = None, **strides: int) -> Case:
        sizes = {"m": x.shape[0], "n": w.shape[0], "k": x.shape[1] if k is None else k, **strides}
        return Case(name, sizes, {"w": w, "x": x}, tags, status, note)

    def random(self, what: str, n: int, x: np.ndarray | Generated, **how: object) -> Case:
        """Random weights for these rows."""
        w = self.draw(f"{what}/w").input("blocks", (n, -(-x.shape[1] // self.form.elements)), self.weights)
        return self.case(what, w, x, **how)


def shape_cases(target: Target) -> list[Case]:
    found, elements = [], target.form.elements
    small = 1 if elements == 256 else 8
    for m, n, blocks, x_gap, y_gap in ((1, 5, small, 0, 0), (3, 17, 3 * small, 5, 0), (4, 33, small, 0, 3), (2, 9, 12 * small, 0, 0),
                                      (42, 1, 12 * small, 0, 0)):  # more rows than are quantised at a time
        draw = target.draw(f"shape/{m}/{n}/{blocks}")
        k = blocks * elements
        strides = {"x_stride": k + x_gap} if x_gap else {}
        strides |= {"y_stride": n + y_gap} if y_gap else {}
        found.append(target.case(f"m{m}_n{n}_blocks{blocks}", draw.input("blocks", (n, blocks), target.weights),
                                 draw.input("gauss", (m, k)), **strides))
    found.append(target.random("m2_n5_k0", 5, np.zeros((2, 0), F32), tags="trivial"))
    return found


def refusals(target: Target) -> list[Case]:
    """The good rows before the bad one must not be written either."""
    draw, elements = target.draw("refused"), target.form.elements
    found = [target.random(f"bad_shape_k{elements + 1}", 6, draw.array("gauss", (2, elements + 1)), tags="refused",
                           status="bad_shape")]
    for label, value in (("nan_in_the_last_row", np.nan), ("minus_inf_in_the_last_row", -np.inf)):
        x = draw.array("gauss", (3, elements))
        x[2, elements - 2] = value
        found.append(target.random(label, 6, x, tags="refused", status="not_finite"))
    many = np.zeros((42, 12 * 256), F32)
    many[41, 5] = np.nan
    found.append(target.random("nan_after_many_rows", 1, many, tags="refused", status="not_finite"))
    if target.x == "q8_0":
        x = draw.array("gauss", (2, elements))
        x[1, 9] = F32(127) * F32(65520)
        found.append(target.random("scale_over_f16", 6, x, tags="refused", status="not_finite"))
    return found


@quiet
def data_cases(target: Target) -> list[Case]:
    draw, elements = target.draw("data"), target.form.elements
    blocks = 2 if elements == 256 else 9
    ties = quantizer_ties(target.x)[::1 if elements == 32 else 5]
    wide = draw.recipe("wide", (2, blocks * elements), low=-10, high=10)
    mixed = draw.array("gauss", (4, elements))
    mixed[1] = draw.array("uniform", (1, elements), scale=1e-39)[0]
    mixed[2] = 0
    mixed[3, 1::2] = -0.0
    opposite = draw.array("uniform", (2, elements))
    opposite[0, [7, 8]], opposite[1, [7, 8]] = [1.75, -1.75], [-1.75, 1.75]
    found = []
    if target.x == "q8_k":  # q8_0's scales are halves, whose products are normal
        least = draw.array("uniform", (2, elements), scale=1e-36)
        least[1] *= F32(30)
        found.append(target.random("denormal_scales", 5, least, tags="denormal", note="scales of x, and products of scales, below 2^-126"))
    return found + [target.random("near_ties", 7, ties, tags="ties", note="another rounding of x gives other codes"),
            target.random("wide_x", 11, wide),
            target.random("tiny_zero_and_signed_zero_rows", 5, mixed, tags="denormal"),
            target.random("opposite_maxima", 5, opposite, tags="ties", note="the first of equal magnitudes gives the scale's sign")]


#                     file, tensor, the site that feeds it, rows
REAL = {"q4_k": ("Q4_K_M", "blk.3.ffn_down", 3, "swiglu", 12), "q6_k": ("Q4_K_M", "blk.2.ffn_down", 2, "swiglu", 12)}
ENCODED = {"q4_0": (1, "self_attn.k_proj", "attn_norm", 16), "q5_0": (4, "mlp.gate_proj", "ffn_norm", 16),
           "q8_0": (2, "self_attn.q_proj", "attn_norm", 16)}


def real_cases(target: Target, real: Real) -> list[Case]:
    """The trained model's weights, and what its sites get."""
    if target.weights in REAL:
        file, tensor, layer, site, rows = REAL[target.weights]
        w = real.gguf(file).tensor(f"{tensor}.weight")[:rows]
        assert w.format == target.weights, (tensor, w.format)
        return [target.case(f"kjv_{tensor.replace('.', '_')}", w, real.at(layer, site)[-2:], "real",
                            note=f"{rows} rows of kjv-{file}.gguf")]
    if target.weights in ENCODED:
        layer, weight, site, rows = ENCODED[target.weights]
        w = quant.encode(target.weights, to_f32(real.layer(layer, weight))[:rows])
        return [target.case(f"kjv_layer{layer}_{weight.split('.')[1]}", w, real.at(layer, site)[-2:], "real",
                            note=f"{rows} rows of the weight, encoded by the closed formula")]
    return []


def cases_for(target: Target) -> Callable[[Real], list[Case]]:
    return lambda real: shape_cases(target) + refusals(target) + data_cases(target) + real_cases(target, real)


TARGETS = [Target(weights) for weights in GGML_PARTNER]
OPS = {t.name: Op(cases_for(t), t.evaluate) for t in TARGETS}
