"""matvec and gemm over f16, bf16 and f32 weights, tile-major."""
from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

import bounds
import truth
from fma32 import F32, matvec32, quiet
from formats import TILE, Bf16, Tensor, from_f32, pack_tiles, tile_rows, to_f32
from generate import Draw, Generated
from real import Real
from schema import Case, Op, Output

WEIGHTS = ("f16", "bf16", "f32")
SAMPLES = 64  # rows whose truth is kept where n is large
EXPONENTS = {"f16": (-14, 14), "bf16": (-30, 30), "f32": (-30, 30)}
LARGEST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38}
#         n, k: every width of a vector and every remainder of rows and of blocks of 64
SHAPES = [(1, 1), (7, 7), (8, 8), (9, 9), (15, 15), (16, 16), (17, 17), (31, 31), (32, 32), (33, 33), (63, 63),
          (64, 64), (65, 65), (95, 1), (96, 66), (97, 127), (40, 128), (5, 129), (33, 191), (2, 193), (100, 47),
          (1, 200)]
#              m, n, k, x gap, y gap
GEMM_SHAPES = [(1, 1, 1, 0, 0), (2, 7, 8, 0, 0), (3, 33, 7, 0, 0), (4, 32, 9, 0, 0), (5, 31, 15, 1, 1),
               (6, 17, 16, 0, 0), (7, 9, 17, 0, 3), (8, 64, 31, 0, 0), (9, 15, 32, 4, 0), (12, 8, 33, 0, 0),
               (13, 65, 63, 0, 0), (16, 40, 64, 0, 0), (17, 5, 65, 7, 9), (3, 97, 127, 0, 0), (2, 63, 129, 0, 0),
               (31, 16, 40, 0, 0), (33, 3, 70, 0, 0), (194, 1, 6, 1, 0)]  # the last: more rows than are kept at once


def make(name: str, w: Tensor | Generated, x: np.ndarray | Generated, n: int, tags: str = "", note: str = "",
         **strides: int) -> Case:
    """A matvec, or a gemm when x has rows."""
    k = w.shape[1]
    sizes = {"n": n, "k": k} if len(x.shape) == 1 else {"m": x.shape[0], "n": n, "k": k}
    return Case(name, {**sizes, **strides}, {"w": w, "x": x}, tags, note=note)


def tiles(rows: np.ndarray, dtype: str, padding: float = 0.0) -> Tensor:
    """f32 rows [n, k] rounded to dtype, tile-major."""
    rounded = from_f32(rows, dtype)
    lane = from_f32(F32([padding]), dtype)
    if isinstance(rounded, Bf16):
        return Bf16(pack_tiles(rounded.bits, lane.bits))
    return pack_tiles(rounded, lane)


