#!/usr/bin/env python3
"""llama.cpp's pace, on demand: the commands of pace.cc, by llama-cpp-python.

    llama_pace.py MODEL THREADS KV_TYPE CONTEXT SETTINGS

SETTINGS is JSON: {"flash": 0 or 1, "repack": true or false, "ubatch": N}.
"""
from __future__ import annotations

import ctypes
import json
import random
import sys
import time

import llama_cpp as lc

TYPES = {"f16": lc.GGML_TYPE_F16, "f32": lc.GGML_TYPE_F32}


@lc.llama_log_callback
def silent(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """llama.cpp's log, dropped."""


class Pace:
    """A model and one sequence."""

    def __init__(self, model: str, threads: int, kv_type: str, context: int, settings: dict[str, int | bool]) -> None:
        lc.llama_log_set(silent, ctypes.c_void_p(0))
        lc.llama_backend_init()
        how = lc.llama_model_default_params()
        how.use_extra_bufts = bool(settings["repack"])
        self.model = lc.llama_model_load_from_file(model.encode(), how)
        if not self.model:
            raise SystemExit(f"llama_pace: {model}: llama.cpp does not load it")
        run = lc.llama_context_default_params()
        run.n_ctx, run.n_batch, run.n_ubatch = context, context, int(settings["ubatch"])
        run.n_threads = run.n_threads_batch = threads
        run.type_k = run.type_v = TYPES[kv_type]
        run.flash_attn_type = lc.LLAMA_FLASH_ATTN_TYPE_ENABLED if settings["flash"] else lc.LLAMA_FLASH_ATTN_TYPE_DISABLED
        run.no_perf = True
        self.context = lc.llama_init_from_model(self.model, run)
        if not self.context:
            raise SystemExit("llama_pace: llama.cpp takes these settings not")
        self.vocab = lc.llama_vocab_n_tokens(lc.llama_model_get_vocab(self.model))
        self.random = random.Random(1)

    def feed(self, count: int) -> float:
        tokens = (lc.llama_token * count)(*(self.random.randrange(self.vocab) for _ in range(count)))
        start = time.perf_counter()
        if lc.llama_decode(self.context, lc.llama_batch_get_one(tokens, count)) != 0:
            raise SystemExit("llama_pace: llama_decode failed")
        lc.llama_synchronize(self.context)
        return time.perf_counter() - start

    def prefill(self, count: int) -> float:
        lc.llama_memory_clear(lc.llama_get_memory(self.context), True)
        return self.feed(count)

    def decode(self, count: int) -> float:
        return sum(self.feed(1) for _ in range(count))


def main() -> None:
    """Answers each command."""
    pace = Pace(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), json.loads(sys.argv[5]))
    for line in sys.stdin:
        command, count = line.split()
        seconds = {"prefill": pace.prefill, "decode": pace.decode}[command](int(count))
        print(json.dumps({"tokens": int(count), "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
