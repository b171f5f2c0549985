"""Experiments with ggml's and OpenBLAS's kernels: each takes a plugin, an op, a kernel and a case, does in Python what the kernel is thought to do in
the place of the op's definition, and tells whether that is so. What must come out is computed by recorders' exact arithmetic (golden/record)."""
from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "golden" / "record"))

import numpy as np

import bounds
import cases_linear
import dots
import quant
from block_formats import PARTNER
from blocks import FORMATS, split
from fma32 import F32, fma32, quiet
from formats import Bf16, bf16_bits_to_f32, f32_to_bf16_bits
from generate import Draw, Generated
from goldens import Case, read_case
from plugin import Plugin, Span

LEAST_NORMAL = 2.0**-126


@dataclass
class Trial:
    """An experiment: in bounds of the op's contract, before and after the step is granted; or a plain yes or no."""

    case: str
    holds: bool
    before: float | None = None
    after: float | None = None


def margin(y: np.ndarray, truth: np.ndarray, bound: np.ndarray, bits_only: np.ndarray | None = None) -> float:
    """The largest |y - truth| / B; infinite where a class differs."""
    judged = np.ones(y.shape, bool) if bits_only is None else ~bits_only
    y, t = y.astype(np.float64), truth.astype(F32).astype(np.float64)
    if ((np.isnan(y) != np.isnan(t)) | (np.isinf(y) != np.isinf(t)))[judged].any():
        return np.inf
    judged &= np.isfinite(t) & np.isfinite(truth)
    error = np.abs(y - truth)[judged]
    limit = bound[judged]
    if (error[limit == 0] > 0).any():
        return np.inf
    return float((error[limit > 0] / limit[limit > 0]).max(initial=0.0))


def trial(case: str, before: float, after: float) -> Trial:
    """Outside the bound and then inside; or, where it was the spread that failed, a tenth as far off or less."""
    return Trial(case, after <= 1 and (before > 1 or after < before / 10), before, after)


