"""The traces of golden/traces/altered: engines that were given a model with one fault in it (alter_model.py).

    python record_altered.py GOLDEN_DIR hf           with transformers
    python record_altered.py GOLDEN_DIR llama.cpp    with llama-cpp-python

Of five tokens, the sites of the layer with the fault and what feeds it.
"""
from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from alter_model import EPS, NORM_INDEX, THETA

HERE = Path(__file__).parent
TEXT = "In the beginning God created"
WHAT = {
    "kv_exchanged": "layer 2's k_proj and v_proj exchanged",
    "q_norm_zeroed": f"number {NORM_INDEX} of layer 2's q_norm set to 0",
    "theta": f"rope's base set to {THETA:.0f}",
    "eps": f"the norms' epsilon set to {EPS:g}",
    "q6_k_block": "a block in row 100 of layer 2's ffn_down altered",
}
LAYER_2 = ("layers.01.ffn_residual", "layers.02.*")
KEEP = {"eps": ("embed", "layers.00.*")}  # the only norm whose input is small enough to show it


def record(arguments: list[str], fault: str) -> None:
    note = f", kjv with {WHAT[fault]}"
    subprocess.run([sys.executable, *arguments, "--keep", *KEEP.get(fault, LAYER_2), "--note", note], check=True)


def record_hf(golden: Path, folder: Path, fault: str) -> None:
    prompts = folder / "prompts.json"
    prompts.write_text(json.dumps({"beginning": {"text": TEXT}}))
    model = folder / fault / "kjv"
    subprocess.run([sys.executable, str(HERE / "alter_model.py"), str(golden / "models/kjv"), str(model), fault], check=True)
    out = golden / f"traces/altered/kjv-hf-f32-{fault}.h5"
    record([str(HERE / "record_hf.py"), str(model), str(out), "--dtype", "float32", "--prompts", str(prompts)], fault)


def record_llama(golden: Path, folder: Path, fault: str) -> None:
    model = folder / fault / "kjv-Q4_K_M.gguf"
    subprocess.run([sys.executable, str(HERE / "alter_model.py"), str(golden / "models/kjv-Q4_K_M.gguf"), str(model), fault], check=True)
    out = golden / f"traces/altered/kjv-llama-q4_k_m-{fault}.h5"
    record([str(HERE / "record_llama.py"), str(model), str(out), "--text", TEXT, "--prompt", "beginning"], fault)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("golden", type=Path, metavar="GOLDEN_DIR")
    parser.add_argument("engine", choices=["hf", "llama.cpp"])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for fault in WHAT:
            if args.engine == "llama.cpp":
                record_llama(args.golden, Path(temporary), fault)
            elif fault != "q6_k_block":
                record_hf(args.golden, Path(temporary), fault)


if __name__ == "__main__":
    main()
