"""What llama.cpp computes for a GGUF file of a Qwen3, site by site, as a trace (golden/SCHEMA.md).

    python record_llama.py MODEL-TYPE.gguf OUT.h5 (--text "..." | --tokens 1,2,3) [--prompt NAME] [--keep 'layers.02.*' ...]

Its evaluation callback sees every node of the graph; llama_sites.py says which are sites. CPU, fp32 KV cache, flash attention off, one batch,
logits of all positions.
"""
from __future__ import annotations

import argparse
import ctypes as C
from pathlib import Path

import llama_cpp
import llama_cpp.llama_cpp as L
import numpy as np

from llama_sites import Node, sites_of
from trace import Prompt, Trace, sha256_of, write_trace

F32 = 0
NO_ARITHMETIC = {"NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE", "SET_ROWS", "CPY"}


class Tensor(C.Structure):
    """ggml_tensor, as ggml.h of the installed package declares it."""


Tensor._fields_ = [
    ("type", C.c_int), ("buffer", C.c_void_p), ("ne", C.c_int64 * 4), ("nb", C.c_size_t * 4), ("op", C.c_int), ("op_params", C.c_int32 * 16),
    ("flags", C.c_int32), ("src", C.POINTER(Tensor) * 10), ("view_src", C.c_void_p), ("view_offs", C.c_size_t), ("data", C.c_void_p),
    ("name", C.c_char * 64), ("extra", C.c_void_p), ("padding", C.c_char * 8)]


def load_ggml() -> C.CDLL:
    """The ggml that llama.cpp has already brought into this process."""
    maps = Path("/proc/self/maps").read_text().split()
    ggml = C.CDLL(next(word for word in maps if "libggml-base" in word))
    ggml.ggml_op_desc.restype = C.c_char_p
    ggml.ggml_op_desc.argtypes = [C.POINTER(Tensor)]
    return ggml


def values_of(tensor: Tensor) -> np.ndarray:
    """A copy, dense, of ggml's four dimensions, outermost first."""
    ne, nb = list(tensor.ne), list(tensor.nb)
    span = sum((n - 1) * b for n, b in zip(ne, nb, strict=True)) + 4
    raw = np.frombuffer(C.string_at(tensor.data, span), np.uint8)
    return np.lib.stride_tricks.as_strided(raw, shape=[*ne[::-1], 4], strides=[*nb[::-1], 1]).copy().view(np.float32)[..., 0]


def collector(ggml: C.CDLL, nodes: list[Node]) -> C._CFuncPtr:
    @C.CFUNCTYPE(C.c_bool, C.POINTER(Tensor), C.c_bool, C.c_void_p)
    def on_node(pointer: C._Pointer, ask: bool, _: object) -> bool:
        op = ggml.ggml_op_desc(pointer).decode()
        tensor = pointer.contents
        if not ask and tensor.type == F32 and tensor.data and op not in NO_ARITHMETIC:
            src0 = tensor.src[0].contents.name.decode() if tensor.src[0] else ""
            nodes.append(Node(tensor.name.decode(), op, src0, values_of(tensor)))
        return True

    return on_node


def tokenize(vocabulary: C.c_void_p, text: str) -> list[int]:
    raw = text.encode()
    buffer = (L.llama_token * (len(raw) + 8))()
    return list(buffer[:L.llama_tokenize(vocabulary, raw, len(raw), buffer, len(buffer), False, True)])


def context_parameters(tokens: int, callback: C._CFuncPtr) -> L.llama_context_params:
    parameters = L.llama_context_default_params()
    parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = max(256, tokens)
    parameters.n_threads = parameters.n_threads_batch = 2
    parameters.flash_attn_type, parameters.type_k, parameters.type_v = 0, F32, F32
    kind = type(parameters.cb_eval)
    parameters.cb_eval = C.cast(callback, kind) if issubclass(kind, C._CFuncPtr) else C.cast(callback, C.c_void_p).value
    return parameters


def run(model: C.c_void_p, ids: list[int], callback: C._CFuncPtr) -> np.ndarray:
    """Decodes all tokens as one batch; the logits of each."""
    context = L.llama_init_from_model(model, context_parameters(len(ids), callback))
    batch = L.llama_batch_init(len(ids), 0, 1)
    batch.n_tokens = len(ids)
    for i, token in enumerate(ids):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, 1
        batch.seq_id[i][0] = 0
    if L.llama_decode(context, batch) != 0:
        raise RuntimeError("llama_decode failed")
    size = L.llama_vocab_n_tokens(L.llama_model_get_vocab(model))
    return np.ctypeslib.as_array(L.llama_get_logits(context), (len(ids), size)).copy()


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
    L.llama_backend_init()
    model = L.llama_model_load_from_file(str(args.model).encode(), L.llama_model_default_params())
    vocabulary = L.llama_model_get_vocab(model)
    ids = tokenize(vocabulary, args.text) if args.text else [int(t) for t in args.tokens.split(",")]
    nodes: list[Node] = []
    logits = run(model, ids, collector(load_ggml(), nodes))
    sites = sites_of(nodes, L.llama_model_n_layer(model), len(ids))
    name, _, weights = args.model.stem.rpartition("-")
    trace = Trace(name, weights, sha256_of(args.model), "llama.cpp", "ggml", "float32", "golden/record/record_llama.py",
                  f"llama-cpp-python {llama_cpp.__version__}, CPU, f32 KV cache, flash attention off{args.note}",
                  "Apache-2.0; values: outputs of llama.cpp (MIT)", keep=tuple(args.keep))
    trace.prompts[args.prompt] = Prompt(np.array(ids), np.arange(len(ids)), logits, sites, args.text)
    write_trace(args.out, trace)


if __name__ == "__main__":
    main()
