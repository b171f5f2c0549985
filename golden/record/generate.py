"""Inputs made from a seed: Philox4x32-10 and the distributions of golden/SCHEMA.md, vectorised in NumPy.

    python generate.py --selftest     checks the generator against Random123's published known answers
    python generate.py --sums         prints tests/generated_sums.json: what golden/generate.cc must make too

Philox: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
"""
from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from block_formats import FORMATS
from formats import Bf16, Blocks, Tensor, from_f32, tensor_bytes
from generate_blocks import block_bytes, words_of

MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
LOW32 = np.uint64(0xFFFFFFFF)
SHIFT32 = np.uint64(32)
CHUNK = 1 << 18  # elements made at a time

NUMPY_TYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "f64": "<f8", "i32": "<i4", "i64": "<i8", "u8": "u1"}
SIGN_AND_MANTISSA = {"f32": 0x807FFFFF, "f16": 0x83FF, "bf16": 0x807F}
WORDS_PER_GAUSS = 12
FIELDS = {"f32": (23, 8), "f16": (10, 5), "bf16": (7, 8)}  # bits of mantissa and exponent
EDGES = (0, 1, 2, 0x3FFFFF, 0x400000, 0x400001, 0x7FFFFE, 0x7FFFFF)  # mantissas beside ties
TIES = (8, 16, 127, 15, 31)  # codes that a block's scale is the largest of; the last two: of blocks with a minimum


