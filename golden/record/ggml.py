"""Makes ggml's goldens anew, from the ggml that the PyPI package llama-cpp-python builds.

    pip install llama-cpp-python h5py numpy            # builds ggml from source: minutes
    python ggml.py OUT_DIR [--seed S] [--rows R] [--columns K] [--library DIR]
    python from_ggml.py OUT_DIR GOLDEN_DIR             # then: assay check --golden GOLDEN_DIR

Writes quant_<type>.h5 and dot_<w>_<x>.h5 in the layout that from_ggml.py reads: rows, the bytes that ggml's
reference quantiser makes of them, what ggml decodes them to, and products of quantised rows (truth in fp64 over
the decoded elements, ggml's own result for information). Everything is called through ctypes; only the random
numbers, and the fp64 sums, are made here.
"""
from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

import dots
from block_formats import FORMATS, GGML_PARTNER, Format
from fma32 import F32
from formats import Blocks
from generate import Draw
from near_ties import quantizer_ties
from quant_data import random_blocks
from schema import set_scalar, set_text

DOT_ROWS = 48
FLOATS, BYTES = ctypes.POINTER(ctypes.c_float), ctypes.c_void_p
TO_BYTES = ctypes.CFUNCTYPE(None, FLOATS, BYTES, ctypes.c_int64)
VEC_DOT = ctypes.CFUNCTYPE(None, ctypes.c_int, FLOATS, ctypes.c_size_t, BYTES, ctypes.c_size_t, BYTES, ctypes.c_size_t,
                           ctypes.c_int)


class CpuTraits(ctypes.Structure):
    """ggml_type_traits_cpu of ggml-cpu.h."""

    _fields_ = [("from_float", TO_BYTES), ("vec_dot", VEC_DOT), ("vec_dot_type", ctypes.c_int),
                ("nrows", ctypes.c_int64)]


