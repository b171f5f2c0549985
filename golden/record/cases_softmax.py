"""softmax."""
from __future__ import annotations

import numpy as np
import torch

import bounds
import truth
from fma32 import F32, exp32, quiet, sum16
from formats import to_f32
from generate import Draw, Generated
from real import Real
from schema import Case, Op, Output

#         rows, n, x gap, y gap
SHAPES = [(2, 1, 0, 0), (3, 2, 0, 0), (1, 7, 0, 0), (2, 8, 0, 0), (3, 9, 4, 0), (1, 15, 0, 0), (4, 16, 0, 0),
          (2, 17, 0, 7), (1, 31, 0, 0), (3, 32, 0, 0), (2, 33, 15, 15), (1, 63, 0, 0), (2, 64, 0, 0), (3, 65, 0, 0),
          (1, 129, 0, 0), (2, 300, 0, 0)]
FLT_MAX = np.finfo(F32).max


def make(name: str, x: np.ndarray | Generated, tags: str = "", note: str = "", **strides: int) -> Case:
    rows, n = x.shape
    return Case(name, {"rows": rows, "n": n, **strides}, {"x": x}, tags, note=note)


@quiet
def evaluate(case: Case) -> None:
    x = to_f32(case.tensor("x"))
    if x.size == 0:
        none = np.zeros(x.shape)
        case.outputs["y"] = Output(none, canonical=none.astype(F32), bound=none, opinion=none)
        return
    y = truth.softmax(x)
    e = exp32(x - x.max(axis=1, keepdims=True))
    opinion = torch.softmax(torch.from_numpy(truth.wide(x)), dim=1).numpy()
    case.outputs["y"] = Output(y, canonical=e / sum16(e)[:, None], bound=bounds.softmax(x, y), opinion=opinion,
                               opinion_scale=np.maximum(np.abs(y), 1e-280))


def cases(real: Real) -> list[Case]:
    found = []
    for rows, n, x_gap, y_gap in SHAPES:
        strides = {"x_stride": n + x_gap} if x_gap else {}
        strides |= {"y_stride": n + y_gap} if y_gap else {}
        found.append(make(f"rows{rows}_n{n}", Draw(f"softmax/shape/{rows}/{n}").input("gauss", (rows, n), scale=2.0),
                          **strides))
    for rows, n in ((0, 8), (4, 0)):
        found.append(make(f"rows{rows}_n{n}", np.zeros((rows, n), F32), "trivial"))
    draw = Draw("softmax/data")
    rows, n = 2, 77
    gauss = draw.array("gauss", (rows, n))
    ascending = np.sort(draw.array("uniform", (rows, n), scale=60.0), axis=1)
    masked = draw.array("gauss", (3, n))
    masked[0, 40:], masked[1, ::2], masked[2, :76] = -np.inf, -np.inf, -np.inf
    nonfinite = draw.array("gauss", (6, n))
    nonfinite[0, 76], nonfinite[1, 3], nonfinite[2] = np.nan, np.inf, -np.inf
    nonfinite[3, [70, 1]], nonfinite[4, [5, 6]] = [-np.inf, np.nan], [np.inf, -np.inf]
    maximal = np.where(gauss > 0, FLT_MAX, -FLT_MAX)
    climb = np.full((2, 1024), -200, F32)
    climb[:, ::16], climb[:, 0] = F32(np.float64(-15.962587)), 0  # e^-15.962587 is 0.98 * 2^-23
    top_last = draw.array("uniform", (2, 79))
    top_last[:, 64:] += 6
    far = draw.array("uniform", (3, n), scale=7.0) - F32(95)
    far[:, 50] = 0
    return found + [
        make("zeros", np.zeros((rows, n), F32), "ties", "every y is 1/n"),
        make("equal_large", np.full((2, 33), F32(-3e38)), "ties maximal"),
        make("mixed_zero", draw.input("mixed_zero", (rows, n), scale=3.0)),
        make("wide", draw.input("wide", (3, n), low=-30, high=7)),
        make("positive", draw.input("positive", (rows, n), scale=10.0)),
        make("scores_sd10", draw.input("gauss", (3, n), scale=10.0), note="a few keys hold the weight"),
        make("shifted", gauss + F32(1000), note="without the maximum subtracted all would be infinite"),
        make("shifted_down", gauss - F32(1000), note="without the maximum subtracted all would be 0/0"),
        make("ascending", ascending), make("descending", ascending[:, ::-1].copy()),
        make("top_last_n17", np.array([[0.1 * i for i in range(16)] + [9]], F32), "tail"),
        make("top_last_n79", top_last, "tail", "the last elements make the sum"),
        make("denormal_x", draw.input("denormal", (rows, n)), "denormal"),
        make("denormal_y", far, "denormal", "e^-88 .. e^-102 beside a 1"),
        make("masked", masked, "nonfinite", "-inf beside finite values gives +0"),
        make("nonfinite", nonfinite, "nonfinite"),
        make("maximal", maximal, "maximal", "differences overflow to -inf"),
        make("climb", climb, "rounding", "each addition to the sum loses 0.98 ulp if truncated"),
        make("near_ties", F32([[1, 1 + 2.0**-23, 1 - 2.0**-24] * 11]), "ties"),
        make("n4096", draw.input("gauss", (1, 4096), scale=3.0)),
        make("kjv_genesis_logits", real.site("lm_head")[-1:], "real"),
        make("kjv_psalm_logits", real.site("lm_head", "psalm")[-2:, :2000], "real", "the first 2000 tokens"),
        make("near_equal", Draw("softmax/near_equal").input("gauss", (4, 16), scale=1e-5),
             note="just below the maximum e^x is reduced by up to ln 2, and few terms round"),
    ]


OPS = {"softmax": Op(cases, evaluate)}
