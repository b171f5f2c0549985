"""rms_norm."""
from __future__ import annotations

import numpy as np
import torch

import bounds
import truth
from fma32 import F32, dot16, quiet
from formats import to_f32
from generate import Draw
from real import Real
from schema import Case, Op, Output

EPS = float(F32(1e-6))
MIN_NORMAL = 2.0**-126
#        rows, n, x gap, y gap
SHAPES = [(1, 1, 0, 0), (3, 7, 0, 0), (2, 8, 1, 0), (1, 9, 0, 0), (4, 15, 0, 3), (2, 16, 0, 0), (3, 17, 2, 5),
          (1, 31, 0, 0), (5, 32, 0, 0), (2, 33, 0, 0), (1, 63, 0, 0), (3, 64, 8, 8), (2, 65, 0, 0), (1, 100, 0, 0),
          (2, 127, 1, 1), (4, 129, 0, 0), (2, 257, 0, 0)]


def make(name: str, x: np.ndarray, w: np.ndarray, tags: str = "", eps: float = EPS, status: str = "ok", note: str = "",
         **strides: int) -> Case:
    rows, n = x.shape
    return Case(name, {"rows": rows, "n": n, "eps": float(eps), **strides}, {"x": x, "w": w}, tags, status, note)


@quiet
def evaluate(case: Case) -> None:
    x, w, eps = to_f32(case.tensor("x")), to_f32(case.tensor("w")), case.params["eps"]
    y = truth.rms_norm(x, w, eps)
    bound, bits_only = bounds.rms_norm(x, w, y)
    squares = dot16(x, x) / F32(x.shape[1])
    scale = F32(1) / np.sqrt(squares + F32(eps))
    canonical = (x * scale[:, None]) * w
    wide = torch.from_numpy(truth.wide(x))
    mean = (wide * wide).mean(dim=-1, keepdim=True)
    opinion = wide / torch.sqrt(mean + eps) * torch.from_numpy(truth.wide(w))
    case.outputs["y"] = Output(y, canonical=canonical, bound=bound, bits_only=bits_only, opinion=opinion.numpy())


def shapes() -> list[Case]:
    found = []
    for rows, n, x_gap, y_gap in SHAPES:
        draw = Draw(f"rms_norm/shape/{rows}/{n}")
        strides = {"x_stride": n + x_gap} if x_gap else {}
        strides |= {"y_stride": n + y_gap} if y_gap else {}
        found.append(make(f"rows{rows}_n{n}", draw.input("gauss", (rows, n)), draw.input("gauss", (n,)), **strides))
    for rows, n in ((0, 16), (3, 0)):
        found.append(make(f"rows{rows}_n{n}", np.zeros((rows, n), F32), np.ones(n, F32), "trivial"))
    for rows, n in ((3, 1024), (2, 4096), (1, 12288)):
        draw = Draw(f"rms_norm/wide/{n}")
        found.append(make(f"hidden{n}", draw.input("gauss", (rows, n)), draw.input("uniform", (n,), scale=2.0)))
    draw = Draw("rms_norm/heads")
    found.append(make("qk_norm_heads16_dim128", draw.input("gauss", (16, 128)), draw.input("uniform", (128,))))
    found.append(make("heads3_dim80_stride96", draw.input("gauss", (3, 80)), draw.input("uniform", (80,)),
                      x_stride=96, y_stride=96, note="a padded head_dim"))
    return found


