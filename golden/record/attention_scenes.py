"""What attention is shown: data and views that give plausible mistakes away (docs/numerics.md)."""
from __future__ import annotations

import numpy as np

from attention_layout import Maker
from fma32 import F32
from formats import to_f32
from generate import Draw
from real import Real
from schema import Case

#         n_kv, group, head_dim, length, more
SHAPES = [(1, 1, 1, 1, {}), (1, 1, 64, 1, {}), (2, 2, 64, 17, {}), (1, 2, 7, 5, {}), (2, 2, 1, 20, {}),
          (1, 4, 128, 33, {}), (2, 8, 64, 16, {}), (1, 8, 64, 15, {}), (1, 2, 33, 48, {}), (2, 3, 17, 12, {}),
          (3, 2, 64, 65, {}), (8, 1, 32, 31, {}), (2, 2, 256, 31, {}), (2, 4, 128, 63, {}), (4, 2, 16, 129, {}), (1, 2, 512, 18, {}),
          (2, 2, 80, 40, {"k_row_stride": 96, "v_row_stride": 96}),
          (2, 4, 80, 100, {"k_row_stride": 128, "v_row_stride": 80}),
          (2, 2, 64, 50, {"k_head_stride": 64 * 70, "v_head_stride": 64 * 60}),
          (2, 2, 40, 34, {"q_head_stride": 48, "y_head_stride": 44}),
          (3, 4, 24, 37, {"v_row_stride": 31, "k_head_stride": 1000}), (2, 18, 16, 21, {})]
CROSSINGS = (15, 16, 17, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025)


def controlled(draw: Draw, score: np.ndarray, rows: int, heads: int, head_dim: int = 8, n_kv: int = 2) -> tuple:
    """q, k, v whose scores are `score` [length] but for a little noise: dimension 0 carries it, q there is 1."""
    length = len(score)
    q, k = draw.array("gauss", (rows, heads, head_dim)), draw.array("gauss", (n_kv, length, head_dim), scale=0.1)
    q[..., 0], k[..., 0] = 1, score * np.sqrt(head_dim)
    return q, k, draw.array("gauss", (n_kv, length, head_dim))


def shapes(make: Maker) -> list[Case]:
    found = [make.random(f"heads{n_kv}x{group}_dim{d}_n{n}" + ("_strides" if more else ""), n_kv, group, d, n, **more)
             for n_kv, group, d, n, more in SHAPES]
    for n in (17, 24, 33, 40):
        found.append(make.random(f"sd2_n{n}", 2, 2, 64, n, "sharp", "q, p, scores or V in 16 bits show here", sd=2.0))
    found.append(make.random("sd2_dim128_n40", 1, 4, 128, 40, "sharp", sd=2.0))
    return found