def philox4x32_10(counter: list[np.ndarray], key: list[np.uint64]) -> list[np.ndarray]:
    """Ten rounds over arrays of 32-bit values that are held in uint64."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c0 * MULTIPLIERS[0], c2 * MULTIPLIERS[1]
        c0, c1, c2, c3 = (p1 >> SHIFT32) ^ c1 ^ k0, p1 & LOW32, (p0 >> SHIFT32) ^ c3 ^ k1, p0 & LOW32
        k0, k1 = np.uint64((int(k0) + int(WEYL[0])) & 0xFFFFFFFF), np.uint64((int(k1) + int(WEYL[1])) & 0xFFFFFFFF)
    return [c0, c1, c2, c3]


def words(seed: int, stream: int, start: int, count: int) -> np.ndarray:
    """Words start .. start+count-1 of the sequence, as uint64 below 2^32."""
    first, last = start // 4, -(-(start + count) // 4)
    block = np.arange(first, last, dtype=np.uint64)
    counter = [block & LOW32, block >> SHIFT32, np.full_like(block, stream), np.zeros_like(block)]
    key = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    flat = np.stack(philox4x32_10(counter, key), axis=1).reshape(-1)
    return flat[start - 4 * first:][:count]


def unit(w: np.ndarray) -> np.ndarray:
    """(w + 0.5) * 2^-32, exact in fp64."""
    return (w.astype(np.float64) + 0.5) * 2.0**-32


@dataclass(frozen=True)
class Generated:
    """An input that is stored as its recipe; `tensor` makes the bytes."""

    distribution: str
    shape: tuple[int, ...]
    dtype: str
    seed: int
    stream: int
    scale: float = 1.0
    low: int = 0
    high: int = 0

    def reals(self, start: int, count: int) -> np.ndarray:
        """Elements start .. start+count-1 in fp64, before they are rounded to f32."""
        if self.distribution in ("gauss", "positive"):
            w = words(self.seed, self.stream, start * WORDS_PER_GAUSS, count * WORDS_PER_GAUSS)
            value = self.scale * (unit(w).reshape(count, WORDS_PER_GAUSS).sum(axis=1) - 6.0)
            return np.abs(value) if self.distribution == "positive" else value
        w = words(self.seed, self.stream, start, count)
        uniform = self.scale * (2.0 * unit(w) - 1.0)
        if self.distribution == "uniform":
            return uniform
        if self.distribution == "mixed_zero":
            return np.where(w % 2 == 1, 0.0, uniform)
        if self.distribution == "wide":
            exponent = self.low + ((w >> 23) % 256 * (self.high - self.low + 1) // 256).astype(np.int64)
            sign = np.where(w >> 31 == 1, -1.0, 1.0)
            return sign * np.ldexp(1.0 + (w % 2**23).astype(np.float64) * 2.0**-23, exponent.astype(np.int32))
        if self.distribution == "edges":
            mantissa = np.array(EDGES, np.float64)[(w % 8).astype(np.intp)]
            exponent = self.low + ((w >> 23) % 256 * (self.high - self.low + 1) // 256).astype(np.int64)
            return np.where(w >> 31 == 1, -1.0, 1.0) * np.ldexp(1.0 + mantissa * 2.0**-23, exponent.astype(np.int32))
        if self.distribution == "near":
            return 1.0 + 2.0**-10 * uniform
        if self.distribution == "zeros":
            return np.zeros(count)
        raise ValueError(f"no distribution {self.distribution!r} for real values")

    def ties(self, start: int, count: int) -> np.ndarray:
        """Multiples of half a scale that lies between two f16: groups of 32 elements take 33 words each. `start` begins a group."""
        groups = -(-count // 32)
        w = words(self.seed, self.stream, start // 32 * 33, groups * 33).reshape(groups, 33).astype(np.int64)
        head = w[:, :1]
        half = np.ldexp(1024.5 + (head & 1023), (head >> 10 & 7) - 18)
        which = (head >> 13) % 5
        most = np.array(TIES)[which]
        least = np.where(which < 3, -most, 0)
        halves = 2 * least + (w[:, 1:] * (2 * (most - least) + 1) >> 32)
        halves[:, :1] = np.where((which < 3) & (head >> 31 != 0), -2 * most, 2 * most)
        halves[:, 1:2] = np.where(which < 3, halves[:, 1:2], 0)
        return (half * halves).reshape(-1)[:count]

    def specials(self, start: int, count: int) -> np.ndarray:
        """Uniform numbers, and one in 256 of those that the type ends at: as bits."""
        w = words(self.seed, self.stream, start, count)
        mantissa, exponent = FIELDS[self.dtype]
        least, infinity, one = 1 << mantissa, ((1 << exponent) - 1) << mantissa, ((1 << (exponent - 1)) - 1) << mantissa
        ends = [0, 1, least - 1, least, infinity - 1, infinity, infinity + least // 2 + 1, infinity + 1, one]
        bits = np.array(ends, np.uint64)[((w >> 8) % 9).astype(np.intp)] | w >> 31 << np.uint64(mantissa + exponent)
        rounded = from_f32((self.scale * (2.0 * unit(w) - 1.0)).astype(np.float32), self.dtype)
        usual = (rounded.bits if isinstance(rounded, Bf16) else rounded).view(f"<u{(1 + mantissa + exponent) // 8}")
        return np.where(w % 256 == 0, bits, usual).astype(usual.dtype).view(NUMPY_TYPES[self.dtype])

    def elements(self, start: int, count: int) -> np.ndarray:
        """Elements start .. start+count-1 in the tensor's own dtype (bf16 as uint16, blocks as bytes)."""
        if self.dtype in FORMATS:
            each = words_of(self.dtype)
            w = words(self.seed, self.stream, start * each, count * each)
            return block_bytes(self.distribution, self.dtype, w)
        numpy_type = np.dtype(NUMPY_TYPES[self.dtype])
        if self.distribution in ("denormal", "bits"):
            mask = SIGN_AND_MANTISSA[self.dtype] if self.distribution == "denormal" else LOW32
            w = words(self.seed, self.stream, start, count) & np.uint64(mask)
            return w.astype(f"<u{numpy_type.itemsize}").view(numpy_type)
        if self.distribution == "sequence":
            return np.arange(self.low + start, self.low + start + count).astype(numpy_type)
        if self.distribution in ("index", "magnitudes"):
            w = words(self.seed, self.stream, start, count)
            value = w * np.uint64(self.high - self.low) >> SHIFT32
            if self.distribution == "magnitudes":
                value >>= w % 32 % max(1, (self.high - self.low).bit_length())
            return (self.low + value.astype(np.int64)).astype(numpy_type)
        if self.distribution == "specials":
            return self.specials(start, count)
        with np.errstate(over="ignore", under="ignore"):
            make = self.ties if self.distribution == "ties" else self.reals
            single = make(start, count).astype(np.float32)
        rounded = from_f32(single, self.dtype)
        return rounded.bits if isinstance(rounded, Bf16) else rounded

    @cached_property
    def tensor(self) -> Tensor:
        count = int(np.prod(self.shape))
        if self.dtype in FORMATS:
            return Blocks(self.elements(0, count).reshape(*self.shape, FORMATS[self.dtype].size), self.dtype)
        out = np.empty(count, NUMPY_TYPES[self.dtype])
        for start in range(0, count, CHUNK):
            out[start:start + CHUNK] = self.elements(start, min(CHUNK, count - start))
        out = out.reshape(self.shape)
        return Bf16(out) if self.dtype == "bf16" else out

    @property
    def sha256(self) -> str:
        return hashlib.sha256(tensor_bytes(self.tensor)).hexdigest()