class Ggml:
    def __init__(self, folder: Path) -> None:
        self.base = ctypes.CDLL(str(self.library(folder, "ggml-base")), mode=ctypes.RTLD_GLOBAL)
        self.cpu = ctypes.CDLL(str(self.library(folder, "ggml-cpu")))
        self.cpu.ggml_cpu_init()
        self.cpu.ggml_get_type_traits_cpu.restype = ctypes.POINTER(CpuTraits)

    @staticmethod
    def library(folder: Path, name: str) -> Path:
        found = sorted(folder.glob(f"lib{name}.*")) + sorted(folder.glob(f"lib{name}-*.so"))
        if not found:
            raise SystemExit(f"{folder}: expected lib{name}.so: --library names the folder of ggml's libraries")
        return found[0]

    def traits(self, form: Format) -> CpuTraits:
        return self.cpu.ggml_get_type_traits_cpu(form.number).contents

    @staticmethod
    def symbol(form: Format) -> str:
        return form.name.replace("_k", "_K")

    def to_bytes(self, function: Callable, x: np.ndarray, form: Format) -> np.ndarray:
        """Rows of f32 -> rows of bytes."""
        x = np.ascontiguousarray(x, F32)
        rows, k = x.shape
        out = np.zeros((rows, k // form.elements * form.size), np.uint8)
        for row in range(rows):
            function(x[row].ctypes.data_as(FLOATS), out[row].ctypes.data_as(BYTES), ctypes.c_int64(k))
        return out

    def quantize(self, x: np.ndarray, form: Format) -> np.ndarray:
        """By the reference quantiser, as for weight files."""
        return self.to_bytes(getattr(self.base, f"quantize_row_{self.symbol(form)}_ref"), x, form)

    def quantize_activations(self, x: np.ndarray, form: Format) -> np.ndarray:
        """By this CPU's run-time quantiser."""
        return self.to_bytes(self.traits(form).from_float, x, form)

    def dequantize(self, data: np.ndarray, form: Format) -> np.ndarray:
        data = np.ascontiguousarray(data)
        rows, k = data.shape[0], data.shape[1] // form.size * form.elements
        out = np.zeros((rows, k), F32)
        function = getattr(self.base, f"dequantize_row_{self.symbol(form)}")
        for row in range(rows):
            function(data[row].ctypes.data_as(BYTES), out[row].ctypes.data_as(FLOATS), ctypes.c_int64(k))
        return out

    def dot(self, w: np.ndarray, x: np.ndarray, form: Format) -> np.ndarray:
        out = np.zeros(w.shape[0], F32)
        for row in range(w.shape[0]):
            self.traits(form).vec_dot(w.shape[1] // form.size * form.elements, out[row:].ctypes.data_as(FLOATS), 0,
                                      w[row].ctypes.data_as(BYTES), 0, x[0].ctypes.data_as(BYTES), 0, 1)
        return out


def distributions(draw: Draw, rows: int, k: int) -> dict[str, np.ndarray]:
    """The row sets of a quantiser; every eighth element of the ties is the largest, so that it is in every block."""
    shape, place = (rows, k), np.arange(k)
    gauss = draw.array("gauss", shape)
    alternating = np.where(place % 2 == 0, F32(1), F32(-1))

    def ties(steps: int) -> np.ndarray:
        codes = draw.array("index", shape, "i32", low=-steps, high=steps) + F32(0.5)
        codes[:, ::8] = steps * alternating[::8]
        return (codes / 64).astype(F32)

    outliers = gauss.copy()
    outliers[:, ::97] *= 40
    one_hot = np.zeros(shape, F32)
    one_hot[np.arange(rows), (np.arange(rows) * 37) % k] = 1.5
    tie = gauss * F32(0.1)
    tie[:, 5::32], tie[:, 19::32] = 3, -3
    return {
        "gaussian": gauss, "gaussian_large": gauss * F32(1e3), "gaussian_small": gauss * F32(1e-3),
        "uniform_pm1": draw.array("uniform", shape), "weights_like": draw.array("gauss", shape, scale=0.03),
        "outliers": outliers, "all_positive": np.abs(gauss), "all_negative": -np.abs(gauss), "offset": gauss + F32(10),
        "constant": np.full(shape, 0.37, F32), "zeros": np.zeros(shape, F32),
        "negative_zero": np.full(shape, -0.0, F32),
        "half_zero": draw.array("mixed_zero", shape), "one_hot": one_hot,
        "ramp": np.broadcast_to(((place % 256) - F32(127.5)) / F32(100), shape).astype(F32),
        "rounding_ties_8": ties(8), "rounding_ties_16": ties(16), "rounding_ties_127": ties(127), "signed_max_tie": tie,
        "wide_range": draw.array("wide", shape, low=-12, high=12), "f16_scale_denormal": gauss * F32(1e-4),
        "f16_scale_underflow": gauss * F32(1e-9)}


def new_file(path: Path, **attributes: str | int) -> h5py.File:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = h5py.File(path, "w", libver="v108")
    for name, value in attributes.items():
        (set_text if isinstance(value, str) else set_scalar)(file, name, value)
    return file


def put(file: h5py.File, place: str, **arrays: np.ndarray) -> None:
    for name, array in arrays.items():
        file.create_dataset(f"{place}/{name}", data=array, track_times=False)


def record_quant(ggml: Ggml, out: Path, form: Format, source: str, seed: int, rows: int, k: int) -> None:
    draw = Draw(f"ggml/{seed}/{form.name}")
    content = f"{form.name}: rows of fp32 -> block bytes -> fp32"
    with new_file(out / f"quant_{form.name}.h5", source=source, content=content,
                  block_bytes=form.size, block_elements=form.elements) as file:
        for name, x in distributions(draw, rows, k).items():
            data = ggml.quantize(x, form)
            extra = {"bytes_nearest_even": ggml.quantize_activations(x, form)} if form.name == "q8_0" else {}
            put(file, f"quantize/{name}", x=x, bytes=data, dequantized=ggml.dequantize(data, form), **extra)
        if form.name == "q8_0":
            x = quantizer_ties("q8_0")
            data = ggml.quantize_activations(x, form)
            put(file, "quantize/near_ties", x=x, bytes_nearest_even=data, dequantized=ggml.dequantize(data, form))
        random = random_blocks(draw, form.name, (2 * rows, k // form.elements)).data.reshape(2 * rows, -1)
        put(file, "dequantize/random_bytes", bytes=random, dequantized=ggml.dequantize(random, form))


def record_dot(ggml: Ggml, out: Path, form: Format, x_form: Format, source: str, seed: int) -> None:
    draw = Draw(f"ggml/{seed}/{form.name}/{x_form.name}")
    with new_file(out / f"dot_{form.name}_{x_form.name}.h5", source=source,
                  content=f"y[r] = sum_k w[r,k] x[k]; w in {form.name}, x in {x_form.name}",
                  bound_S="sum_k |w x| in fp64, with |d*sc*q| and |dmin*m| counted apart for q4_k and q5_k") as file:
        for k, kind in ((256, ""), (512, ""), (1024, ""), (1024, "random_bytes"), (1024, "all_negative"),
                        (2048, "outliers"), (3072, "")):
            x = draw.array("gauss", (1, k))
            w = draw.array("gauss", (DOT_ROWS, k), scale=0.03)
            if kind == "outliers":
                x[:, ::61] *= 60
            if kind == "all_negative":
                w, x = -np.abs(w), x - F32(2)
            w_bytes = ggml.quantize(w, form)
            if kind == "random_bytes":
                w_bytes = random_blocks(draw, form.name, (DOT_ROWS, k // form.elements)).data.reshape(DOT_ROWS, -1)
            x_bytes = ggml.quantize(x, x_form)
            y_truth, size = dots.by_elements(Blocks(w_bytes.reshape(DOT_ROWS, -1, form.size), form.name),
                                             Blocks(x_bytes.reshape(-1, x_form.size), x_form.name))
            put(file, f"k{k}" + (f"_{kind}" if kind else ""), w_bytes=w_bytes, x_f32=x, x_bytes=x_bytes,
                y_truth=y_truth, S=size, y_ggml=ggml.dot(w_bytes, x_bytes, form))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT_DIR")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=int, default=4)
    parser.add_argument("--columns", type=int, default=512, help="a multiple of 256")
    parser.add_argument("--library", type=Path, help="the folder of libggml-base and libggml-cpu")
    args = parser.parse_args()
    if args.columns % 256 or args.columns < 256 or args.rows < 1:
        parser.error("--columns is a multiple of 256, --rows at least 1")
    package = importlib.util.find_spec("llama_cpp")
    if not args.library and not package:
        parser.error("llama-cpp-python is not installed; or give --library")
    folder = args.library or Path(package.origin).parent / "lib"
    version = importlib.metadata.version("llama-cpp-python") if package else f"at {folder.name}"
    source = f"ggml of llama-cpp-python {version}: its reference quantisers and dequantisers; golden/record/ggml.py"
    ggml = Ggml(folder)
    for form in FORMATS.values():
        record_quant(ggml, args.out, form, source, args.seed, args.rows, args.columns)
    for weights, x in GGML_PARTNER.items():
        record_dot(ggml, args.out, FORMATS[weights], FORMATS[x], source, args.seed)
    print(f"{len(FORMATS) + len(GGML_PARTNER)} files in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