def bias_inputs(op: str) -> Case:
    """The op's own seeded case, which is in no file (bias_case of reference/ops): a stream an input, in their order."""
    case = Case.__new__(Case)
    if op.startswith("gemv"):
        weights = op.split("_q8")[0].removeprefix("gemv_")
        blocks = 1024 // FORMATS[weights].elements
        case.params = {"n": 2048, "k": 1024}
        case.inputs = {"w": Generated("blocks", (2048, blocks), weights, 31, 0).tensor,
                       "x": Generated("activations", (blocks,), PARTNER[weights], 31, 1).tensor}
    elif op == "swiglu":
        case.params = {"rows": 16, "n": 1024}
        case.inputs = {name: Generated("gauss", (16, 1024), "f32", 41, i).tensor for i, name in enumerate(("gate", "up"))}
    else:
        gemm = op.startswith("gemm")
        n, k, seed = (1024, 256, 22) if gemm else (2048, 256, 21)
        case.params = {"n": n, "k": k}
        case.inputs = {"w": Generated("gauss", (n // 32, k, 32), op.split("_")[1], seed, 0).tensor,
                       "x": Generated("gauss", (4, k) if gemm else (k,), "f32", seed, 1).tensor}
    return case


def case_of(op: str, name: str) -> Case:
    return bias_inputs(op) if name == "bias" else read_case(TOP / "golden", op, name)


@quiet
def rounded_x(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """matvec and gemm: x goes to the weights' type before the dot."""
    case = case_of(op, name)
    stored, x = case.inputs["w"], np.atleast_2d(case.inputs["x"])
    n, k = int(case.params["n"]), int(case.params["k"])
    half = not isinstance(stored, Bf16)
    bits = stored.view(np.uint16) if half else stored.bits
    plain = np.ascontiguousarray(bits.reshape(-1, k, 32).transpose(0, 2, 1).reshape(-1, k)[:n])
    w = plain.view(np.float16).astype(F32) if half else bf16_bits_to_f32(plain)
    exact = w.copy()
    m = len(x)
    y = np.empty((m, n), F32)
    x = np.ascontiguousarray(x)
    sizes = {"n": n, "k": k} | ({"m": m, "x_stride": k, "y_stride": n} if op.startswith("gemm") else {})
    assert plugin.run(op, kernel, w=plain, x=x, y=y, **sizes) == 0
    narrow = x.astype(np.float16).astype(F32) if half else bf16_bits_to_f32(f32_to_bf16_bits(x))
    lost = 0.0
    if not half:  # vdpbf16ps, 64 columns at a time, takes denormals for zeros and makes none; the rest is plain arithmetic
        whole = k // 64 * 64
        for v in (w, narrow):
            v[:, :whole] = np.where(np.abs(v[:, :whole]) < LEAST_NORMAL, F32(0), v[:, :whole])
        lost = whole * LEAST_NORMAL

    def product(a: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        truth = np.array([[(row.astype(np.float64) * v.astype(np.float64)).sum() for row in weights] for v in a])
        return (truth.reshape(m, n), *bounds.matvec(weights, a))

    truth, bound, bits_only = product(x, exact)
    before = margin(y, truth, bound, bits_only)
    truth, bound, bits_only = product(narrow, w)
    return trial(name, before, margin(y, truth, bound + lost, bits_only))


@quiet
def free_order(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """gemv of blocks: the integers of a block stay in eight lanes, each with a sum of its own: the bound of the linear ops."""
    case = case_of(op, name)
    w, x = case.inputs["w"], case.inputs["x"]
    n, k = int(case.params["n"]), int(case.params["k"])
    y = np.empty(n, F32)
    assert plugin.run(op, kernel, w=np.ascontiguousarray(w.data), x=np.ascontiguousarray(x.data), y=y, n=n, k=k) == 0
    row = type(x)(x.data[None], x.format)
    parts = dots.integer_parts(w, row)
    truth = dots.truth(parts)[0]
    tight, tight_bits = (v[0] for v in dots.bound(parts, w.format))
    free, free_bits = (v[0] for v in cases_linear.bound(w, row))
    return trial(name, margin(y, truth, tight, tight_bits), margin(y, truth, free, free_bits))


@quiet
def exp_of_five_terms(x: np.ndarray) -> np.ndarray:
    """ggml's vector expf: reduction as ours, then a polynomial of degree five, fitted."""
    def c(text: str) -> F32:
        return F32(float.fromhex(text))

    shift = c("0x1.8p23")
    n = fma32(x, c("0x1.715476p0"), shift) - shift
    b = fma32(-n, c("0x1.7f7d1cp-20"), fma32(-n, c("0x1.62e4p-1"), x))
    u = b * b
    upper = fma32(fma32(c("0x1.0e4020p-7"), b, c("0x1.573e2ep-5")), u, fma32(c("0x1.555e66p-3"), b, c("0x1.fffdb6p-2")))
    return np.ldexp(fma32(upper, u, fma32(c("0x1.ffffecp-1"), b, F32(1))), n.astype(np.int32)).astype(F32)


@quiet
def looser_exp(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """swiglu: ggml's vector expf is off by up to 1.45358 ulp, where the contract grants 0.939. With that exp bits are equal, the errors' lean
    (z) included; and with 1.45358 in the place of 0.939 the result is within the bound."""
    assert op == "swiglu"
    case = case_of(op, name)
    gate, up = case.inputs["gate"], case.inputs["up"]
    rows, n = gate.shape
    y = np.empty((rows, n), F32)
    assert plugin.run(op, kernel, gate=gate, up=up, y=y, rows=rows, n=n, gate_stride=n, up_stride=n, y_stride=n) == 0
    twin = gate / (F32(1) + exp_of_five_terms(-gate)) * up
    g = gate.astype(np.float64)
    truth = g / (1 + np.exp(-g)) * up.astype(np.float64)
    before = margin(y, truth, *bounds.swiglu(gate, up, truth))
    own, bounds.EXP_ULP = bounds.EXP_ULP, 1.45358
    after = margin(y, truth, *bounds.swiglu(gate, up, truth))
    bounds.EXP_ULP = own
    found = trial(name, before, after)
    found.holds = found.holds and np.array_equal(twin.view(np.uint32), y.view(np.uint32))
    return found


@quiet
def own_table(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """rope_table: powf, and its exponent, in fp32; the C library's cosf and sinf, which do not round correctly: bits equal to those."""
    case = case_of(op, name)
    positions, theta, pairs = case.inputs["positions"], float(case.params["theta"]), int(case.params["pairs"])
    libm = ctypes.CDLL("libm.so.6")
    for function, count in (("powf", 2), ("cosf", 1), ("sinf", 1)):
        getattr(libm, function).restype = ctypes.c_float
        getattr(libm, function).argtypes = [ctypes.c_float] * count
    rows = len(positions)
    cos, sin = np.empty((rows, pairs), F32), np.empty((rows, pairs), F32)
    assert plugin.run(op, kernel, positions=positions, cos=cos, sin=sin, rows=rows, pairs=pairs, table_stride=pairs, theta=theta,
                      recipe=2) == 0
    step = F32(libm.powf(F32(theta), F32(-2.0) / F32(2 * pairs)))
    angle = np.empty((rows, pairs), F32)
    angle[:, 0] = positions.astype(F32)
    for i in range(1, pairs):
        angle[:, i] = angle[:, i - 1] * step
    same = all(np.array_equal(np.array([[F32(getattr(libm, f)(a)) for a in row] for row in angle], F32).view(np.uint32),
                              table.view(np.uint32)) for f, table in (("cosf", cos), ("sinf", sin)))
    return Trial(name, same)


@quiet
def infinite_reciprocal(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """Blocks so small that a reciprocal overflows: the product is infinite or NaN, its conversion to an integer gives INT_MIN, of which
    the low byte is stored (q4_0, q5_0: code 0) or which saturates (q8_0: -128). Blocks otherwise equal; these decode to zero or NaN."""
    case = case_of(op, name)
    x, form = case.inputs["src"].astype(F32), op.split("_", 1)[1]
    elements, size = FORMATS[form].elements, FORMATS[form].size
    blocks = x.reshape(-1, elements)
    out = np.zeros((len(blocks), size), np.uint8)
    if op.startswith("quantize"):
        rows, k = x.shape
        assert plugin.run(op, kernel, src=x, dst=out, rows=rows, k=k, src_stride=k, dst_stride=k // elements) == 0
        right = quant.quantize(form, blocks).data.reshape(out.shape)
        top = np.abs(blocks).max(axis=1)
        overflows = ~np.isfinite(F32(127) / top) & (top >= 0)
    else:
        assert plugin.run(op, kernel, src=x, dst=out, k=x.size) == 0
        right = quant.encode(form, blocks).data.reshape(out.shape)
        scale = {"q4_0": -8, "q5_0": -16, "q8_0": 127}[form]
        overflows = ~np.isfinite(F32(1) / (quant.first_largest(blocks) / F32(scale)))[:, 0]
    other = (out != right).any(axis=1)
    if form == "q8_k":  # d = 1 / iscale: a zero with the sign of -max
        return Trial(name, bool(other.any()) and not (other & ~overflows).any() and not out[other, :3].any())
    codes = split(type(quant.quantize("q8_0", np.ones((1, 32), F32)))(out[other], form)).q
    expected = {"q4_0": -8, "q5_0": -16, "q8_0": -128}[form]
    return Trial(name, bool(other.any()) and not (other & ~overflows).any() and bool(np.isin(codes, (expected, 0)).all()))


def zero_block(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """quantize_q8_k: for a block of zeros d and the codes are written and the sums are not: what was there before is still there."""
    x = np.zeros((1, 256), F32)
    found = []
    for filling in (0xFF, 0x3B):
        out = np.full((1, 292), filling, np.uint8)
        assert plugin.run(op, kernel, src=x, dst=out, rows=1, k=256, src_stride=256, dst_stride=1) == 0
        found.append(not out[0, :260].any() and bool((out[0, 260:] == filling).all()))
    return Trial(name, all(found))


def scalar_tail(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """f32 to f16: in groups by an instruction that keeps a NaN's payload, the last n mod 4 by code that writes 0x7e00."""
    x = np.full(15, 0x7F9FE000, np.uint32).view(F32)
    out = np.zeros(15, np.uint16)
    assert plugin.run(op, kernel, src=x, dst=out, n=15) == 0
    return Trial(name, len(set(out[:12])) == 1 and out[0] != 0x7E00 and bool((out[12:] == 0x7E00).all()))


def told_by_status(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """The status is the whole of it: the failure says so itself."""
    return Trial(name, True)


@quiet
def attention_of(plugin: Plugin, kernel: str, heads: int, keys: int, dim: int, draw: Draw) -> tuple[float, float, float, float]:
    """One query a head over f16 keys and values: margin; then, relative to the outputs' RMS, the distance to the truth, to the truth of q
    rounded to f16, and to a run whose accumulators are f16."""
    q = draw.array("gauss", (heads, dim))
    k, v = (draw.array("gauss", (heads, keys, dim)).astype(np.float16) for _ in range(2))
    span = Span(k.ctypes.data, v.ctypes.data, 0, keys, keys * dim, dim, keys * dim, dim)
    y, scale = np.empty((heads, dim), F32), F32(dim**-0.5)
    assert plugin.run("attn_decode_f16", kernel, q=q, spans=ctypes.addressof(span), y=y, n_heads=heads, n_kv=heads, head_dim=dim,
                      position=keys - 1, span_count=1, q_head_stride=dim, y_head_stride=dim, scale=float(scale), causal=1) == 0
    rounded = q.astype(np.float16).astype(F32)
    truth, truth_rounded, limit, twin = (np.empty((heads, dim)) for _ in range(4))
    for h in range(heads):
        for source, into in ((q, truth), (rounded, truth_rounded)):
            s = float(scale) * (k[h].astype(np.float64) @ source[h].astype(np.float64))
            p = np.exp(s - s.max())
            into[h] = (p / p.sum()) @ v[h].astype(np.float64)
        limit[h] = bounds.attention(q[h], k[h], v[h], float(scale), np.arange(keys))[0]
        twin[h] = half_accumulators(k[h], v[h], rounded[h], scale)
    size = np.sqrt((truth**2).mean())

    def off(other: np.ndarray) -> float:
        return float(np.sqrt(((y - other)**2).mean()) / size)

    return margin(y, truth, limit), off(truth), off(truth_rounded), off(twin)


def half_accumulators(k: np.ndarray, v: np.ndarray, q: np.ndarray, scale: F32) -> np.ndarray:
    """Online softmax whose outputs are rounded to f16 at every key."""
    scores = ((k.astype(np.float64) @ q.astype(np.float64)).astype(F32) * scale).astype(F32)
    acc, top, total = np.zeros(v.shape[1], np.float16), F32(-np.inf), F32(0)
    for s, row in zip(scores, v, strict=True):
        shrink, weight = F32(1), F32(1)
        if s > top:
            shrink, top = F32(np.exp(top - s)), s
            acc = (acc.astype(F32) * shrink).astype(np.float16)
        else:
            weight = F32(np.exp(s - top))
        acc = (row.astype(np.float64) * float(weight) + acc.astype(np.float64)).astype(F32).astype(np.float16)
        total = F32(total * shrink + weight)
    return acc.astype(F32) * F32(F32(1) / total)


@quiet
def margin_among(plugin: Plugin, kernel: str, rows: int, keys: int, dim: int) -> float:
    """The margin of the last row of so many over f16 keys, all of which it sees."""
    draw = Draw("peers/rows")
    q = draw.array("gauss", (64, dim))[-rows:].copy()
    k, v = (draw.array("gauss", (1, keys, dim)).astype(np.float16) for _ in range(2))
    span = Span(k.ctypes.data, v.ctypes.data, 0, keys, keys * dim, dim, keys * dim, dim)
    y, scale = np.empty((rows, dim), F32), F32(dim**-0.5)
    assert plugin.run("attn_prefill_f16", kernel, q=q, spans=ctypes.addressof(span), y=y, rows=rows, n_heads=1, n_kv=1, head_dim=dim,
                      position=keys - rows, span_count=1, q_row_stride=dim, q_head_stride=dim, y_row_stride=dim, y_head_stride=dim,
                      scale=float(scale), causal=1) == 0
    s = float(scale) * (k[0].astype(np.float64) @ q[-1].astype(np.float64))
    p = np.exp(s - s.max())
    truth = (p / p.sum()) @ v[0].astype(np.float64)
    return margin(y[-1], truth, bounds.attention(q[-1], k[0], v[0], float(scale), np.arange(keys))[0])


def half_sums(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """FLASH_ATTN_EXT over f16: q goes to f16, and the outputs are summed in f16, rounded at every key. A run that does the same lies a
    tenth as far or nearer."""
    if not half_sums.seen:
        half_sums.rows = [(rows, margin_among(plugin, kernel, rows, 200, 128)) for rows in (1, 32, 63, 64)]
        draw = Draw("peers/attention")
        half_sums.seen = [(keys, *attention_of(plugin, kernel, 8, keys, 128, draw)) for keys in (16, 100, 500, 1500)]
    holds = all(before > 1 and twin < truth / 10 for _, before, truth, _, twin in half_sums.seen)
    return Trial(name, holds)


half_sums.seen = []
half_sums.rows = []


@quiet
def infinite_scores(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """A score of -inf is compared with a maximum of -inf and expf is taken of their difference, a NaN; of one of +inf the rest's weight
    becomes expf(-inf) = 0 and its own 1, not NaN. f32, so that nothing else is off."""
    keys, dim = 4, 8
    results = []
    for scores in ([-np.inf] * 4, [-np.inf, 1.0, 2.0, 0.5], [0.5, np.inf, 1.0, 0.25]):
        q, k = np.zeros((1, dim), F32), np.zeros((1, keys, dim), F32)
        q[0, 0], k[0, :, 0] = 1, scores
        v = np.arange(keys * dim, dtype=F32).reshape(1, keys, dim)
        span = Span(k.ctypes.data, v.ctypes.data, 0, keys, keys * dim, dim, keys * dim, dim)
        y = np.empty((1, dim), F32)
        assert plugin.run("attn_decode_f32", kernel, q=q, spans=ctypes.addressof(span), y=y, n_heads=1, n_kv=1, head_dim=dim,
                          position=keys - 1, span_count=1, q_head_stride=dim, y_head_stride=dim, scale=1.0, causal=1) == 0
        results.append(y[0].copy())
    return Trial(name, bool(np.isnan(results[0]).all() and np.isnan(results[1]).all() and np.isfinite(results[2]).all()))


@quiet
def by_rows(plugin: Plugin, op: str, kernel: str, name: str) -> Trial:
    """linear: among fewer than eight rows some have other bits than among all of the call's."""
    case = case_of(op, name)
    w, x = np.ascontiguousarray(case.inputs["w"].data), np.ascontiguousarray(case.inputs["x"])
    m, n, k = (int(case.params[size]) for size in "mnk")

    def first(rows: int) -> np.ndarray:
        y = np.empty((rows, n), F32)
        assert plugin.run(op, kernel, w=w, x=x, y=y, m=rows, n=n, k=k, x_stride=k, y_stride=n) == 0
        return y

    whole = first(m)
    others = [rows for rows in range(1, m) if not np.array_equal(first(rows), whole[:rows])]
    return Trial(name, bool(others) and max(others) == 7)