def score_patterns(make: Maker) -> list[Case]:
    """Where the maximum is, and how it moves."""
    draw, rows = make.draw("patterns"), make.rows()
    stairs = np.arange(160) // 16
    noise = draw.array("uniform", (160,), scale=0.4)
    wave = np.where(stairs % 2 == 0, 3.0, 0.0) + noise
    patterns = {
        "rising_blocks": (stairs * 0.7 + noise, "the maximum rises at every block"),
        "rising_over_89": (stairs * 11.0 + noise, "by more than 89 in all: a maximum that stays frozen overflows"),
        "rising_per_key": (np.arange(80) * 0.05, "ascending: a rescale at each block"),
        "ascending_steep": (np.arange(100) * 1.3, "ascending by more than 89"),
        "descending": (np.arange(80) * -0.05, "no rescale"),
        "descending_steep": (np.arange(100) * -1.3, "exponentials underflow"),
        "rising_then_falling": (wave, "the maximum moves at block 0 alone"),
        "late_peak": (np.where(np.arange(70) == 37, 4.0, 0.0), "one key lifts the maximum late in its block"),
        "first_key_peak": (np.where(np.arange(50) == 0, 6.0, 0.0), ""),
        "spans_rise": (np.where(np.arange(1060) < 1024, 0.0, 5.0), "the second span's maximum is larger"),
        "spans_fall": (np.where(np.arange(1060) < 1024, 5.0, 0.0), "the second span's maximum is smaller"),
        "spans_apart": (np.where(np.arange(1040) < 1024, -95.0, 0.0), "the first span counts for nothing"),
    }
    found = []
    for name, (score, note) in patterns.items():
        wide = len(score) > 500
        q, k, v = controlled(draw, score, rows, 2 if wide else 4, 4 if wide else 8, 1 if wide else 2)
        found.append(make.built(name, q, k, v, "scores", note))
    q, k, v = controlled(draw, np.zeros(45), rows, 4)
    found.append(make.built("saturated", q * 40, draw.array("gauss", k.shape, scale=3.0), v, "scores",
                            "scores in the hundreds: one key holds the weight"))
    found.append(make.built("equal", q, np.repeat(k[:, :1], 45, axis=1), v, "scores ties", "every weight is 1/n"))
    found.append(make.built("zero_keys", q, np.zeros_like(k), v, "scores ties"))
    found.append(make.built("scale_zero", q, k, v, "scores ties", scale=0.0))
    found.append(make.built("scale_negative", q, draw.array("gauss", k.shape), v, "scores", scale=-0.75))
    # Head h turns to the key at place h of the second block.
    axes = np.zeros((2, 48, 16))
    axes[:, 16 + np.arange(16), np.arange(16)] = 30
    found.append(make.built("dominating_places", np.repeat(np.eye(16)[None, [*range(16)] * 2], rows, axis=0), axes,
                            draw.array("gauss", axes.shape), "scores", "one key at each place of a block", scale=1.0))
    return found


def crossings(make: Maker) -> list[Case]:
    """Lengths around the ends of blocks and spans; the newest key weighs most."""
    found = []
    for n in CROSSINGS:
        draw = make.draw(f"crossing/{n}")
        score = np.where(np.arange(n) == n - 1, 2.0 + np.log(n), 0.0)
        q, k, v = controlled(draw, score, make.rows(3), 4 if n < 300 else 2, 8 if n < 300 else 4, 2 if n < 300 else 1)
        found.append(make.built(f"newest_n{n}", q, k, v, "tail", "a dropped last key shows"))
    draw = make.draw("tail")
    for n in (2, 40, 299, 300):
        q, k, v = (draw.array("gauss", shape) for shape in ((make.rows(3), 4, 8), (2, n, 8), (2, n, 8)))
        v[:, -1] *= 40
        found.append(make.built(f"heavy_last_value_n{n}", q, k, v, "tail"))
    found.append(make.random("n2100", 1, 2, 16, 2100, "spans", rows=2, kind="uniform"))
    return found


def masks(make: Maker) -> list[Case]:
    """Windows, ends and what lies beyond them. Unseen rows are NaN unless they are traps: finite, and loud."""
    found, rows = [], make.rows()
    for window, n in ((1, 50), (5, 50), (15, 40), (16, 50), (17, 50), (40, 50), (50, 50), (200, 50), (20, 1030)):
        draw = make.draw(f"window/{window}/{n}")
        q, k, v = controlled(draw, np.zeros(n), rows, 2, 8, 1 if n > 100 else 2)
        found.append(make.built(f"window{window}_n{n}", q, k, v, "window", window=window))
        trap = k.copy()
        trap[..., 0] += np.where(np.arange(n) <= n - rows - window, 25.0, 0.0)  # masked for every row
        if n > rows + window and n < 100:
            found.append(make.built(f"window{window}_trap", q, trap, v * 3, "window",
                                    "the keys before the window are loud", False, window=window))
    draw = make.draw("masks")
    for position in (0, 1, 7, 15, 16, 22, 31):
        q, k, v = controlled(draw, np.zeros(48), rows, 4)
        found.append(make.built(f"position{position}_of_48", q, k, v, "causal", "keys past the query are NaN",
                                position=position))
    q, k, v = controlled(draw, np.where(np.arange(48) > 20 + rows, 20.0, 0.0), rows, 4)
    found.append(make.built("future_trap", q, k, v, "causal", "keys past the query are loud", False, position=21))
    q, k, v = controlled(draw, np.zeros(48), rows, 4)
    found += [make.built("beyond_the_end", q, k, v, "causal", "queries past the view's end", position=70),
              make.built("beyond_the_end_window", q, k, v, "causal window", position=52, window=20),
              make.built("window_past_everything", q, k, v, "trivial window", "no key is left: +0",
                         position=100, window=20),
              make.built("bidirectional", q, k, v, "bidirectional", causal=0, position=0),
              make.built("bidirectional_late", q, k, v, "bidirectional", causal=0, position=30),
              make.random("bidirectional_n100", 2, 2, 64, 100, "bidirectional", causal=0, position=0, rows=20),
              make.random("rows20_across_blocks", 2, 2, 32, 45, "causal", rows=20),
              make.random("rows40_window7", 1, 4, 16, 60, "causal window", rows=40, window=7),
              make.random("rows33_from_0", 2, 2, 64, 33, "causal", rows=33)]
    return found


