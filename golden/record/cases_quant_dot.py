"""gemv and gemm over quantised weights: plain and packed rows, by blocks and by f32 activations."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import gguf_package
import packed
import quant
from block_formats import GGML_PARTNER, PARTNER
from dots import evaluate_blocks, evaluate_f32
from fma32 import F32
from formats import Tensor, to_f32
from generate import Generated
from quant_dot_data import data_sets
from quant_dot_f32 import f32_data_sets
from quant_dot_target import Target
from real import Real
from schema import Case, Op

#               n, blocks of 256: stored as recipes
LARGE = [(1024, 4), (257, 12)]
LARGE_SMALL_BLOCKS = [(1024, 8), (257, 32)]  # blocks of 32
#         n, blocks of 256
SHAPES = [(1, 1), (3, 2), (7, 1), (8, 4), (15, 2), (16, 1), (17, 3), (31, 1), (32, 2), (33, 4), (5, 12), (48, 1),
          (65, 1), (100, 1), (513, 1)]
#              m, n, blocks of 256, x gap, y gap
GEMM_SHAPES = [(1, 5, 2, 0, 0), (2, 16, 1, 0, 0), (3, 17, 4, 1, 0), (4, 33, 2, 0, 3), (5, 48, 1, 2, 5),
               (7, 31, 1, 0, 0), (8, 15, 3, 0, 0), (16, 16, 1, 0, 0), (17, 5, 2, 0, 1), (33, 20, 1, 0, 0),
               (6, 65, 1, 3, 0), (9, 34, 12, 0, 0), (130, 1, 2, 1, 0)]  # the last: more rows than are kept at once


def evaluate_for(target: Target) -> Callable[[Case], None]:
    def evaluate(case: Case) -> None:
        if target.x == "f32":
            evaluate_f32(case)
        else:
            stored = case.tensor("w")
            evaluate_blocks(case, packed.unpack(stored, case.params["n"]) if target.x16 else stored)
    return evaluate


def shape_cases(target: Target) -> list[Case]:
    found = []
    shapes = GEMM_SHAPES if target.gemm else [(1, n, b, 0, 0) for n, b in SHAPES]
    for m, n, blocks, x_gap, y_gap in shapes:
        blocks = target.columns(blocks)
        draw = target.draw(f"shape/{m}/{n}/{blocks}")
        w = target.random(draw, n, blocks)
        x = target.activations(draw, m, blocks) if m < 64 else target.activations_recipe(draw, m, blocks)
        k = blocks * (target.form.elements if target.x == "f32" else 1)
        strides = {"x_stride": k + x_gap} if x_gap else {}
        strides |= {"y_stride": n + y_gap} if y_gap else {}
        name = f"m{m}_n{n}_blocks{blocks}" if target.gemm else f"n{n}_blocks{blocks}"
        padding = 0
        if target.x16 and n % packed.ROWS and n % 2:
            padding = draw.array("bits", (-n % packed.ROWS, blocks, target.form.size), "u8")
        found.append(target.case(name, w, x, padding=padding, **strides))
    large = LARGE if target.form.elements == 256 else LARGE_SMALL_BLOCKS
    for n, blocks in large if not target.gemm and not target.x16 else []:
        draw = target.draw(f"large/{n}/{blocks}")
        x = (draw.input("activations", (1, blocks), target.x) if target.x != "f32"
             else target.activations(draw, 1, blocks))
        x = x.tensor if isinstance(x, Generated) else x
        found.append(target.case(f"n{n}_blocks{blocks}", target.random(draw, n, blocks), x, "large"))
    draw = target.draw("empty")
    for m, n, blocks in ((2, 0, 2), (2, 5, 0)) + (((0, 5, 2),) if target.gemm else ()):
        found.append(target.case(f"m{m}_n{n}_blocks{blocks}" if target.gemm else f"n{n}_blocks{blocks}",
                                 target.random(draw, n, blocks),
                                 target.activations(draw, m, blocks), "trivial"))
    elements = target.form.elements
    for k in (1, elements - 1, elements + 1, 5 * elements // 2):
        blocks = -(-k // elements)
        x = target.activations(draw, 2, blocks)
        x = np.ascontiguousarray(x[:, :k]) if target.x == "f32" else x
        found.append(target.case(f"bad_shape_k{k}", target.random(draw, 17, blocks), x, "refused",
                                 "bad_shape", k=k))
    return found


#                   file, tensor, the site that feeds it: layer and name, rows
REAL = {"q4_k": [("Q4_K_M", "blk.0.attn_q", 0, "attn_norm", 200), ("Q4_K_M", "blk.3.ffn_down", 3, "swiglu", 100)],
        "q6_k": [("Q4_K_M", "blk.2.ffn_down", 2, "swiglu", 100), ("Q4_K_M", "token_embd", None, "final_norm", 200)],
        "q8_0": [("Q8_0", "blk.0.attn_q", 0, "attn_norm", 150), ("Q8_0", "blk.3.ffn_down", 3, "swiglu", 60)]}
ENCODED = {"q4_0": (1, "self_attn.k_proj", "attn_norm", 150), "q4_1": (2, "self_attn.v_proj", "attn_norm", 150),
           "q5_0": (4, "mlp.gate_proj", "ffn_norm", 120)}


def real_cases(target: Target, real: Real) -> list[Case]:
    """The model's weights, quantised by llama.cpp (q4_0, q4_1 and q5_0: here), and the activations that its sites get."""
    found = []
    tokens = slice(-5, None) if target.gemm else slice(-1, None)

    def activations_of(layer: int | None, site: str) -> Tensor:
        rows = real.site(site)[tokens] if layer is None else real.at(layer, site)[tokens]
        return rows if target.x == "f32" else quant.quantize(target.x, rows)

    for file, tensor, layer, site, rows in REAL.get(target.weights, []):
        w = real.gguf(file).tensor(f"{tensor}.weight")[:rows]
        assert w.format == target.weights, (tensor, w.format)
        found.append(target.case(f"kjv_{tensor.replace('.', '_')}", w, activations_of(layer, site), "real",
                                 note=f"{rows} rows of kjv-{file}.gguf"))
    if target.weights in ENCODED:
        layer, weight, site, rows = ENCODED[target.weights]
        w = quant.encode(target.weights, to_f32(real.layer(layer, weight))[:rows])
        found.append(target.case(f"kjv_layer{layer}_{weight.split('.')[1]}", w, activations_of(layer, site), "real",
                                 note=f"{rows} rows of the weight, encoded by the closed formula"))
    return found