class Draw:
    """The random data of one case: every tensor drawn gets the next stream of the case's seed."""

    STORED_BYTES = 4096  # tensors up to here are stored as bytes, larger ones as their recipe

    def __init__(self, name: str) -> None:
        """The seed is 32 bits of the name's sha256: distinct for every op and case, and never chosen by hand."""
        self.seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little")
        self.stream = 0

    def recipe(self, distribution: str, shape: tuple[int, ...], dtype: str = "f32", **how: float) -> Generated:
        made = Generated(distribution, tuple(shape), dtype, self.seed, self.stream, **how)
        self.stream += 1
        return made

    def input(self, distribution: str, shape: tuple[int, ...], dtype: str = "f32", **how: float) -> Tensor | Generated:
        """For a case's inputs: bytes when small, else the recipe."""
        made = self.recipe(distribution, shape, dtype, **how)
        size = int(np.prod(shape)) * (FORMATS[dtype].size if dtype in FORMATS else np.dtype(NUMPY_TYPES[dtype]).itemsize)
        return made.tensor if size <= self.STORED_BYTES else made

    def array(self, distribution: str, shape: tuple[int, ...], dtype: str = "f32", **how: float) -> np.ndarray:
        """For data that a case goes on to change, always bytes."""
        made = self.recipe(distribution, shape, dtype, **how).tensor
        return made.bits if isinstance(made, Bf16) else made


# Random123 1.14, examples/kat_vectors, "philox4x32 10": counter, key, answer.
KNOWN_ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def selftest() -> None:
    """Raises AssertionError unless the known answers come out."""
    for counter, key, answer in KNOWN_ANSWERS:
        got = philox4x32_10([np.array([int(c, 16)], np.uint64) for c in counter.split()],
                            [np.uint64(int(k, 16)) for k in key.split()])
        assert " ".join(f"{int(g[0]):08x}" for g in got) == answer, (counter, key)
    whole = words(7, 3, 0, 101)
    assert all(np.array_equal(words(7, 3, s, 101 - s), whole[s:]) for s in range(9)), "a piece differs from the whole"


def sums() -> list[dict[str, object]]:
    """What every distribution makes in every type that it has, as the recipe and the sum of the bytes."""
    numbers, integers = ("f32", "f16", "bf16"), ("i32", "i64", "u8")
    of_numbers = ("gauss", "positive", "uniform", "mixed_zero", "wide", "edges", "near", "ties", "specials", "denormal", "bits", "zeros")
    of_integers = ("index", "magnitudes", "sequence")
    of_blocks = ("blocks", "activations", "wide", "denormal", "bits", "zeros")
    ranges = {"wide": (-20, 12), "edges": (-3, 3), "index": (3, 100), "magnitudes": (0, 200), "sequence": (5, 0)}
    rows = [(name, dtype) for name in of_numbers for dtype in numbers] + [(name, dtype) for name in of_integers for dtype in integers]
    rows += [(name, dtype) for name in of_blocks for dtype in FORMATS if "x16" not in dtype]
    recipes = []
    for name, dtype in rows:
        low, high = (0, 0) if dtype in FORMATS else ranges.get(name, (0, 0))
        count = 200 if dtype in FORMATS or dtype == "u8" else 2000
        recipes.append(Generated(name, (count,), dtype, 0x123456789, 2, 0.75, low, high))
    return [{**asdict(one), "sha256": one.sha256} for one in recipes]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--selftest", action="store_true")
    what.add_argument("--sums", action="store_true", help="prints tests/generated_sums.json, which tests/golden_test.cc holds the C++ to")
    if parser.parse_args().sums:
        print("[\n" + ",\n".join(json.dumps(row) for row in sums()) + "\n]")
    else:
        selftest()
        print(f"philox4x32-10: {len(KNOWN_ANSWERS)} known answers hold")
