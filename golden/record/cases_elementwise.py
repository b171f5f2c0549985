"""add and exp."""
from __future__ import annotations

import numpy as np
import torch

import bounds
import truth
from fma32 import EXP_OVERFLOW, EXP_UNDERFLOW, F32, exp32, quiet
from formats import to_f32
from generate import Draw
from real import Real
from schema import Case, Op, Output

LENGTHS = (1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000)
FLT_MAX = np.finfo(F32).max
CLASSES = F32([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, FLT_MAX, -FLT_MAX, 2.0**-149, -2.0**-126])


def add_case(name: str, a: np.ndarray, b: np.ndarray, tags: str = "", note: str = "") -> Case:
    return Case(name, {"n": int(np.prod(a.shape))}, {"a": a, "b": b}, tags, note=note)


@quiet
def evaluate_add(case: Case) -> None:
    a, b = case.tensor("a"), case.tensor("b")
    y = truth.wide(a) + truth.wide(b)
    opinion = torch.from_numpy(truth.wide(a)).add(torch.from_numpy(truth.wide(b))).numpy()
    case.outputs["y"] = Output(y, canonical=a + b, bound=bounds.U * np.abs(y), opinion=opinion)


def add_cases(real: Real) -> list[Case]:
    draw = Draw("add")
    n = 97
    found = [add_case(f"n{k}", draw.input("gauss", (k,)), draw.input("gauss", (k,))) for k in LENGTHS]
    gauss, steps = draw.array("gauss", (n,)), draw.array("uniform", (n,), scale=2.0**-22)
    one_of_each = [v.reshape(-1).copy() for v in np.meshgrid(CLASSES, CLASSES)]
    # Odd multiples of half an ulp of the sum: a tie each, with even and odd neighbours and both signs.
    base, half = F32(1) + F32(2.0**-23) * np.arange(64, dtype=F32), np.full(64, 2.0**-24, F32)
    sign = np.where(np.arange(64) % 3 == 0, F32(-1), F32(1))
    large = np.full(n, FLT_MAX, F32)
    large[::2] = draw.array("uniform", (49,), scale=3e38)
    found += [
        add_case("n0", np.zeros(0, F32), np.zeros(0, F32), "trivial"),
        add_case("zeros", np.zeros(n, F32), np.zeros(n, F32), "trivial"),
        add_case("signed_zeros", F32([0, 0, -0.0, -0.0, 1]), F32([0, -0.0, 0, -0.0, -1]), "trivial"),
        add_case("mixed_zero", draw.input("mixed_zero", (n,)), draw.input("mixed_zero", (n,))),
        add_case("wide", draw.input("wide", (n,), low=-60, high=60), draw.input("wide", (n,), low=-60, high=60)),
        add_case("same_binade", draw.input("wide", (n,), low=0, high=1), draw.input("wide", (n,), low=-2, high=1)),
        add_case("small_onto_large", np.where(gauss < 0, F32(-1), F32(1)), draw.array("uniform", (n,), scale=2.0**-21)),
        add_case("cancellation", gauss, -gauss * (1 + steps), "cancellation", "the sum is a few last places, exactly"),
        add_case("positive", draw.input("positive", (n,)), draw.input("positive", (n,))),
        add_case("ties", sign * base, sign * half, "ties"),
        add_case("near_ties", sign * base, sign * (half + F32(2.0**-47)), "ties"),
        add_case("denormal", draw.input("denormal", (n,)), draw.input("denormal", (n,)), "denormal"),
        add_case("denormal_result", np.full(n, 2.0**-126, F32), -draw.array("wide", (n,), low=-126, high=-126) / 2,
                 "denormal", "normal terms, denormal sums"),
        add_case("maximal", large, large[::-1].copy(), "maximal", "sums overflow to infinity"),
        add_case("maximal_edge", F32([FLT_MAX] * 4), F32([2.0**102, 2.0**103, 2.0**103 * (1 - 2.0**-24), -FLT_MAX]),
                 "maximal ties", "FLT_MAX + half an ulp is infinity, anything less is not"),
        add_case("nonfinite", *one_of_each, "nonfinite", "every pair of classes"),
        add_case("bits", draw.input("bits", (512,)), draw.input("bits", (512,)), "nonfinite"),
        add_case("n12288", draw.input("gauss", (12288,)), draw.input("gauss", (12288,))),
        add_case("kjv_layer0_attn_residual", real.site("embed")[-4:].reshape(-1), real.at(0, "o_proj")[-4:].reshape(-1),
                 "real"),
        add_case("kjv_layer5_ffn_residual", real.at(5, "attn_residual")[-4:].reshape(-1),
                 real.at(5, "down_proj")[-4:].reshape(-1), "real"),
    ]
    return found


