"""llama.cpp, by llama-cpp-python: its evaluation callback sees every node of the graph; `_llama_sites` says which are sites. CPU, fp32 KV cache, flash
attention off, one batch, logits of all positions."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay._errors import AssayError
from assay.record._llama_sites import Node, sites_of
from assay.record._recording import Array, Head, Recording, sha256_of

F32 = 0
NO_ARITHMETIC = {"NONE", "VIEW", "RESHAPE", "PERMUTE", "TRANSPOSE", "SET_ROWS", "CPY"}


class _Tensor(ctypes.Structure):
    """ggml_tensor, as ggml.h of the installed package declares it."""


_Tensor._fields_ = [
    ("type", ctypes.c_int),
    ("buffer", ctypes.c_void_p),
    ("ne", ctypes.c_int64 * 4),
    ("nb", ctypes.c_size_t * 4),
    ("op", ctypes.c_int),
    ("op_params", ctypes.c_int32 * 16),
    ("flags", ctypes.c_int32),
    ("src", ctypes.POINTER(_Tensor) * 10),
    ("view_src", ctypes.c_void_p),
    ("view_offs", ctypes.c_size_t),
    ("data", ctypes.c_void_p),
    ("name", ctypes.c_char * 64),
    ("extra", ctypes.c_void_p),
    ("padding", ctypes.c_char * 8),
]


def _load_ggml() -> Any:
    """The ggml that llama.cpp has already brought into this process."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").split()
    ggml = ctypes.CDLL(next(word for word in maps if "libggml-base" in word))
    ggml.ggml_op_desc.restype = ctypes.c_char_p
    ggml.ggml_op_desc.argtypes = [ctypes.POINTER(_Tensor)]
    return ggml


def _values_of(tensor: Any) -> Array:
    """A copy, dense, of ggml's four dimensions, outermost first."""
    ne, nb = list(tensor.ne), list(tensor.nb)
    span = sum((n - 1) * b for n, b in zip(ne, nb, strict=True)) + 4
    raw = np.frombuffer(ctypes.string_at(tensor.data, span), np.uint8)
    return np.lib.stride_tricks.as_strided(raw, shape=[*ne[::-1], 4], strides=[*nb[::-1], 1]).copy().view(np.float32)[..., 0]


def _collector(ggml: Any, nodes: list[Node]) -> Any:
    def on_node(pointer: Any, ask: bool, _: object) -> bool:
        op = ggml.ggml_op_desc(pointer).decode()
        tensor = pointer.contents
        if not ask and tensor.type == F32 and tensor.data and op not in NO_ARITHMETIC:
            src0 = tensor.src[0].contents.name.decode() if tensor.src[0] else ""
            nodes.append(Node(tensor.name.decode(), op, src0, _values_of(tensor)))
        return True

    return ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.POINTER(_Tensor), ctypes.c_bool, ctypes.c_void_p)(on_node)


def _tokenize(api: Any, vocabulary: Any, text: str) -> list[int]:
    raw = text.encode()
    buffer = (api.llama_token * (len(raw) + 8))()
    return list(buffer[: api.llama_tokenize(vocabulary, raw, len(raw), buffer, len(buffer), False, True)])


def _context_parameters(api: Any, tokens: int, callback: Any) -> Any:
    parameters = api.llama_context_default_params()
    parameters.n_ctx = parameters.n_batch = parameters.n_ubatch = max(256, tokens)
    parameters.n_threads = parameters.n_threads_batch = 2
    parameters.flash_attn_type, parameters.type_k, parameters.type_v = 0, F32, F32
    kind = type(parameters.cb_eval)
    is_function = issubclass(kind, type(callback).__mro__[1])
    parameters.cb_eval = ctypes.cast(callback, kind) if is_function else ctypes.cast(callback, ctypes.c_void_p).value
    return parameters


def _run(api: Any, model: Any, ids: Sequence[int], callback: Any) -> Array:
    """Decodes all tokens as one batch; the logits of each."""
    context = api.llama_init_from_model(model, _context_parameters(api, len(ids), callback))
    batch = api.llama_batch_init(len(ids), 0, 1)
    batch.n_tokens = len(ids)
    for i, token in enumerate(ids):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, i, 1, 1
        batch.seq_id[i][0] = 0
    if api.llama_decode(context, batch) != 0:
        raise AssayError("llama_decode failed")
    size = api.llama_vocab_n_tokens(api.llama_model_get_vocab(model))
    return np.ctypeslib.as_array(api.llama_get_logits(context), (len(ids), size)).copy()


def llama_cpp(
    model: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    text: str | None = None,
    tokens: Sequence[int] | None = None,
    prompt: str = "prompt",
    keep: Sequence[str] = ("*",),
    note: str = "",
) -> None:
    """What llama.cpp computes for a GGUF file of a Qwen3, site by site, as a trace: of `text`, or of `tokens`. The file's name is MODEL-TYPE.gguf;
    `note` is added to the trace's source. Raises AssayError."""
    import llama_cpp as package
    import llama_cpp.llama_cpp as api

    if (text is None) == (tokens is None):
        raise AssayError("llama_cpp(): expected text or tokens, one of them")
    api.llama_backend_init()
    loaded = api.llama_model_load_from_file(os.fsencode(model), api.llama_model_default_params())
    if not loaded:
        raise AssayError(f"{os.fspath(model)}: llama.cpp cannot load it")
    ids = list(tokens) if tokens is not None else _tokenize(api, api.llama_model_get_vocab(loaded), str(text))
    nodes: list[Node] = []
    logits = _run(api, loaded, ids, _collector(_load_ggml(), nodes))
    sites = sites_of(nodes, api.llama_model_n_layer(loaded), len(ids))
    name, _, weights = Path(model).stem.rpartition("-")
    source = f"llama-cpp-python {package.__version__}, CPU, f32 KV cache, flash attention off{note}"
    licence = "Apache-2.0; values: outputs of llama.cpp (MIT)"
    head = Head(name, weights, "llama.cpp", "ggml", "float32", source, sha256_of(model), "assay.record.llama_cpp", licence)
    Recording(head, keep).add(prompt, ids, sites, logits, text=text).write(path)
