"""Converts ggml's goldens into this project's schema: quant_<type>.h5 and dot_<w>_<x>.h5 become one file an op.

    python from_ggml.py IN_DIR OUT_DIR          then: assay check --golden OUT_DIR

IN_DIR's layout: quant_<type>.h5 holds quantize/<case>/{x, bytes, dequantized} (q8_0: bytes_nearest_even too) and
dequantize/<case>/{bytes, dequantized}; dot_<w>_<x>.h5 holds <case>/{w_bytes, x_bytes, x_f32, y_truth, S}. Rows of
bytes are rows of blocks. Added here, from the bytes: the integer parts I1 and I2, the truth rounded once, and the
canonical order's bits. The files' own y_truth, S and dequantized must agree with that. Exit 2 on unusable input.
"""
from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np

import dots
import packed
import quant
from block_formats import FORMATS, GGML_PARTNER, Format
from blocks import decode32, split
from check import check_case, is_trivial
from formats import Blocks
from schema import Case, Output, write_op

LICENCE = "MIT (ggml, the outputs of its quantisers); Apache-2.0 (figures computed from them)"
AGREEMENT = 1e-12  # of S: fp64 sums in another order
GENERATOR = "golden/record/from_ggml.py"
Ops = dict[str, list[Case]]


class BadInput(Exception):
    """What is wrong with which file and dataset, and what was expected."""


def text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