def views(make: Maker) -> list[Case]:
    """The same kind of call from every kind of storage."""
    found, rows = [], make.rows()
    n, kinds = 100, {"pages": {"span_positions": 16, "slot_step": 3, "slots": 7}, "pages_scattered":
                     {"span_positions": 16, "slots": 23, "first_slot": 11, "slot_step": 9},
                     "pages_of_32": {"span_positions": 32, "slots": 5, "first_slot": 4, "slot_step": 2},
                     "blocks_in_order": {"span_positions": 16}}
    for name, view in kinds.items():
        q, k, v = (make.draw("views").array("gauss", shape) for shape in ((rows, 4, 16), (2, n, 16), (2, n, 16)))
        found.append(make.built(name, q, k, v, "view", "the same data in each of these", **view))
    found += [make.built("one_span", q, k, v, "view"),
              make.built("pages_head_major", q, k, v, "view", "heads farther apart than slots",
                         span_positions=16, k_slot_stride=256, v_slot_stride=256, k_head_stride=2048, v_head_stride=2048),
              make.random("chunks", 1, 4, 32, 600, "view", span_positions=256, rows=2),
              make.random("pages_padded", 2, 2, 80, 70, "view", span_positions=16, slot_step=2, k_row_stride=96,
                          v_row_stride=128)]
    for wraps, window, capacity in ((1, 40, 64), (3, 48, 64), (20, 16, 32), (17, 33, 64)):
        draw = make.draw(f"ring/{wraps}/{window}")
        end = wraps * capacity + 21  # positions so far
        first = max(0, end - capacity) // 16 * 16  # the oldest block, some of whose rows are newer ones
        slots = capacity // 16
        q, k, v = controlled(draw, np.zeros(end - first), rows, 4)
        ring = {"first_position": first, "span_positions": 16, "slots": slots, "first_slot": first // 16 % slots}
        # The ring holds capacity positions; a window of so many rows more must still fit.
        window = min(window, capacity - 16 - rows + 1)
        found.append(make.built(f"ring{capacity}_wrap{wraps}", q, k, v, "view window ring", window=window, **ring))
        k[:, :end - first - rows - window + 1, 0] += 25
        found.append(make.built(f"ring{capacity}_wrap{wraps}_stale", q, k, v, "view window ring",
                                "what the window has left behind is loud", False, window=window, **ring))
    draw = make.draw("dropped")
    for first, length, window in ((48, 40, 17), (1008, 40, 20), (1024, 17, 8), (2032, 50, 30)):
        q, k, v = controlled(draw, draw.array("gauss", (length,)), rows, 4)
        found.append(make.built(f"from{first}_window{window}", q, k, v, "view window", "older pages are gone",
                                first_position=first, window=window, span_positions=16))
    return found


def values(make: Maker) -> list[Case]:
    """Numbers at the edge of what fp32 and f16 hold."""
    found, rows, half = [], make.rows(), make.dtype == "f16"
    draw = make.draw("values")
    q, k, v = controlled(draw, np.zeros(40), rows, 4)
    alternating = np.where(np.arange(40)[:, None] % 2 == 0, 1000.0, -1000.0)
    found.append(make.built("cancelling_values", q, k * 0, alternating + v, "cancellation", "equal weights, values that cancel"))
    # The far key's exponential is 6e-36 (f16: 2e-9), its value 1e37 (6e4); every nearer value is 0.
    gap, huge = (20.0, 6e4) if half else (81.0, 1e37)
    q, k, far = controlled(draw, np.where(np.arange(40) == 9, -gap, 0.0), rows, 4)
    far[:], far[:, 9] = 0, huge
    found.append(make.built("far_key_huge_value", q, k, far, "range", "a weight dropped as too small shows"))
    q, k, far = controlled(draw, np.where(np.arange(40) < 16, -95.0, 0.0), rows, 4)
    far[:], far[:, :16] = 0, huge
    found.append(make.built("denormal_weights", q, k, far, "range denormal", "e^-95 is a denormal"))
    q, k, v = controlled(draw, np.zeros(40), rows, 4)
    found.append(make.built("denormal_values", q, k, to_f32(draw.array("denormal", v.shape, make.dtype)), "denormal"))
    found.append(make.built("zero_values", q, k, v * 0, "trivial"))
    negative = v.copy()
    negative[..., ::2] = -0.0
    negative[..., 1::4], negative[:, 9, 1::4] = 0, -(2.0**-24 if half else 2.0**-149)
    found.append(make.built("negative_zero_values", q, k, negative, "denormal", "a sum of -0 is +0; one that underflows is -0"))
    found.append(make.built("mixed_zero", draw.array("mixed_zero", q.shape), draw.array("mixed_zero", k.shape),
                            draw.array("mixed_zero", v.shape)))
    wide_q, wide_k = (draw.array("wide", shape, low=-12, high=2) for shape in (q.shape, k.shape))
    found.append(make.built("wide", wide_q, wide_k, draw.array("wide", v.shape, low=-14, high=14)))
    found.append(make.built("void_bound", q * 3e5, k + 1e4, v, "trivial void",
                            "scores of 1e9: their errors exceed 1, so that only bits count"))
    if not half:
        found.append(make.built("score_overflow", q * 1e30, np.abs(k) * 1e9, v, "trivial maximal", "only bits count"))
        found.append(make.built("value_overflow", q, k, np.sign(v) * 3e38, "trivial maximal", "only bits count"))
    return found + nonfinite(make, draw)


def nonfinite(make: Maker, draw: Draw) -> list[Case]:
    found, rows = [], make.rows()
    q, k, v = controlled(draw, np.zeros(40), rows, 4)
    q[..., 1:] = np.abs(q[..., 1:])

    def changed(name: str, note: str, *places: tuple, query: tuple | None = None, tags: str = "nonfinite") -> None:
        one = {"q": q.copy(), "k": k.copy(), "v": v.copy()}
        for tensor, head, key, value in places:
            one[tensor][head, key] = value
        if query is not None:
            one["q"][:, query[0], query[1]] = query[2]
        found.append(make.built(name, one["q"], one["k"], one["v"], tags, note))

    down = np.zeros(8)
    down[0] = -np.inf
    changed("minus_infinity_scores", "as masked; their V is not read",
            *((t, 1, j, x) for j in (0, 3, 16, 17, 35) for t, x in (("k", down), ("v", np.nan))))
    changed("minus_infinity_block", "a block without a key that counts", *(("k", 0, j, down) for j in range(16, 32)))
    changed("minus_infinity_head", "every score of a kv head: +0", *(("k", 1, j, down) for j in range(40)))
    changed("nan_key", "its kv head is NaN, the other is not", ("k", 0, 11, np.nan))
    changed("infinite_score", "NaN for its kv head", ("k", 1, 20, -down))
    changed("nan_query", "NaN for one head", query=(2, 3, np.nan))
    changed("nan_key_among_infinities", "NaN after scores of -inf", ("k", 1, 0, down), ("k", 1, 30, np.nan))
    changed("nan_value", "only bits count in its column", ("v", 0, 12, [np.nan] + [1] * 7))
    changed("infinite_value", "only bits count in its column", ("v", 1, 34, [1, np.inf] + [1] * 6))
    if make.prefill:
        q, k, v = controlled(make.draw("nan_value_leaves"), np.zeros(60), 16, 4)
        v[:, 16] = np.nan
        found.append(make.built("nan_value_leaves_window", q, k, v, "nonfinite window",
                                "NaN for the first eight rows, behind the window of the other eight", window=36))
    return found


def refused(make: Maker) -> list[Case]:
    draw = make.draw("refused")
    q, k, v = controlled(draw, np.zeros(40), make.rows(), 4)
    page = {"span_positions": 16}
    wrong = {"window_bidirectional": ("bad_parameter", {"causal": 0, "window": 4}),
             "window_negative": ("bad_parameter", {"window": -1}),
             "scale_infinite": ("bad_parameter", {"scale": float("inf")}),
             "scale_nan": ("bad_parameter", {"scale": float("nan")}),
             "position_negative": ("bad_shape", {"position": -1}),
             "heads_no_multiple": ("bad_shape", {"n_heads": 4, "n_kv": 3}),
             "no_kv_heads": ("bad_shape", {"n_heads": 4, "n_kv": 0}),
             "span_off_block": ("bad_shape", {"first_position": 8, "window": 4}),
             "span_of_24": ("bad_shape", {"span_positions": 24}), "span_gap": ("bad_shape", page | {"span_gap": 16}), "head_dim_0": ("bad_shape", {"head_dim": 0}),
             "head_dim_513": ("bad_shape", {"head_dim": 513}),
             "below_the_view": ("out_of_range", {"first_position": 48} | page),
             "window_below_the_view": ("out_of_range", {"first_position": 48, "position": 60, "window": 14} | page),
             "query_below_the_view": ("out_of_range", {"first_position": 48, "position": 20, "window": 4} | page)}
    found = []
    for name, (status, params) in wrong.items():
        n_kv, head_dim = params.get("n_kv", 2), params.get("head_dim", 8)
        fit = [np.ones((*a.shape[:-1], head_dim), F32) if head_dim != 8 else a for a in (q, k, v)]
        if head_dim > 512:  # large, and refused before it is read
            fit[1:] = [a[:, :1] for a in fit[1:]]
        if n_kv != 2:
            fit[1:] = [np.ones((n_kv, 40, head_dim), F32)] * 2
        found.append(make.built(f"refused_{name}", *fit, "refused", poison=False, status=status, **params))
    return found


def real_and_empty(make: Maker, real: Real) -> list[Case]:
    found = []
    for layer in (0, 3):
        q, k = real.at(layer, "q_rope"), real.at(layer, "k_rope")
        v = real.at(layer, "v_proj").reshape(k.shape)
        found.append(make.built(f"kjv_layer{layer}_genesis", q, k.swapaxes(0, 1), v.swapaxes(0, 1), "real"))
    draw = make.draw("empty")
    q, k, v = controlled(draw, np.zeros(20), make.rows(), 4)
    found.append(make.built("length0", q, k[:, :0], v[:, :0], "trivial", "an empty view: +0", group=2))
    found.append(make.built("heads0", q[:, :0], k[:0], v[:0], "trivial", group=2))
    if make.prefill:
        found.append(make.built("rows0", q[:0], k, v, "trivial", position=3, group=2))
    large = {"causal": 1, "rows": 3, "kind": "uniform"}
    found.append(make.random("large_n3000_dim128", 2, 2, 128, 3000, "large spans",
                             "truth of two heads of the last row", **large))
    found.append(make.random("large_pages_n1500", 2, 4, 64, 1500, "large spans view", sd=4.0, span_positions=16,
                             slot_step=5, slots=97, **large))
    return found


def scenes(kind: str, dtype: str, real: Real) -> list[Case]:
    make = Maker(kind, dtype)
    return [*shapes(make), *score_patterns(make), *crossings(make), *masks(make), *views(make), *values(make),
            *refused(make), *real_and_empty(make, real)]
