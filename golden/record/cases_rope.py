"""rope: the rotation, against a given table's own bits."""
from __future__ import annotations

import numpy as np
import torch

import bounds
import truth
from cases_rope_table import angles
from fma32 import F32, fma32, quiet
from formats import to_f32
from generate import Draw, Generated
from real import Real
from schema import Case, Op, Output

#         rows, heads, head_dim, rot_dim, head gap
SHAPES = [(1, 1, 2, 2, 0), (2, 2, 8, 8, 0), (1, 3, 14, 14, 0), (3, 2, 16, 16, 0), (2, 3, 18, 18, 0), (2, 2, 30, 30, 2),
          (1, 4, 32, 32, 0), (3, 2, 34, 34, 0), (2, 2, 62, 62, 0), (2, 3, 64, 64, 0), (1, 2, 66, 66, 6),
          (2, 2, 80, 80, 16), (2, 4, 128, 128, 0), (3, 2, 33, 20, 0), (2, 2, 80, 64, 16), (2, 3, 128, 32, 0),
          (1, 2, 100, 2, 0), (2, 2, 256, 256, 0)]


Data = np.ndarray | Generated


def make(name: str, x: Data, cos: Data, sin: Data, pairing: str, tags: str = "",
         rot_dim: int | None = None, status: str = "ok", note: str = "", **params: int) -> Case:
    """x [rows, heads, head_dim]; cos, sin [components, rows, pairs]."""
    rows, heads, head_dim = x.shape
    rot_dim = 2 * cos.shape[2] if rot_dim is None else rot_dim
    sizes = {"rows": rows, "heads": heads, "head_dim": head_dim, "rot_dim": rot_dim, "components": cos.shape[0],
             "pairing": pairing}
    return Case(name, sizes | params, {"x": x, "cos": cos, "sin": sin}, tags, status, note)