class Source:
    """One input file: typed reads that say what they miss."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.file = h5py.File(path, "r")
        except OSError as error:
            raise BadInput(f"{path}: expected an HDF5 file: {error}") from error
        self.origin = text(self.file.attrs.get("source", "ggml"))

    def fail(self, place: str, expected: str, found: str) -> BadInput:
        return BadInput(f"{self.path}: {place}: expected {expected}, found {found}")

    def groups(self, place: str) -> list[str]:
        if place not in self.file:
            return []
        names = list(self.file[place])
        for name in names:
            if not isinstance(self.file[place].get(name), h5py.Group):
                raise self.fail(f"{place}/{name}", "a group of one case's datasets", "something else")
        return names

    def read(self, place: str, kind: str, axes: int) -> np.ndarray:
        dataset = self.file.get(place)
        if not isinstance(dataset, h5py.Dataset):
            raise self.fail(place, "a dataset", "none")
        if dataset.dtype != np.dtype(kind) or len(dataset.shape) != axes:
            raise self.fail(place, f"{np.dtype(kind)} of {axes} axes", f"{dataset.dtype} of shape {dataset.shape}")
        try:
            return dataset[()]
        except OSError as error:
            raise self.fail(place, "readable data", str(error)) from error

    def blocks(self, place: str, form: Format, shape: tuple[int, int] | None = None) -> Blocks:
        """Rows of bytes as rows of blocks; `shape`: the rows and elements that they must hold."""
        data = self.read(place, "u1", 2)
        rows, size = data.shape
        if size % form.size:
            raise self.fail(place, f"rows of whole {form.name} blocks of {form.size} bytes", f"rows of {size} bytes")
        found = rows, size // form.size * form.elements
        if shape and shape != found:
            raise self.fail(place, f"{shape[0]} rows of {shape[1]} elements", f"{found[0]} rows of {found[1]}")
        return Blocks(data.reshape(rows, size // form.size, form.size), form.name)

    def has(self, place: str) -> bool:
        return place in self.file

    def case_origin(self, place: str) -> str:
        return text(self.file[place].attrs.get("source", self.origin))


def flat(name: str, src: np.ndarray | Blocks, dst: np.ndarray | Blocks, n: int, opinion: np.ndarray | Blocks | None,
         source: str) -> Case:
    """A case of encode or decode, which know no rows."""
    case = Case(name, {"n": n}, {"src": src}, source=source)
    case.outputs["dst"] = Output(dst, opinion=opinion)
    return case


def unrolled(blocks: Blocks) -> Blocks:
    return Blocks(blocks.data.reshape(-1, blocks.data.shape[-1]), blocks.format)


def decode_case(name: str, blocks: Blocks, given: np.ndarray, source: Source, place: str) -> Case:
    ours = decode32(blocks)
    if not np.array_equal(ours.reshape(-1), given.reshape(-1), equal_nan=True):
        at = int(np.flatnonzero(ours.reshape(-1) != given.reshape(-1))[0])
        raise source.fail(f"{place}/dequantized, element {at}",
                          f"{ours.reshape(-1)[at]:.9g} by the format's definition", f"{given.reshape(-1)[at]:.9g}")
    return flat(name, unrolled(blocks), ours.reshape(-1), ours.size, given.reshape(-1), source.case_origin(place))


def encode_case(name: str, x: np.ndarray, blocks: Blocks, source: str) -> Case:
    case = flat(name, x.reshape(-1), unrolled(blocks), x.size, None, source)
    if blocks.format in quant.K_FORMATS:
        case.outputs["dst"].judged_by = "weighted_error"
        case.parts["error"] = np.array([quant.weighted_error(x, decode32(blocks), blocks.format)])
    return case


def quantize_case(name: str, x: np.ndarray, blocks: Blocks, source: str) -> Case:
    rows, k = x.shape
    case = Case(name, {"rows": rows, "k": k}, {"src": x}, source=source)
    case.outputs["dst"] = Output(blocks)
    return case


def convert_quant(source: Source, form: Format, ops: Ops) -> None:
    add = lambda op, case: ops.setdefault(f"{op}_{form.name}", []).append(case)  # noqa: E731
    for name in source.groups("quantize"):
        place = f"quantize/{name}"
        x = source.read(f"{place}/x", "<f4", 2)
        variants = {"bytes": "quantize" if form.name == "q8_k" else "encode"}
        if form.name == "q8_0":
            variants["bytes_nearest_even"] = "quantize"
        there = [v for v in variants if source.has(f"{place}/{v}")]
        if not there:
            raise source.fail(place, " or ".join(variants), "neither" if len(variants) > 1 else "none")
        for variant in there:
            blocks = source.blocks(f"{place}/{variant}", form, x.shape)
            make = quantize_case if variants[variant] == "quantize" else encode_case
            add(variants[variant], make(name, x, blocks, source.case_origin(place)))
        given = source.read(f"{place}/dequantized", "<f4", 2)
        add("decode", decode_case(name, source.blocks(f"{place}/{there[0]}", form, given.shape), given, source, place))
    taken = set(source.groups("quantize"))
    for name in source.groups("dequantize"):
        place = f"dequantize/{name}"
        given = source.read(f"{place}/dequantized", "<f4", 2)
        blocks = source.blocks(f"{place}/bytes", form, given.shape)
        add("decode", decode_case(name if name not in taken else f"{name}_dequantize", blocks, given, source, place))


def compare(source: Source, place: str, given: np.ndarray, ours: np.ndarray, scale: np.ndarray, judged: np.ndarray,
            what: str) -> None:
    if given.shape != ours.shape:
        raise source.fail(place, f"shape {ours.shape}", f"{given.shape}")
    wrong = judged & ~(np.abs(given - ours) <= AGREEMENT * scale)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise source.fail(f"{place}, element {at}", f"{ours[at]:.17g}, {what}", f"{given[at]:.17g}")


def check_activations(source: Source, place: str, x: Blocks) -> None:
    f = split(x)
    if f.q.min(initial=0) < -127:
        raise source.fail(place, "activation codes in -127..127", "-128")
    if f.bsums is not None and not np.array_equal(f.bsums, f.q.reshape(*f.bsums.shape, 16).sum(axis=-1)):
        raise source.fail(place, "sums of 16 that are the codes' sums", "others")


def convert_dot(source: Source, w_form: Format, x_form: Format, ops: Ops) -> None:
    op = f"{w_form.name}_{x_form.name}"
    for name in source.groups("/"):
        w = source.blocks(f"{name}/w_bytes", w_form)
        n, k = w.shape[0], w.shape[1] * w_form.elements
        x = source.blocks(f"{name}/x_bytes", x_form, (1, k))
        x_f32 = source.read(f"{name}/x_f32", "<f4", 2)
        if x_f32.shape != (1, k):
            raise source.fail(f"{name}/x_f32", f"shape (1, {k})", f"{x_f32.shape}")
        check_activations(source, f"{name}/x_bytes", x)
        origin = source.case_origin(name)
        case = Case(name, {"n": n, "k": k}, {"w": w, "x": x[0]}, source=origin)
        dots.evaluate_blocks(case)
        output = case.outputs["y"]
        finite = np.isfinite(output.truth) & ~output.bits_only
        given = source.read(f"{name}/S", "<f8", 1)
        compare(source, f"{name}/S", given, output.opinion_scale, output.opinion_scale, finite, "sum |w x|")
        given = source.read(f"{name}/y_truth", "<f8", 1)
        compare(source, f"{name}/y_truth", given, output.truth, output.opinion_scale, finite, "from the bytes")
        row = Case(name, {"m": 1, "n": n, "k": k}, {"w": w, "x": x}, source=origin)
        dots.evaluate_blocks(row)
        for shape, made in (("gemv", case), ("gemm", row)):
            ops.setdefault(f"{shape}_{op}", []).append(made)
            if w_form.name in packed.FORMATS:
                rows16 = replace(made, inputs={**made.inputs, "w": packed.pack(w)})
                ops.setdefault(f"{shape}_{w_form.name}_x16_{x_form.name}", []).append(rows16)
        quantised = f"dot_{w_form.name}_{name}"  # x_bytes come from ggml's reference quantiser
        if x_form.name == "q8_k":
            ops.setdefault("quantize_q8_k", []).append(quantize_case(quantised, x_f32, x, origin))
        else:
            ops.setdefault("encode_q8_0", []).append(encode_case(quantised, x_f32, x, origin))


def read_folder(folder: Path) -> Ops:
    """The cases of every file in the folder, by op, checked and tagged."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: expected a folder of quant_<type>.h5 and dot_<w>_<x>.h5")
    ops: Ops = {}
    paths = sorted(folder.glob("*.h5"))
    if not paths:
        raise BadInput(f"{folder}: expected quant_<type>.h5 and dot_<w>_<x>.h5, found no .h5 file")
    for path in paths:
        types = "|".join(FORMATS)
        kind = re.fullmatch(f"quant_({types})|dot_({'|'.join(GGML_PARTNER)})_(q8_k|q8_0)", path.stem)
        if not kind or kind[2] and GGML_PARTNER[kind[2]] != kind[3]:
            pairs = ", ".join(f"{w}_{x}" for w, x in GGML_PARTNER.items())
            raise BadInput(f"{path}: expected quant_<type>.h5 with a type of {types.replace('|', ', ')}, "
                           f"or dot_<pair>.h5 with a pair of {pairs}")
        source = Source(path)
        before = sum(map(len, ops.values()))
        if kind[1]:
            convert_quant(source, FORMATS[kind[1]], ops)
        else:
            convert_dot(source, FORMATS[kind[2]], FORMATS[kind[3]], ops)
        if sum(map(len, ops.values())) == before:
            raise source.fail("/", "at least one case", "none")
    for op, cases in ops.items():
        for case in cases:
            case.tags = "ggml trivial" if is_trivial(case) else "ggml"
            check_case(op, case)
    return ops


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, metavar="IN_DIR")
    parser.add_argument("out", type=Path, metavar="OUT_DIR")
    args = parser.parse_args()
    try:
        ops = read_folder(args.source)
        for op, cases in sorted(ops.items()):
            origins = "; ".join(sorted({case.source for case in cases}))
            write_op(args.out / f"{op}.h5", op, cases, origins, LICENCE, GENERATOR)
            print(f"{op:20} {len(cases):3} cases")
    except (BadInput, AssertionError, OSError) as error:
        print(f"from_ggml: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
