"""Records what Hugging Face `tokenizers` makes of many texts: normal form, the pre-tokeniser's pieces, token ids, decoded text.

    python record_tokenizer.py MODEL_DIR OUT.h5 --seed N [--random 2000] [--wide 0] [--bytes 0] [--edges DIR] [--no-picked]

MODEL_DIR holds a tokenizer.json. OUT.h5 has no groups; texts are joined to one dataset, and <name>_end [texts] says where in it
each ends:

    text, nfc, decoded    uint8, UTF-8: the text, its normal form as a whole, the decoded ids; text_end, nfc_end, decoded_end
    ids, ids_end          int32: the token ids, special tokens matched
    pieces_end            int64: the byte in the text's `nfc` where each piece of it ends, special tokens not matched;
    pieces_count_end      int64: where in pieces_end those of each text end
    raw, replaced         uint8, optional: bytes, and what bytes.decode("utf-8", errors="replace") makes of them;
                          raw_end, replaced_end
"""
from __future__ import annotations

import argparse
import os
from pathlib import Path

import h5py
import numpy as np
import tokenizers
from tokenizers import Tokenizer

from schema import set_text
from tokenizer_texts import PICKED, WIDE_POOLS, edge_texts, random_bytes, random_texts

Columns = dict[str, np.ndarray]


def joined(name: str, parts: list[bytes]) -> Columns:
    return {name: np.frombuffer(b"".join(parts), np.uint8), f"{name}_end": np.cumsum([len(p) for p in parts], dtype=np.int64)}


def record(tokenizer: Tokenizer, texts: list[str]) -> Columns:
    encoded = [tokenizer.encode(t, add_special_tokens=False).ids for t in texts]
    normal = [tokenizer.normalizer.normalize_str(t) if tokenizer.normalizer else t for t in texts]
    decoded = [tokenizer.decode(e, skip_special_tokens=False) for e in encoded]
    pieces = [[len(n[:end].encode()) for _, (_, end) in tokenizer.pre_tokenizer.pre_tokenize_str(n)] for n in normal]
    out: Columns = {}
    for name, column in (("text", texts), ("nfc", normal), ("decoded", decoded)):
        out |= joined(name, [t.encode() for t in column])
    out["ids"] = np.array([i for e in encoded for i in e], np.int32)
    out["ids_end"] = np.cumsum([len(e) for e in encoded], dtype=np.int64)
    out["pieces_end"] = np.array([end for p in pieces for end in p], np.int64)
    out["pieces_count_end"] = np.cumsum([len(p) for p in pieces], dtype=np.int64)
    return out


def write(path: Path, columns: Columns, source: str) -> None:
    beside = path.with_suffix(".h5.part")
    with h5py.File(beside, "w", libver=("v108", "v108")) as file:
        set_text(file, "source", source)
        for name, data in columns.items():
            # An empty dataset takes no filter.
            packed = {"compression": "gzip", "compression_opts": 6, "shuffle": True} if data.size else {}
            file.create_dataset(name, data=data, track_times=False, **packed)
    with open(beside, "rb") as written:
        os.fsync(written.fileno())
    os.replace(beside, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL_DIR")
    parser.add_argument("out", type=Path, metavar="OUT.h5")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--random", type=int, default=2000, help="texts over the usual ranges of code points")
    parser.add_argument("--wide", type=int, default=0, help="texts over all of Unicode, marks, Hangul, spaces, contractions")
    parser.add_argument("--bytes", type=int, default=0, help="strings of bytes, most of them no UTF-8")
    parser.add_argument("--edges", type=Path, metavar="DIR", help="engine/tokenizer: texts at the edges of its tables")
    parser.add_argument("--no-picked", action="store_true", help="leave the picked texts out")
    args = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    texts = [] if args.no_picked else list(PICKED)
    texts += random_texts(args.seed, args.random) + random_texts(args.seed, args.wide, WIDE_POOLS)
    texts += edge_texts(args.edges) if args.edges else []
    columns = record(tokenizer, texts)
    if args.bytes:
        raw = random_bytes(args.seed, args.bytes)
        columns |= joined("raw", raw) | joined("replaced", [r.decode("utf-8", errors="replace").encode() for r in raw])
    write(args.out, columns, f"tokenizers {tokenizers.__version__}, seed {args.seed}")
    print(len(texts), "texts,", columns["ids"].size, "ids")


if __name__ == "__main__":
    main()
