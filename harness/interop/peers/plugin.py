"""A plugin's kernels by ctypes, with the argument structs of their families (kernels/<family>/<family>.h)."""
from __future__ import annotations

import ctypes
import sys
from ctypes import c_char_p, c_double, c_float, c_int32, c_int64, c_uint32, c_void_p

import numpy as np

Run = ctypes.CFUNCTYPE(c_int32, c_void_p)
Pack = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p)


class Kernel(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("claim", c_int32), ("op", c_char_p), ("name", c_char_p), ("isa", c_char_p),
                ("packed_tensor", c_char_p), ("packed_bytes", c_void_p), ("pack", c_void_p), ("run", c_void_p),
                ("properties", c_char_p)]


class Description(ctypes.Structure):
    _fields_ = [("abi", c_uint32), ("size", c_uint32), ("name", c_char_p), ("version", c_char_p),
                ("kernels", ctypes.POINTER(Kernel)), ("count", c_int64)]


class Span(ctypes.Structure):
    _fields_ = [("k", c_void_p), ("v", c_void_p)] + [(name, c_int64) for name in (
        "first", "count", "k_head_stride", "k_row_stride", "v_head_stride", "v_row_stride")]


def pointers(*names: str) -> list[tuple[str, type]]:
    return [(name, c_void_p) for name in names]


def integers(*names: str) -> list[tuple[str, type]]:
    return [(name, c_int64) for name in names]


FIELDS = {  # by family
    "convert": pointers("src", "dst") + integers("n"),
    "codec": pointers("src", "dst") + integers("rows", "k", "src_stride", "dst_stride"),
    "product": pointers("w", "x", "y") + integers("m", "n", "k", "x_stride", "y_stride"),
    "rms": pointers("x", "w", "y") + integers("rows", "n", "x_stride", "y_stride") + [("eps", c_float)],
    "softmax": pointers("x", "y") + integers("rows", "n", "x_stride", "y_stride"),
    "swiglu": pointers("gate", "up", "y") + integers("rows", "n", "gate_stride", "up_stride", "y_stride"),
    "rope": pointers("positions", "inv_freq", "cos", "sin") + integers("rows", "pairs", "table_stride") + [
        ("theta", c_double), ("recipe", c_int32)],
    "attn": pointers("q", "spans", "y") + integers("rows", "n_heads", "n_kv", "head_dim", "position", "window", "span_count",
                                                   "q_row_stride", "q_head_stride", "y_row_stride", "y_head_stride") + [
        ("scale", c_float), ("causal", c_int32)],
}
FAMILIES = dict.fromkeys(("encode", "decode", "quantize"), "codec") | dict.fromkeys(("matvec", "gemv", "gemm", "linear"), "product")


class Plugin:
    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        library.assay_plugin.restype = ctypes.POINTER(Description)
        found = library.assay_plugin().contents
        self.name, self.version = found.name.decode(), found.version.decode()
        self.kernels = {(k.op.decode(), k.name.decode()): k for k in (found.kernels[i] for i in range(found.count))}

    def run(self, op: str, name: str, **arguments: object) -> int:
        """Arrays and scalars by the names of the op's argument struct; of rows there is one, and what else is absent is 0. A layout of
        the kernel's own: `w` holds it already."""
        verb = op.split("_")[0]
        fields = FIELDS[FAMILIES.get(verb, verb)]
        struct = type("Args", (ctypes.Structure,), {"_fields_": fields})()
        one = {name: 1 for name, _ in fields if name in ("m", "rows")}
        for key, value in (one | arguments).items():
            setattr(struct, key, value.ctypes.data if isinstance(value, np.ndarray) else value)
        return Run(self.kernels[op, name].run)(ctypes.addressof(struct))


if __name__ == "__main__":  # the ops of these plugins, for a command line
    print("\n".join(sorted({op for path in sys.argv[1:] for op, _ in Plugin(path).kernels})))