def random_tiles(draw: Draw, distribution: str, n: int, k: int, dtype: str, **how: float) -> Tensor | Generated:
    """Weights drawn tile-major: the lanes past n hold numbers like the others, which must count nowhere."""
    return draw.input(distribution, (-(-n // TILE), k, TILE), dtype, **how)


@quiet
def evaluate(case: Case) -> None:
    """All rows of y, or SAMPLES of them (the same for each row of x) when there are many."""
    n = case.params["n"]
    stored, x = case.tensor("w"), to_f32(case.tensor("x"))
    rows = np.arange(n) if n * np.size(x) <= 1 << 18 else np.unique(np.linspace(0, n - 1, SAMPLES).astype(np.int64))
    bits = stored.bits if isinstance(stored, Bf16) else stored
    picked = tile_rows(bits, rows)
    w = to_f32(Bf16(picked) if isinstance(stored, Bf16) else picked)
    bound, bits_only = bounds.matvec(w, x)
    wide_w, wide_x = torch.from_numpy(truth.wide(w)), torch.from_numpy(truth.wide(x))
    opinion = (wide_x[..., None, :] * wide_w).sum(dim=-1).numpy()
    scale = bound / bounds.g(max(1, bounds.matvec_steps(w.shape[1])))
    index = None
    if len(rows) < n:
        offsets = np.arange(int(np.prod(x.shape[:-1]))) * n
        index = (offsets[:, None] + rows).reshape(-1)
    out = [v if index is None else v.reshape(-1)
           for v in (truth.matvec(w, x), matvec32(w, x), bound, bits_only, opinion, scale)]
    case.outputs["y"] = Output(out[0], index, *out[1:])


def one_row(draw: Draw, distribution: str, k: int, **how: float) -> np.ndarray:
    return draw.array(distribution, (k,), **how)


def negative_zeros(op: str, dtype: str, activations: Callable[..., np.ndarray], n: int, k: int) -> Case:
    """Of three rows one whose products are all -0, one whose products are all below 0 and round to it, one with a sum."""
    draw = Draw(f"{op}/negative_zeros")
    w = np.abs(draw.array("gauss", (n, k)))
    w[::3], w[1::3] = 0, {"f16": 2.0**-24, "bf16": 2.0**-133, "f32": 2.0**-140}[dtype]
    return make("negative_zeros", tiles(w, dtype), activations(draw, "positive", k) * F32(-2.0**-140), n, "denormal",
                "products of -0: their sum is +0; products that round to -0: so does theirs")


def data_sets(op: str, dtype: str, activations: Callable[..., np.ndarray]) -> list[Case]:
    """The kinds of data; `activations` draws x, a row or several."""
    draw = Draw(f"{op}/data")
    n, k = 37, 141
    low, high = EXPONENTS[dtype]
    gauss_w, gauss_x = draw.array("gauss", (n, k)), activations(draw, "gauss", k)
    signs = np.where(np.arange(k) % 2 == 0, F32(1), F32(-1))
    pairs = np.repeat(draw.array("gauss", (n, (k + 1) // 2)), 2, axis=1)[:, :k]
    level = np.broadcast_to(F32(1), gauss_x.shape) + F32(2.0**-20) * activations(draw, "uniform", k)
    small_onto_large = activations(draw, "uniform", k, scale=1e-4)
    small_onto_large[..., ::64] = 4000
    return [
        make("zeros", tiles(np.zeros((n, k), F32), dtype), gauss_x, n, "trivial"),
        make("zero_x", random_tiles(draw, "gauss", n, k, dtype), np.zeros_like(gauss_x), n, "trivial"),
        make("mixed_zero", random_tiles(draw, "mixed_zero", n, k, dtype), activations(draw, "mixed_zero", k), n),
        negative_zeros(op, dtype, activations, n, k),
        make("wide", random_tiles(draw, "wide", n, k, dtype, low=low, high=high),
             activations(draw, "wide", k, low=-30, high=30), n),
        make("small_onto_large", random_tiles(draw, "positive", n, k, dtype), small_onto_large, n),
        make("cancellation", tiles(pairs * signs, dtype), level, n, "cancellation", "neighbours cancel to 2^-20"),
        make("positive", random_tiles(draw, "positive", n, k, dtype), activations(draw, "positive", k), n),
        make("ties", tiles(np.where(gauss_w > 0, F32(1), F32(0.5)), dtype),
             np.where(gauss_x > 0, F32(1), F32(2.0**-24)), n, "ties", "additions halfway between two floats"),
        make("denormal_x", random_tiles(draw, "gauss", n, k, dtype), activations(draw, "denormal", k), n, "denormal"),
        make("denormal_w", random_tiles(draw, "denormal", n, k, dtype),
             activations(draw, "gauss", k, scale=1e20), n, "denormal"),
        make("denormal_sums", random_tiles(draw, "uniform", n, k, dtype, scale=1e-3),
             activations(draw, "uniform", k, scale=1e-38), n, "denormal", "normal inputs, denormal products and sums"),
        make("nan_padding", tiles(gauss_w, dtype, np.nan), gauss_x, n, "padding", "NaN in the lanes past n"),
        make("infinite_padding", tiles(gauss_w[:33], dtype, np.inf), gauss_x, 33, "padding"),
        nonfinite_weights(gauss_w, gauss_x, dtype), nonfinite_activations(gauss_w, gauss_x, dtype),
        maximal(gauss_w, gauss_x, dtype), climb(gauss_x, dtype),
        *(tail(op, width, k, dtype, activations) for width, k in
          ((1, 17), (3, 35), (7, 71), (15, 79), (9, 137), (1, 65), (2, 258), (31, 95), (63, 191))),
        sparse(op, dtype, activations),
    ]


def nonfinite_weights(w: np.ndarray, x: np.ndarray, dtype: str) -> Case:
    w = w.copy()
    w[3, 0], w[8, 140], w[17, 64], w[20, 63], w[33, 5], w[33, 99] = np.nan, np.nan, np.inf, -np.inf, np.inf, -np.inf
    w[36, 139] = np.inf
    x = x.copy()
    x[..., 139] = 0  # 0 * inf is NaN
    return make("nonfinite_w", tiles(w, dtype), x, w.shape[0], "nonfinite",
                "some rows NaN or infinite, the others finite")


def nonfinite_activations(w: np.ndarray, x: np.ndarray, dtype: str) -> Case:
    w, x = w.copy(), x.copy()
    x[..., 140] = np.inf
    w[::3, 140] = 0
    return make("nonfinite_x", tiles(w, dtype), x, w.shape[0], "nonfinite", "infinities of both signs, and 0 * inf")


def maximal(w: np.ndarray, x: np.ndarray, dtype: str) -> Case:
    """Rows of one to n of the largest weight against activations that make the sum pass FLT_MAX on the way."""
    n, k = w.shape
    big = np.where(np.arange(k) < np.arange(1, n + 1)[:, None], F32(LARGEST[dtype]), F32(0))
    scale = F32(bounds.FLT_MAX / LARGEST[dtype] / 20)
    return make("maximal", tiles(big, dtype), np.full_like(x, scale), n, "maximal",
                "row i sums i + 1 terms of FLT_MAX / 20")


def climb(x: np.ndarray, dtype: str) -> Case:
    """1 + 0.98 ulp + 0.98 ulp ..: rounded to nearest the errors are small, truncated they pass the bound."""
    n, k = 35, 64
    steps = np.full((*x.shape[:-1], k), 0.98 * 2.0**-23, F32)
    steps[..., 0] = 1
    signs = np.where(np.arange(n) % 2 == 0, F32(1), F32(-1))[:, None]
    return make("climb", tiles(np.broadcast_to(signs, (n, k)), dtype), steps, n, "rounding",
                "each addition loses 0.98 ulp if truncated")


def tail(op: str, width: int, k: int, dtype: str, activations: Callable[..., np.ndarray]) -> Case:
    draw = Draw(f"{op}/tail/{width}/{k}")
    x = activations(draw, "gauss", k)
    x[..., k - width:] *= F32(1e4)
    return make(f"tail{width}_of_{k}", random_tiles(draw, "gauss", 34, k, dtype), x, 34, "tail",
                "the last columns make the sum")


def sparse(op: str, dtype: str, activations: Callable[..., np.ndarray]) -> Case:
    """Three terms that no f16 holds, under a bound for 12288: a kernel that rounds activations to f16 is outside."""
    draw = Draw(f"{op}/sparse")
    x = np.zeros_like(activations(draw, "zeros", 12288))
    x[..., [5, 6150, 12287]] = activations(draw, "uniform", 3) + F32(1)
    return make("three_nonzeros_k12288", random_tiles(draw, "uniform", 32, 12288, dtype), x, 32, "large")


def flushed(op: str, dtype: str) -> list[Case]:
    """Denormals of every size against activations that make them large: flushed inputs lose whole sums."""
    if dtype == "f16":
        w, x_scale = tiles(np.full((33, 70), 2.0**-24, F32), dtype), 1e20
    else:
        w, x_scale = tiles(np.full((33, 70), 2.0**-128, F32), dtype), 1e20
    return [make("tiny_w_large_x", w, Draw(f"{op}/flushed").array("gauss", (70,), scale=x_scale), 33, "denormal")]


def matvec_cases(op: str, dtype: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        found = []
        for n, k in SHAPES:
            draw = Draw(f"{op}/shape/{n}/{k}")
            found.append(make(f"n{n}_k{k}", random_tiles(draw, "gauss", n, k, dtype), one_row(draw, "gauss", k), n))
        found.append(make("n0_k9", tiles(np.zeros((0, 9), F32), dtype), np.ones(9, F32), 0, "trivial"))
        found.append(make("n9_k0", tiles(np.zeros((9, 0), F32), dtype), np.zeros(0, F32), 9, "trivial"))
        found += data_sets(op, dtype, one_row) + flushed(op, dtype)
        for n, k in QWEN3[dtype]:
            draw = Draw(f"{op}/qwen3/{n}/{k}")
            found.append(make(f"qwen3_n{n}_k{k}", random_tiles(draw, "uniform", n, k, dtype, scale=0.05),
                              draw.input("gauss", (k,)), n, "large", "the shape of a projection, rows sampled"))
        return found + real_matvec(real, dtype)
    return cases


QWEN3 = {"f16": [(3072, 1024), (1024, 3072), (2048, 1024), (1024, 2048), (151936, 1024)],
         "bf16": [(2048, 1024), (1024, 3072)], "f32": [(1024, 1024)]}


def gemm_cases(op: str, dtype: str) -> Callable[[Real], list[Case]]:
    def cases(real: Real) -> list[Case]:
        found = []
        for m, n, k, x_gap, y_gap in GEMM_SHAPES:
            draw = Draw(f"{op}/shape/{m}/{n}/{k}")
            strides = {"x_stride": k + x_gap} if x_gap else {}
            strides |= {"y_stride": n + y_gap} if y_gap else {}
            w = random_tiles(draw, "gauss", n, k, dtype)
            found.append(make(f"m{m}_n{n}_k{k}", w, draw.input("gauss", (m, k)), n, **strides))
        for m, n, k in ((0, 5, 6), (3, 0, 9), (2, 9, 0)):
            found.append(make(f"m{m}_n{n}_k{k}", tiles(np.ones((n, k), F32), dtype), np.ones((m, k), F32), n,
                              "trivial"))
        found += data_sets(op, dtype, lambda draw, name, k, **how: draw.array(name, (3, k), **how))
        for m, n, k in ((5, 1024, 1024),) if dtype == "f32" else ((5, 1024, 1024), (3, 1024, 2048)):
            draw = Draw(f"{op}/qwen3/{m}/{n}/{k}")
            found.append(make(f"qwen3_m{m}_n{n}_k{k}", random_tiles(draw, "uniform", n, k, dtype, scale=0.05),
                              draw.input("gauss", (m, k)), n, "large", "the shape of a projection, rows sampled"))
        return found + real_gemm(real, dtype)
    return cases


def real_tiles(real: Real, layer: int, name: str, dtype: str) -> Tensor:
    return tiles(to_f32(real.layer(layer, name)), dtype)


REAL_MATVEC = {  # name: layer, weight, the site that feeds it
    "bf16": [("q_proj", 0, "self_attn.q_proj", "attn_norm"), ("down_proj", 3, "mlp.down_proj", "swiglu")],
    "f16": [("k_proj", 1, "self_attn.k_proj", "attn_norm"), ("gate_proj", 5, "mlp.gate_proj", "ffn_norm")],
    "f32": [("v_proj", 2, "self_attn.v_proj", "attn_norm")],
}
REAL_GEMM = {
    "bf16": [("k_proj", 0, "self_attn.k_proj", "attn_norm"), ("o_proj", 2, "self_attn.o_proj", "attn")],
    "f16": [("v_proj", 4, "self_attn.v_proj", "attn_norm")],
    "f32": [("k_proj", 5, "self_attn.k_proj", "attn_norm")],
}


def real_matvec(real: Real, dtype: str) -> list[Case]:
    """The last token of the prompt."""
    found = []
    for name, layer, weight, site in REAL_MATVEC[dtype]:
        w = real_tiles(real, layer, weight, dtype)
        n = real.layer(layer, weight).shape[0]
        found.append(make(f"kjv_layer{layer}_{name}", w, real.at(layer, site)[-1], n, "real"))
    if dtype == "bf16":
        n = 1000
        w = tiles(to_f32(real.weight("model.embed_tokens"))[:n], dtype)
        found.append(make("kjv_lm_head", w, real.site("final_norm")[-1], n, "real", "the first 1000 tokens' rows"))
    return found


def real_gemm(real: Real, dtype: str) -> list[Case]:
    """Several tokens of the prompt."""
    found = []
    for name, layer, weight, site in REAL_GEMM[dtype]:
        w = real_tiles(real, layer, weight, dtype)
        n = real.layer(layer, weight).shape[0]
        found.append(make(f"kjv_layer{layer}_{name}", w, real.at(layer, site)[-6:], n, "real", "6 tokens"))
    return found


OPS = {f"matvec_{d}": Op(matvec_cases(f"matvec_{d}", d), evaluate) for d in WEIGHTS}
OPS |= {f"gemm_{d}": Op(gemm_cases(f"gemm_{d}", d), evaluate) for d in WEIGHTS}
