#!/usr/bin/env python3
"""What explains the failures of ggml's and OpenBLAS's kernels: a step of their arithmetic, held to experiment.

    explain.py CHECK.json OUT.json PLUGIN.so...

CHECK.json is what `assay check --json` said of the plugins. Each explanation says what a plugin does in the place of the op's definition, and
its experiment (trials.py) computes from that, by arithmetic that shares no line with either side, what must come out: on the very golden cases
that failed where it can; of cases that are made from a seed the failure's words alone are looked at. Exit 1 where an explanation does not
hold, or a failure has none.
"""
from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import trials
from plugin import Plugin
from trials import Trial


@dataclass
class Explanation:
    key: str
    ops: str  # a pattern
    failure: str  # a pattern: check, a blank, message
    claim: str
    trial: Callable[[Plugin, str, str, str], Trial]  # plugin, op, kernel, case
    plugin: str = "ggml"
    trials: list[Trial] = field(default_factory=list)
    made: int = 0  # failing cases made from a seed, of which the pattern alone is held to the failure


EXPLANATIONS = [
    Explanation("nan-taken", r"encode_|quantize_|linear_", r"exact returned ok; expected not_finite",
                "The row quantisers have no status: NaN, infinity or a scale beyond f16 make garbage blocks.", trials.told_by_status),
    Explanation("one-recipe", r"rope_table", r"exact returned bad_parameter; expected",
                "ROPE knows the recipe `ggml` alone.", trials.told_by_status),
    Explanation("x-narrowed", r"(matvec|gemm)_b?f16", r"(bound|classes|spread) ",
                "MUL_MAT rounds x to the weights' f16 (infinite beyond 65504) or bf16 (vdpbf16ps flushes denormals).", trials.rounded_x),
    Explanation("lanes", r"gemv_q", r"(bound|classes) ",
                "vec_dot keeps a block's integers in eight lanes, each scaled and summed in f32, where the canonical order first sums them exactly.",
                trials.free_order),
    Explanation("expf", r"swiglu", r"(bound|bias) ",
                "silu by a vector expf of 1.45358 ulp (granted: 0.939) that leans; bits equal to a run with that polynomial.", trials.looser_exp),
    Explanation("libm", r"rope_table", r"bound ",
                "Angles step by powf of an exponent rounded to f32; cosf and sinf are within an ulp, not correctly rounded: bits equal to a "
                "table made so.", trials.own_table),
    Explanation("tiny-blocks", r"(encode|quantize)_q(4_0|5_0|8_0|8_k)", r"exact dst.*",
                "The reciprocal of a tiny block's scale overflows and is used as it is: infinite products become INT_MIN.",
                trials.infinite_reciprocal),
    Explanation("zero-sums", r"quantize_q8_k", r"exact dst.*byte (2[6-9]\d) of",
                "The sixteen sums of a block of zeros are not written.", trials.zero_block),
    Explanation("nan-tail", r"convert_f32_f16", r"exact ",
                "The last n mod 4 numbers are converted by code that gives every NaN the bits 0x7e00.", trials.scalar_tail),
    Explanation("inf-scores", r"attn_", r"classes y.*(nan|expected 0x00000000)",
                "Online softmax without a case for infinite scores: -inf first makes NaN, +inf is a weight of 1.", trials.infinite_scores),
    Explanation("f16-sums", r"attn_.*_f16", r"(bound|classes|spread|bits) ",
                "q is rounded to f16, and the outputs are summed in f16, rounded at every key.", trials.half_sums),
    Explanation("search-lost", r"encode_q[456]_k", r"bound ", "The search for a block's scales ends farther off than none would.",
                trials.told_by_status),
    Explanation("by-rows", r"gemm_f32|linear_q._k", r"bits not batch invariant",
                "MUL_MAT takes another kernel for fewer than eight rows, and of f32 for other numbers of columns: bits depend on the call's size.",
                trials.by_rows),
]
# The narrower patterns first.
ORDER = ["zero-sums", "inf-scores"]


def in_order() -> list[Explanation]:
    return sorted(EXPLANATIONS, key=lambda e: e.key not in ORDER)


def explanation_of(plugin: str, op: str, failure: str) -> Explanation | None:
    for one in in_order():
        if one.plugin == plugin and re.match(one.ops, op) and re.match(one.failure, failure):
            return one
    return None


def explain(plugin: Plugin, cases: list[dict]) -> list[str]:
    """What no explanation covers, or not as it says."""
    open_questions = []
    for case in cases:
        if not case["variant"].startswith(f"{plugin.name}:") or "failure" not in case:
            continue
        failure = f"{case['failure']['check']} {case['failure']['message']}"
        where = f"{case['op']} {case['variant']} {case['case']}: "
        found = explanation_of(plugin.name, case["op"], failure)
        if found is None:
            open_questions.append(where + failure)
            continue
        if not case["source"] and case["case"] != "bias":
            found.made += 1
            continue
        found.trials.append(found.trial(plugin, case["op"], case["variant"].split(":")[1], case["case"]))
        if not found.trials[-1].holds:
            open_questions.append(f"{where}not by '{found.key}': {found.trials[-1]}")
    return open_questions


def main() -> int:
    check = json.loads(Path(sys.argv[1]).read_text())
    plugins = [Plugin(path) for path in sys.argv[3:]]
    open_questions = [question for plugin in plugins for question in explain(plugin, check["cases"])]
    report = {"plugins": {p.name: p.version for p in plugins}, "open": open_questions, "explanations": [
        {"key": e.key, "plugin": e.plugin, "ops": e.ops, "failure": e.failure, "claim": e.claim, "cases": len(e.trials), "made": e.made,
         "hold": sum(t.holds for t in e.trials),
         "before": max((t.before for t in e.trials if t.before is not None and np.isfinite(t.before)), default=None),
         "after": max((t.after for t in e.trials if t.after is not None), default=None)} for e in in_order()],
        "attention": [dict(zip(("keys", "margin", "off_truth", "off_truth_of_f16_q", "off_f16_sums"), row, strict=True))
                      for row in trials.half_sums.seen], "attention_rows": trials.half_sums.rows}
    Path(sys.argv[2]).write_text(json.dumps(report, indent=1) + "\n")
    for e in report["explanations"]:
        print(f"{e['key']:14} {e['hold']:4} of {e['cases']:4} cases, {e['made']:4} made  margin {e['before']} -> {e['after']}")
    for line in open_questions:
        print("OPEN", line)
    return 1 if open_questions else 0


if __name__ == "__main__":
    sys.exit(main())