def data_sets() -> list[Case]:
    draw = Draw("rms_norm/data")
    rows, n = 3, 45
    gauss, weight = draw.array("gauss", (rows, n)), draw.array("gauss", (n,))

    def tail(width: int, n: int) -> Case:
        x = draw.array("uniform", (2, n), scale=0.01)
        x[:, n - width:] *= 1e4
        return make(f"tail{width}_of_{n}", x, draw.array("gauss", (n,)), "tail", note="the last elements make the sum")

    climb = np.full((2, 1024), 0, F32)
    climb[:, ::16] = F32(np.sqrt(0.98 * 2.0**-23))
    climb[:, 0] = 1
    large_first = draw.array("uniform", (2, n), scale=1e-4)
    large_first[:, 0] = 1000
    return [
        make("zeros", np.zeros((rows, n), F32), weight, "trivial"),
        make("mixed_zero", draw.input("mixed_zero", (rows, n)), weight),
        make("weights_mixed_zero", gauss, draw.input("mixed_zero", (n,))),
        signed_zeros(),
        make("wide", draw.input("wide", (rows, n), low=-60, high=60), draw.input("wide", (n,), low=-20, high=20)),
        make("positive", draw.input("positive", (rows, n)), draw.input("positive", (n,))),
        make("sd_1e-3", draw.input("gauss", (rows, n), scale=1e-3), weight, "eps", note="mean x^2 is near eps"),
        make("sd_1e-3_n7", draw.input("gauss", (rows, 7), scale=1e-3), weight[:7], "eps"),
        make("sd_1e-3_n128", draw.input("gauss", (rows, 128), scale=1e-3), draw.input("gauss", (128,)), "eps"),
        make("sd_1e-6", draw.input("gauss", (rows, n), scale=1e-6), weight, "eps", note="eps outweighs mean x^2"),
        make("eps_1e-5", draw.input("gauss", (rows, n), scale=3e-3), weight, "eps", eps=F32(1e-5)),
        make("eps_1", gauss, weight, "eps", eps=1.0),
        make("eps_smallest_normal", draw.input("gauss", (rows, n), scale=1e-19), weight, "eps denormal", eps=MIN_NORMAL,
             note="squares are denormal or nearly so"),
        make("constant_rows", np.repeat(F32([[1], [-3], [0.1]]), 64, axis=1), draw.array("gauss", (64,))),
        make("small_onto_large", large_first, weight),
        make("climb", climb, np.ones(1024, F32), "rounding",
             note="each addition to the sum loses 0.98 ulp if truncated"),
        make("denormal_x", draw.input("denormal", (rows, n)), draw.array("gauss", (n,), scale=1e3), "denormal"),
        make("denormal_w", gauss, draw.input("denormal", (n,)), "denormal"),
        make("denormal_y", draw.input("gauss", (rows, n)), draw.input("gauss", (n,), scale=1e-40), "denormal"),
        tail(1, 17), tail(1, 33), tail(3, 19), tail(7, 71), tail(15, 79), tail(9, 1033),
        nonfinite(gauss, weight), maximal(gauss, weight),
    ]


def signed_zeros() -> Case:
    """Every sign of zeros, and of products that round to them."""
    x, w = (np.resize(F32(v), 60) for v in ([0.0, -0.0, 1e-3, -1e-3, 0.5], [1.0, -2.0, 0.0, -0.0, 2.0**-149, -(2.0**-149)]))
    return make("signed_zeros", np.stack([x, -x]), w, "denormal")


def nonfinite(gauss: np.ndarray, weight: np.ndarray) -> Case:
    x = np.concatenate([gauss, gauss])
    x[1, 20], x[2, 44], x[3, 0], x[4, 7], x[4, 8] = np.nan, np.inf, -np.inf, np.inf, np.nan
    w = weight.copy()
    w[3], w[30], w[44] = np.inf, np.nan, -np.inf
    return make("nonfinite", x, w, "nonfinite")


def maximal(gauss: np.ndarray, weight: np.ndarray) -> Case:
    x = gauss.copy()
    x[0, 5], x[1] = np.finfo(F32).max, x[1] * F32(1e18)
    return make("maximal", x, weight, "maximal", note="the first row's sum overflows: only bits apply")


def refusals() -> list[Case]:
    draw = Draw("rms_norm/refusals")
    x, w = draw.array("gauss", (2, 9)), draw.array("gauss", (9,))
    bad = {"zero": 0.0, "denormal": 2.0**-130, "negative": -EPS, "nan": np.nan, "infinite": np.inf}
    return [make(f"eps_{name}", x, w, "refused", eps=eps, status="bad_parameter") for name, eps in bad.items()]


def real_cases(real: Real) -> list[Case]:
    eps = float(F32(real.config["rms_norm_eps"]))
    q_weight = to_f32(real.layer(0, "self_attn.q_norm"))
    heads = real.at(0, "q_proj")[-4:].reshape(16, 128)
    return [
        make("kjv_layer0_attn_norm", real.site("embed")[:6], to_f32(real.layer(0, "input_layernorm")), "real", eps),
        make("kjv_layer0_q_norm", heads, q_weight, "real", eps, note="4 tokens of 4 heads"),
        make("kjv_layer3_ffn_norm", real.at(3, "attn_residual")[-4:], to_f32(real.layer(3, "post_attention_layernorm")),
             "real", eps),
        make("kjv_final_norm", real.at(5, "ffn_residual")[-3:], to_f32(real.weight("model.norm")), "real", eps),
    ]


def cases(real: Real) -> list[Case]:
    return shapes() + data_sets() + refusals() + real_cases(real)


OPS = {"rms_norm": Op(cases, evaluate)}
