"""Records the goldens of ops: inputs, truth and the canonical order's bits.

    python record_ops.py OUT_DIR [OP...] --model MODEL_DIR --trace TRACE.h5

OUT_DIR is golden/: writes ops/<op>.h5 and MANIFEST.json there. MODEL_DIR holds the trained model (config.json,
model.safetensors in bf16), TRACE.h5 its sites in fp64. Two runs give the same bytes.
"""
from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch

import cases_argmax
import cases_convert
import cases_elementwise
import cases_layout
import cases_matvec
import cases_rms_norm
import cases_rope
import cases_rope_table
import cases_softmax
import cases_swiglu
from check import check_case
from generate import selftest
from manifest import OURS, write_manifest
from real import Real
from schema import Op, write_op

MODULES = (cases_elementwise, cases_convert, cases_layout, cases_matvec, cases_rms_norm, cases_rope_table, cases_rope,
           cases_softmax, cases_swiglu, cases_argmax)
OPS: dict[str, Op] = {name: op for module in MODULES for name, op in module.OPS.items()}
SOURCE = ("golden/record: values from the ops' definitions (math.fsum, mpmath), inputs from Philox4x32-10 and, where "
          "tagged real, from the kjv model (trained for Assay on the King James Version, public domain)")


def record(golden: Path, name: str, op: Op, real: Real) -> None:
    """Makes, checks and writes one op's file; prints a line about it."""
    started = time.monotonic()
    cases = op.cases(real)
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), f"{name}: a case name is there twice"
    worst, where = 0.0, ""
    for case in cases:
        if case.status == "ok":
            op.evaluate(case)
        margin = check_case(name, case)
        worst, where = max((worst, where), (margin, case.name))
    path = golden / "ops" / f"{name}.h5"
    write_op(path, name, cases, SOURCE, OURS)
    print(f"{name:18} {len(cases):3} cases {path.stat().st_size:9} bytes  max margin {worst:.3f} {where:28} "
          f"{time.monotonic() - started:5.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden", type=Path, metavar="OUT_DIR")
    parser.add_argument("ops", nargs="*", metavar="OP", default=list(OPS))
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--trace", type=Path, required=True)
    args = parser.parse_intermixed_args()
    unknown = sorted(set(args.ops) - OPS.keys())
    if unknown:
        parser.error(f"no op {', '.join(unknown)}; there are {', '.join(OPS)}")
    torch.set_num_threads(1)
    selftest()
    real = Real(args.model, args.trace)
    for name in args.ops:
        record(args.golden, name, OPS[name], real)
    write_manifest(args.golden)


if __name__ == "__main__":
    main()
