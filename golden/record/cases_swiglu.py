"""swiglu."""
from __future__ import annotations

import numpy as np
import torch

import bounds
import truth
from fma32 import F32, exp32, quiet
from formats import to_f32
from generate import Draw, Generated
from real import Real
from schema import Case, Op, Output

#         rows, n, gate gap, up gap, y gap
SHAPES = [(1, 1, 0, 0, 0), (3, 7, 0, 0, 0), (2, 8, 0, 0, 0), (1, 9, 0, 0, 0), (4, 15, 1, 0, 0), (2, 16, 0, 0, 0),
          (3, 17, 0, 5, 0), (1, 31, 0, 0, 0), (2, 32, 0, 0, 8), (3, 33, 7, 3, 1), (1, 63, 0, 0, 0),
          (2, 64, 16, 16, 16), (1, 65, 0, 0, 0), (2, 131, 0, 0, 0)]
LN2 = F32(float.fromhex("0x1.62e430p-1"))
FLT_MAX = np.finfo(F32).max


def make(name: str, gate: np.ndarray | Generated, up: np.ndarray | Generated, tags: str = "", note: str = "",
         **strides: int) -> Case:
    rows, n = gate.shape
    return Case(name, {"rows": rows, "n": n, **strides}, {"gate": gate, "up": up}, tags, note=note)


