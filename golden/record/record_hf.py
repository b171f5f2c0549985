"""What Hugging Face transformers computes for a local Qwen3 checkpoint, site by site, as a trace (golden/SCHEMA.md): assay.record.hf_sites.

    PYTHONPATH=python python record_hf.py MODEL_DIR OUT.h5 --dtype float32 [--prompts prompts.json] [--keep 'layers.02.*' ...]

The weights are the checkpoint's own bits, widened or kept; --dtype is the type that the forward pass runs in. Attention is the `eager` one.
Greedy text reads the whole sequence anew for each token.
"""
from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
import transformers
from assay.record import Greedy, Head, Recording, hf_sites, sha256_of
from transformers import AutoTokenizer, Qwen3ForCausalLM

from hf_model import read_prompts, weight_files

HERE = Path(__file__).parent


def continue_greedily(model: Qwen3ForCausalLM, tokenizer: object, ids: list[int], count: int) -> Greedy:
    sequence, gaps = list(ids), []
    for _ in range(count):
        row = model(input_ids=torch.tensor([sequence]), use_cache=False).logits[0, -1].float()
        top = row.topk(2).values
        gaps.append(float(top[0] - top[1]))
        sequence.append(int(row.argmax()))
    new = sequence[len(ids):]
    return Greedy(np.array(new), np.array(gaps), tokenizer.decode(new))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL_DIR")
    parser.add_argument("out", type=Path, metavar="OUT.h5")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], required=True)
    parser.add_argument("--prompts", type=Path, default=HERE / "prompts.json")
    parser.add_argument("--keep", nargs="+", default=["*"], metavar="GLOB", help="sites to write, lm_head for the logits; all if not given")
    parser.add_argument("--note", default="", help="added to the trace's source")
    args = parser.parse_args()
    torch.use_deterministic_algorithms(True)
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = Qwen3ForCausalLM.from_pretrained(args.model, dtype=getattr(torch, args.dtype), attn_implementation="eager").eval()
    stored = {"torch.bfloat16": "bf16", "torch.float16": "f16", "torch.float32": "f32"}
    weights = stored[str(transformers.AutoConfig.from_pretrained(args.model).dtype)]
    source = f"transformers {transformers.__version__} Qwen3ForCausalLM, torch {torch.__version__}, eager attention{args.note}"
    recording = Recording(Head(args.model.resolve().name, weights, "hf", "hf", args.dtype, source, sha256_of(weight_files(args.model)[0]),
                               "golden/record/record_hf.py"), args.keep)
    with torch.no_grad():
        for spec in read_prompts(args.prompts):
            ids = tokenizer(spec.text, add_special_tokens=False).input_ids
            sites, logits = hf_sites(model, ids)
            greedy = continue_greedily(model, tokenizer, ids, spec.greedy) if spec.greedy else None
            recording.add(spec.name, ids, sites, logits, rows=spec.rows(len(ids)), text=spec.text, greedy=greedy)
    recording.write(args.out)


if __name__ == "__main__":
    main()
