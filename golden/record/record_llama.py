"""What llama.cpp computes for a GGUF file of a Qwen3, site by site, as a trace (golden/SCHEMA.md): assay.record.llama_cpp.

    PYTHONPATH=python python record_llama.py MODEL-TYPE.gguf OUT.h5 (--text "..." | --tokens 1,2,3) [--prompt NAME] [--keep 'layers.02.*' ...]
"""
from __future__ import annotations

import argparse
from pathlib import Path

from assay.record import llama_cpp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--text")
    given.add_argument("--tokens")
    parser.add_argument("--prompt", default="prompt", help="what the run is called in the trace")
    parser.add_argument("--keep", nargs="+", default=["*"], metavar="GLOB", help="sites to write, lm_head for the logits; all if not given")
    parser.add_argument("--note", default="", help="added to the trace's source")
    args = parser.parse_args()
    tokens = [int(t) for t in args.tokens.split(",")] if args.tokens else None
    llama_cpp(args.model, args.out, text=args.text, tokens=tokens, prompt=args.prompt, keep=args.keep, note=args.note)


if __name__ == "__main__":
    main()