def canonical_bits(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    return (gate / (F32(1) + exp32(-gate))) * up


@quiet
def evaluate(case: Case) -> None:
    gate, up = to_f32(case.tensor("gate")), to_f32(case.tensor("up"))
    y = truth.swiglu(gate, up)
    bound, bits_only = bounds.swiglu(gate, up, y)
    canonical = canonical_bits(gate, up)
    g, v = torch.from_numpy(truth.wide(gate)), torch.from_numpy(truth.wide(up))
    opinion = (g / (1 + torch.exp(-g)) * v).numpy()
    case.outputs["y"] = Output(y, canonical=canonical, bound=bound, bits_only=bits_only, opinion=opinion,
                               opinion_scale=np.maximum(np.abs(y), 1e-280))


def spread(draw: Draw, rows: int, n: int, low: float, high: float) -> np.ndarray:
    """Evenly from low to high."""
    return (draw.array("uniform", (rows, n)) + F32(1)) * F32((high - low) / 2) + F32(low)


@quiet
def adverse() -> Case:
    """Of many draws around the exp's largest reduced arguments, those whose own rounding errors come nearest the
    bound, in either direction: there the error of a polynomial one degree short no longer fits."""
    draw = Draw("swiglu/adverse")
    count, keep = 1 << 16, 96
    half_turns = draw.array("index", (count,), "i32", low=-90, high=0).astype(F32) + F32(0.5)
    half_turns[::2] = -24.5  # there the quotient and its neighbours round worst
    gate = (half_turns * LN2 + draw.array("uniform", (count,), scale=0.01))[None]
    up = draw.array("uniform", (1, count))
    y = truth.swiglu(gate, up)
    order = np.argsort((canonical_bits(gate, up) - y) / np.abs(y) * np.sign(y), axis=1, kind="stable")[0]
    picked = np.concatenate([order[:keep], order[-keep:]])
    return make("adverse_rounding", gate[:, picked], up[:, picked], note="largest own errors: a shorter exp shows")


def cases(real: Real) -> list[Case]:
    found = []
    for rows, n, *gaps in SHAPES:
        draw = Draw(f"swiglu/shape/{rows}/{n}")
        strides = {f"{name}_stride": n + gap for name, gap in zip(("gate", "up", "y"), gaps) if gap}
        found.append(make(f"rows{rows}_n{n}", draw.input("gauss", (rows, n), scale=2.0),
                          draw.input("gauss", (rows, n)), **strides))
    for rows, n in ((0, 8), (4, 0)):
        found.append(make(f"rows{rows}_n{n}", np.zeros((rows, n), F32), np.ones((rows, n), F32), "trivial"))
    draw = Draw("swiglu/data")
    rows, n = 2, 77
    gauss, up = draw.array("gauss", (rows, n)), draw.array("gauss", (rows, n))
    # 2^-148, not 2^-149, whose half is 0, and 0 * inf NaN.
    kinds = F32([np.nan, np.inf, -np.inf, 0.0, -0.0, 3.0, -3.0, -87.0, 90.0, -95.0, FLT_MAX, -FLT_MAX, 2.0**-148])
    every_gate, every_up = (v.reshape(1, -1).astype(F32) for v in np.meshgrid(kinds, kinds))
    return found + [
        make("zero_gate", np.zeros((rows, n), F32), up, "trivial"),
        make("zero_up", gauss, np.zeros((rows, n), F32), "trivial"),
        make("mixed_zero", draw.input("mixed_zero", (rows, n), scale=4.0), draw.input("mixed_zero", (rows, n))),
        make("wide", draw.input("wide", (rows, n), low=-30, high=5), draw.input("wide", (rows, n), low=-30, high=30)),
        make("underflow", np.resize(F32([2.0**-100, -(2.0**-100), 0.0, -0.0, -200, 3, -3]), (1, 63)),
             np.resize(F32([2.0**-100, -(2.0**-100), 0.0, -0.0, 2.0**-149, -(2.0**-149), 1, -1, 1e-38]), (1, 63)), "denormal",
             "products that round to a zero of their sign"),
        make("positive", draw.input("positive", (rows, n), scale=3.0), draw.input("positive", (rows, n))),
        make("gate_4_80", spread(draw, 3, n, 4, 80), draw.array("gauss", (3, n)), note="a short exp polynomial shows"),
        make("gate_-4_-80", spread(draw, 3, n, -80, -4), draw.array("gauss", (3, n)),
             note="a short exp polynomial shows"),
        make("gate_1_5", spread(draw, 3, n, 1, 5), draw.array("gauss", (3, n))),
        make("gate_-5_-1", spread(draw, 3, n, -5, -1), draw.array("gauss", (3, n))),
        make("gate_half_ln2", np.array([[k * 0.6931472 + 0.3465736 for k in range(-64, 65)]], F32),
             np.full((1, 129), 1, F32),
             note="the exp's reduced argument is largest"),
        adverse(),
        make("gate_-80_-104", spread(draw, rows, n, -104, -80), draw.array("gauss", (rows, n)) * F32(1e30),
             note="1 + exp(-g) overflows beyond 88.72"),
        make("gate_tiny", draw.input("uniform", (rows, n), scale=1e-6), up, note="g / 2"),
        make("denormal_gate", draw.input("denormal", (rows, n)), draw.array("gauss", (rows, n), scale=1e3), "denormal"),
        make("denormal_up", spread(draw, rows, n, 1, 9), draw.input("denormal", (rows, n)), "denormal"),
        make("denormal_y", spread(draw, rows, n, -50, -30), draw.array("gauss", (rows, n), scale=1e-25), "denormal",
             "normal inputs, denormal results"),
        make("denormal_product", spread(draw, rows, n, 1, 9), draw.array("uniform", (rows, n), scale=1e-39),
             "denormal"),
        make("nonfinite", every_gate, every_up, "nonfinite maximal", "every pair of classes"),
        make("maximal", spread(draw, rows, n, 10, 80), np.where(up > 0, FLT_MAX, -FLT_MAX) / F32(30), "maximal",
             "some products overflow"),
        make("exact_halves", F32([[0.0, 20, 24, 30, 40, 64, 88, 100] * 5]), np.tile(F32([[1, -1, 3, 0.5]]), 10), "ties",
             "1 + e^-g rounds to 1: the product is all that is left"),
        make("qwen3_ffn3072", draw.input("gauss", (1, 3072), scale=3.0), draw.input("gauss", (1, 3072))),
        make("ffn12288", draw.input("gauss", (1, 12288), scale=3.0), draw.input("gauss", (1, 12288))),
        make("kjv_layer0_swiglu", real.at(0, "gate_proj")[-2:], real.at(0, "up_proj")[-2:], "real"),
        make("kjv_layer5_swiglu", real.at(5, "gate_proj", "long")[-2:], real.at(5, "up_proj", "long")[-2:], "real"),
    ]


OPS = {"swiglu": Op(cases, evaluate)}