def exp_case(name: str, x: np.ndarray, tags: str = "", note: str = "") -> Case:
    return Case(name, {"n": int(np.prod(x.shape))}, {"x": x}, tags, note=note)


@quiet
def evaluate_exp(case: Case) -> None:
    x = to_f32(case.tensor("x"))
    y = np.array([truth.exp(float(v)) for v in x])
    opinion = torch.exp(torch.from_numpy(truth.wide(x))).numpy()
    # Where y leaves fp64's normal range the opinion is only asked for its size.
    case.outputs["y"] = Output(y, canonical=exp32(x), bound=bounds.EXP_ULP * bounds.ulp32(y), opinion=opinion,
                               opinion_scale=np.maximum(np.abs(y), 1e-290))


def neighbours(values: list[float], steps: int) -> np.ndarray:
    """Each value and the floats up to `steps` places beside it."""
    bits = F32(values).view(np.int32)[:, None] + np.arange(-steps, steps + 1, dtype=np.int32)
    return bits.reshape(-1).astype(np.int32).view(F32)


def exp_cases(_: Real) -> list[Case]:
    draw = Draw("exp")
    ln2 = float.fromhex("0x1.62e42fefa39efp-1")
    halves = [k * ln2 + ln2 / 2 for k in range(-150, 128) if k != -1]
    found = [exp_case(f"n{k}", draw.input("uniform", (k,), scale=10.0)) for k in LENGTHS]
    found += [
        exp_case("n0", np.zeros(0, F32), "trivial"),
        exp_case("zeros", F32([0.0, -0.0] * 9), note="e^0 is 1, exactly"),
        exp_case("mixed_zero", draw.input("mixed_zero", (97,), scale=5.0)),
        exp_case("whole_range", draw.input("uniform", (4096,), scale=96.0) ),
        exp_case("near_zero", draw.input("uniform", (512,), scale=1e-3)),
        exp_case("wide", draw.input("wide", (512,), low=-30, high=7), "nonfinite", "overflow and underflow included"),
        exp_case("large_positive", draw.array("positive", (256,), scale=14.0) + F32(4),
                 note="a short polynomial shows"),
        exp_case("large_negative", -draw.array("positive", (256,), scale=14.0) - F32(4)),
        exp_case("reduction_edges", neighbours(halves, 1),
                 note="odd multiples of ln 2 / 2: the reduced argument is largest"),
        exp_case("multiples_of_ln2", neighbours([k * ln2 for k in range(-150, 129) if k], 1)),
        exp_case("integers", np.arange(-104, 89, dtype=F32)),
        exp_case("denormal_x", draw.input("denormal", (97,)), "denormal"),
        exp_case("denormal_y", draw.array("uniform", (256,), scale=8.25) - F32(95.5), "denormal"),
        exp_case("underflow_edge", neighbours([float(EXP_UNDERFLOW), -103.97208, -103.27893, -87.33655], 4),
                 "denormal"),
        exp_case("overflow_edge", neighbours([float(EXP_OVERFLOW), 88.0], 4), "nonfinite maximal"),
        exp_case("nonfinite", np.concatenate([CLASSES, -CLASSES]), "nonfinite"),
        exp_case("bits", draw.input("bits", (512,)), "nonfinite"),
        exp_case("beyond_underflow", F32([-104.1, -105, -1e4, -FLT_MAX, -np.inf]), "trivial"),
    ]
    return found


OPS = {"add": Op(add_cases, evaluate_add), "exp": Op(exp_cases, evaluate_exp)}
