"""Records the goldens of ops: inputs, truth and the canonical order's bits.

    python record_ops.py OUT_DIR [OP...] --model MODEL_DIR --trace TRACE.h5 [--gguf FILE...] [--ggml DIR]

OUT_DIR is golden/: writes ops/<op>.h5 and MANIFEST.json there. MODEL_DIR holds the trained model (config.json,
model.safetensors in bf16), TRACE.h5 its sites in fp64. The quantised ops take the model's <name>-Q8_0.gguf and
<name>-Q4_K_M.gguf besides, and ggml's goldens (from_ggml.py says their layout; ggml.py makes such a folder), whose
cases go into the same files as ggml_<case>; without --ggml they stay as they are there. Two runs give the same bytes.
"""
from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import torch

import cases_argmax
import cases_attention
import cases_convert
import cases_elementwise
import cases_kv
import cases_layout
import cases_linear
import cases_matvec
import cases_packed
import cases_quant_decode
import cases_quant_dot
import cases_quant_encode
import cases_rms_norm
import cases_rope
import cases_rope_table
import cases_softmax
import cases_swiglu
import from_ggml
import quant
from block_formats import GGML_PARTNER, PARTNER
from check import check_case
from generate import selftest
from manifest import OURS, write_manifest
from real import Real
from schema import Case, Op, read_cases, write_op

MODULES = (cases_elementwise, cases_convert, cases_layout, cases_matvec, cases_rms_norm, cases_rope_table, cases_rope,
           cases_softmax, cases_swiglu, cases_argmax, cases_quant_encode, cases_quant_decode, cases_quant_dot,
           cases_packed, cases_linear, cases_kv, cases_attention)
OPS: dict[str, Op] = {name: op for module in MODULES for name, op in module.OPS.items()}
# Products that ggml has by other activations.
OWN_DOTS = {f"gemv_{w}_{x}" for w, x in PARTNER.items() if w not in GGML_PARTNER}
# ggml's dots have one row of activations: kept as gemv alone, whose bits a gemm's rows and packed rows have.
GGML_OPS = {name for module in (cases_quant_encode, cases_quant_decode, cases_quant_dot) for name in module.OPS
            if not name.endswith("_f32") and not name.startswith("gemm_") and "_x16" not in name and name not in OWN_DOTS}
SOURCE = ("golden/record: values from the ops' definitions (math.fsum, mpmath), inputs from Philox4x32-10 and, where "
          "tagged real, from the kjv model (trained for Assay on the King James Version, public domain)")


def by_definition(op: str, case: Case) -> Case:
    """ggml's case under its name here; where a closed formula makes the bytes, the formula's are the second opinion."""
    action, form = op.split("_", 1)
    output = case.outputs.get("dst")
    if action == "quantize" or action == "encode" and form in quant.CLOSED:
        make = quant.quantize if action == "quantize" else quant.encode
        output.opinion = make(form, case.tensor("src"))
    return replace(case, name=f"ggml_{case.name}")


def licence_of(cases: list[Case]) -> str:
    """Ours, and of the cases that hold another's bytes theirs."""
    foreign = sorted({tag for case in cases for tag in case.tags.split() if tag in ("ggml", "gguf")})
    return "; ".join([OURS, *(f"cases tagged {tag}: MIT" for tag in foreign)])


def record(golden: Path, name: str, op: Op, real: Real, ggml: list[Case], kept: list[Case]) -> None:
    """Makes, checks and writes one op's file; prints a line about it. `kept` was checked when it was recorded."""
    started = time.monotonic()
    made = op.cases(real) + [by_definition(name, case) for case in ggml]
    cases = made + kept
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), f"{name}: a case name is there twice"
    worst, where = 0.0, ""
    for case in made:
        if case.status == "ok" and not case.outputs:
            op.evaluate(case)
        margin = check_case(name, case)
        worst, where = max((worst, where), (margin, case.name))
    path = golden / "ops" / f"{name}.h5"
    origins = sorted({case.source for case in cases if case.source})
    write_op(path, name, cases, "; ".join([SOURCE, *origins]), licence_of(cases))
    print(f"{name:20} {len(cases):3} cases {path.stat().st_size:9} bytes  max margin {worst:.3f} {where:28} "
          f"{time.monotonic() - started:5.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden", type=Path, metavar="OUT_DIR")
    parser.add_argument("ops", nargs="*", metavar="OP", default=list(OPS))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--trace", type=Path, required=True)
    parser.add_argument("--gguf", type=Path, nargs="+", default=[], help="the model's quantised files")
    parser.add_argument("--ggml", type=Path, help="a folder of ggml's goldens")
    args = parser.parse_intermixed_args()
    unknown = sorted(set(args.ops) - OPS.keys())
    if unknown:
        parser.error(f"no op {', '.join(unknown)}; there are {', '.join(OPS)}")
    torch.set_num_threads(1)
    selftest()
    real = Real(args.model, args.trace, args.gguf)
    ggml = from_ggml.read_folder(args.ggml) if args.ggml else {}
    for name in args.ops:
        foreign = name in GGML_OPS
        kept = read_cases(args.golden / "ops" / f"{name}.h5", "ggml_") if foreign and not args.ggml else []
        record(args.golden, name, OPS[name], real, ggml[name] if foreign and args.ggml else [], kept)
    write_manifest(args.golden)


if __name__ == "__main__":
    main()