def places(params: dict) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each pair: its two dimensions and its component."""
    pairs = params["rot_dim"] // 2
    i = np.arange(pairs)
    first, second = (2 * i, 2 * i + 1) if params["pairing"] == "adjacent" else (i, i + pairs)
    if params["pairing"] != "sectioned":
        return first, second, np.zeros(pairs, np.int64)
    ends = np.cumsum([params[f"section{s}"] for s in range(4)])
    return first, second, np.searchsorted(ends, i % ends[-1], side="right")


@quiet
def evaluate(case: Case) -> None:
    x, cos, sin = (to_f32(case.tensor(name)) for name in ("x", "cos", "sin"))
    first, second, component = places(case.params)
    pair = np.arange(len(first))
    c, s = (t[component, :, pair].T[:, None, :] for t in (cos, sin))  # [rows, 1, pairs]
    x0, x1 = x[..., first], x[..., second]
    y, canonical, bound = truth.wide(x), x.copy(), np.zeros(x.shape)
    wide0, wide1, wide_c, wide_s = (truth.wide(v) for v in (x0, x1, c, s))
    y[..., first] = wide0 * wide_c - wide1 * wide_s  # products exact, one rounding
    y[..., second] = wide1 * wide_c + wide0 * wide_s
    canonical[..., first] = fma32(x0, c, -(x1 * s))
    canonical[..., second] = fma32(x1, c, x0 * s)
    bound[..., first] = bounds.rotation(x0, c, x1, s)
    bound[..., second] = bounds.rotation(x1, c, x0, s)
    opinion = torch.from_numpy(truth.wide(x))
    turned0 = opinion[..., first] * torch.from_numpy(wide_c) - opinion[..., second] * torch.from_numpy(wide_s)
    turned1 = opinion[..., second] * torch.from_numpy(wide_c) + opinion[..., first] * torch.from_numpy(wide_s)
    opinion[..., first], opinion[..., second] = turned0, turned1
    case.outputs["y"] = Output(y, canonical=canonical, bound=bound, opinion=opinion.numpy(),
                               opinion_scale=np.maximum(np.abs(y), bound / bounds.g(2)))


def table(positions: np.ndarray, pairs: int, theta: float = 1e4) -> tuple[np.ndarray, np.ndarray]:
    """cos, sin [1, rows, pairs] of recipe f64."""
    angle = angles("f64", positions, pairs, theta, None)
    return truth.cosine(angle).astype(F32)[None], truth.sine(angle).astype(F32)[None]


def shapes() -> list[Case]:
    found = []
    for rows, heads, head_dim, rot_dim, gap in SHAPES:
        for pairing in ("split", "adjacent"):
            draw = Draw(f"rope/{pairing}/{rows}/{heads}/{head_dim}/{rot_dim}")
            head_stride = head_dim + gap
            strides = {"x_head_stride": head_stride, "x_row_stride": heads * head_stride, "y_head_stride": head_stride,
                       "y_row_stride": heads * head_stride} if gap else {}
            positions = draw.array("index", (rows,), "i32", low=1, high=4096)
            found.append(make(f"{pairing}_rows{rows}_heads{heads}_dim{head_dim}_rot{rot_dim}",
                              draw.input("gauss", (rows, heads, head_dim)), *table(positions, rot_dim // 2), pairing,
                              **strides))
    return found


def layouts() -> list[Case]:
    draw = Draw("rope/layouts")
    x, positions = draw.array("gauss", (3, 2, 80)), np.int32([7, 300, 4000])
    cos, sin = table(positions, 40)
    return [
        make("dim80_stride96_y_apart", x, cos, sin, "split", x_head_stride=96, x_row_stride=200, y_head_stride=80,
             y_row_stride=160, note="x padded, y dense"),
        make("y_padded", x, cos, sin, "adjacent", x_head_stride=80, x_row_stride=160, y_head_stride=96,
             y_row_stride=192),
        make("row_gap", x, cos, sin, "split", x_head_stride=80, x_row_stride=177, y_head_stride=80, y_row_stride=177),
        make("table_gap", x, cos, sin, "split", table_stride=64),
        make("head_major", draw.array("gauss", (2, 3, 16)), *table(np.int32([5, 9]), 8), "split", x_head_stride=48,
             x_row_stride=16, y_head_stride=48, y_row_stride=16, note="heads farther apart than rows"),
        make("rows0", np.zeros((0, 2, 8), F32), *(np.zeros((1, 0, 4), F32),) * 2, "split", "trivial"),
        make("heads0", np.zeros((2, 0, 8), F32), *table(np.int32([1, 2]), 4), "split", "trivial"),
        make("dim0", np.zeros((2, 3, 0), F32), *(np.zeros((1, 2, 0), F32),) * 2, "split", "trivial"),
        make("rot0", draw.array("gauss", (2, 2, 9)), *(np.zeros((1, 2, 0), F32),) * 2, "adjacent",
             note="nothing turns: a copy"),
        make("position0", draw.array("gauss", (1, 2, 32)), *table(np.int32([0]), 16), "split", note="angle 0: a copy"),
        make("position_far", draw.array("gauss", (2, 2, 32)), *table(np.int32([40959, 262143]), 16, 1e6), "split"),
    ]


def sectioned() -> list[Case]:
    found = []
    shapes_of = [("mrope_16_24_24", 2, 2, 128, 128, (16, 24, 24, 0), 3),
                 ("sections_2_3_1", 3, 2, 24, 24, (2, 3, 1, 0), 3),
                 ("sections_four", 2, 3, 32, 24, (1, 2, 3, 4), 4), ("sections_wrap", 2, 2, 40, 40, (3, 1, 2, 1), 4),
                 ("sections_one", 2, 2, 16, 16, (8, 0, 0, 0), 1), ("sections_skip", 2, 2, 36, 32, (0, 5, 0, 3), 4),
                 ("sections_longer", 1, 2, 18, 18, (4, 20, 0, 0), 2)]
    for name, rows, heads, head_dim, rot_dim, sections, components in shapes_of:
        draw = Draw(f"rope/{name}")
        tables = [table(draw.array("index", (rows,), "i32", low=1, high=2000), rot_dim // 2) for _ in range(components)]
        cos, sin = (np.concatenate(parts) for parts in zip(*tables))
        gap = {"table_stride": rot_dim // 2 + 3,
               "component_stride": rows * (rot_dim // 2 + 3) + 5} if "wrap" in name else {}
        found.append(make(name, draw.input("gauss", (rows, heads, head_dim)), cos, sin, "sectioned", **gap,
                          **{f"section{s}": length for s, length in enumerate(sections)}))
    return found


def data_sets() -> list[Case]:
    draw = Draw("rope/data")
    shape, flat = (2, 2, 38), (1, 2, 17)
    cos, sin = table(np.int32([3, 77]), 17)
    x = draw.array("gauss", shape)
    nonfinite = x.copy()
    nonfinite[0, 0, 3], nonfinite[0, 1, 20], nonfinite[1, 0, 0], nonfinite[1, 0, 17] = np.nan, np.inf, np.inf, -np.inf
    nonfinite[1, 1, 34:] = [np.inf, -np.inf, np.nan, -0.0]  # past rot_dim: copied
    equal = np.concatenate([x[..., :17], x[..., :17], x[..., :4]], axis=-1)
    eighth = np.full(flat, F32(np.sqrt(0.5)))
    steps = F32(1) + draw.array("uniform", flat, scale=2.0**-20)
    return [
        make("zeros", np.zeros(shape, F32), cos, sin, "split", "trivial"),
        make("mixed_zero", draw.input("mixed_zero", shape), cos, sin, "split"),
        make("signed_zeros", np.resize(F32([0.0, -0.0, -0.0, 0.0, 0.0, -0.0, 1.0]), (2, 2, 38)),
             *(np.resize(F32(v), (1, 2, 17)) for v in ([1, -1, 0.0, -0.0], [0.0, -0.0, 1, -1, -0.0])), "split",
             note="the sign of x0 c - x1 s where both are zeros, and of what is copied"),
        make("wide", draw.input("wide", shape, low=-40, high=40), cos, sin, "split"),
        make("small_onto_large", np.where(np.arange(38) < 17, x * F32(1e6), x), cos, sin, "split"),
        make("cancellation", equal, eighth, eighth * steps, "split", "cancellation", note="x0 c and x1 s nearly equal"),
        make("positive", draw.input("positive", shape), np.abs(cos), np.abs(sin), "adjacent"),
        make("any_table", x, draw.input("gauss", flat), draw.input("gauss", flat), "split",
             note="cos and sin need not be"),
        make("denormal_x", draw.input("denormal", shape), cos, sin, "split", "denormal"),
        make("denormal_table", x, draw.input("denormal", flat), draw.input("denormal", flat), "adjacent", "denormal"),
        make("denormal_products", x * F32(1e-20), cos * F32(1e-20), sin * F32(1e-20), "split", "denormal"),
        make("nonfinite", nonfinite, cos, sin, "split", "nonfinite"),
        make("maximal", np.where(x > 0, F32(3.4028235e38), F32(-3e38)), cos, sin, "split", "maximal",
             note="some sums overflow"),
    ]


def refusals() -> list[Case]:
    draw = Draw("rope/refusals")
    x = draw.array("gauss", (2, 2, 12))
    cos, sin = table(np.int32([1, 2]), 4)
    three = [np.concatenate([t, t, t]) for t in (cos, sin)]
    odd = table(np.int32([1, 2]), 3)
    found = [make("rot_dim_odd", x, *odd, "split", "refused", 7, "bad_shape")]
    beyond = table(np.int32([1, 2]), 7)
    found.append(make("rot_dim_beyond_head_dim", x, *beyond, "adjacent", "refused", 14, "bad_shape"))
    for name, sections in (("zero", (0, 0, 0, 0)), ("negative", (3, -1, 2, 0)), ("without_component", (1, 1, 1, 1))):
        found.append(make(f"sections_{name}", x, *three, "sectioned", "refused", None, "bad_parameter",
                          **{f"section{s}": length for s, length in enumerate(sections)}))
    return found


def real_cases(real: Real) -> list[Case]:
    theta, pairs = real.config["rope_parameters"]["rope_theta"], real.config["head_dim"] // 2
    found = []
    for layer, site, prompt in ((0, "q_norm", "genesis"), (0, "k_norm", "genesis"), (5, "q_norm", "very_long")):
        x, positions = real.at(layer, site, prompt)[-3:], real.positions(prompt)[-3:]
        found.append(make(f"kjv_layer{layer}_{site[0]}_rope_{prompt}", x, *table(positions, pairs, theta), "split",
                          "real"))
    return found


def cases(real: Real) -> list[Case]:
    return shapes() + layouts() + sectioned() + data_sets() + refusals() + real_cases(real)


OPS = {"rope": Op(cases, evaluate)}