def gguf_cases(target: Target) -> list[Case]:
    """Weights that PyPI's gguf encodes, where ggml has no such product."""
    if target.x == "f32" or target.weights in GGML_PARTNER:
        return []
    found, m = [], 3 if target.gemm else 1
    for label, k in (("k256", 256), ("k1024", 1024), ("k1024_all_negative", 1024), ("k2048_outliers", 2048)):
        draw = target.draw(f"gguf/{label}")
        w, x = draw.array("gauss", (48, k), scale=0.03), draw.array("gauss", (m, k))
        if "negative" in label:
            w, x = -np.abs(w), x - F32(2)
        if "outliers" in label:
            w[:, ::61] *= 20
        case = target.case(f"gguf_{label}", gguf_package.encode(target.weights, w), quant.quantize(target.x, x), "gguf")
        found.append(replace(case, source=gguf_package.SOURCE))
    return found


def cases_for(target: Target) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        data = f32_data_sets if target.x == "f32" else data_sets
        return shape_cases(target) + data(target) + gguf_cases(target) + real_cases(target, real)
    return cases


TARGETS = [Target(shape, w, x, x16) for shape in ("gemv", "gemm")
           for w, x, x16 in [*((w, x, False) for w, x in PARTNER.items()), ("q4_k", "f32", False),
                             ("q8_0", "f32", False),
                             *((w, PARTNER[w], True) for w in packed.FORMATS)]]
OPS = {t.name: Op(cases_for(t), evaluate_for(t)) for t in TARGETS}
