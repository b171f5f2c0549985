"""Mutants by what a call is: its sizes, strides and addresses. The kernel is right but where a condition on the arguments holds.

Each is a function around the kernel, made from tests/mutants/layouts.py: so every op has those of its class, and one that is added has
them by its row there. What such a mutant does depends on no instruction: one variant, that of AVX2, stands for all.
"""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterator

from layouts import Layout, by_layout, layout_of, tensors_of, units_of
from mutant import Mutant
from ops import Op, members
from steering import constants_of

ISA = "avx2"
PLACES = ("position", "capacity", "capacity_src", "capacity_dst")  # which do not say how rows are walked through
SMALL = 16  # counts up to that are tried one by one
LONG = {"prompt": 128, "heads": 8, "kv_heads": 4, "group": 4, "head_dim": 96, "rot_dim": 64, "pairs": 64, "window": 128}  # else 1024

# 0 has the status of what is negative.
REFUSE_NONE = {"n": ("argmax",), "rows": ("encode_*", "decode_*", "attn_decode_*"), "m": ("gemv_*", "matvec_*"), "head_dim": ("rope", "attn_*")}

Made = tuple[str, str, str]  # name, what, wrap


def wrong_where(condition: str) -> str:
    """The body of a function around the kernel."""
    return f"const AssayStatus s = kernel(&a); if (s == ASSAY_OK && ({condition})) around::spoil(output(a)); return s;"


def called(size: str) -> str:
    """A size in a name."""
    return size if size.isidentifier() else "keys" if "keys" in size else "group"


def called_layout(pattern: str) -> str:
    """A pattern in a name."""
    return pattern.replace("*", "").replace("__", "_").strip("_")


def in_call(size: str) -> str:
    """A size as an expression."""
    return f"a.{size}" if size.isidentifier() else size


def unit_in(size: str, op: Op) -> int:
    """What it is a multiple of."""
    return units_of(op)[0] if size == "k" else 1


def octaves(layout: Layout, op: Op) -> Iterator[Made]:
    """Every size between two powers of two, up to the largest in use."""
    for size in layout.sizes:
        least = SMALL * unit_in(size, op)
        while least < layout.most(size):
            text = f"{in_call(size)} > {least} && {in_call(size)} <= {2 * least}"
            yield f"{called(size)}_past_{least}", f"wrong where {called(size)} is {least + 1} to {2 * least}", wrong_where(text)
            least *= 2


def remainders(layout: Layout, op: Op) -> Iterator[Made]:
    """Row lengths by their remainder by sixteen, in units."""
    for size in filter(layout.wide, layout.sizes):
        if size in PLACES or size == "vocab" and "n" in layout.sizes:
            continue
        units = f"{in_call(size)} / {unit_in(size, op)}" if unit_in(size, op) > 1 else in_call(size)
        for r in range(0, 16, 2 if size == "rot_dim" else 1):  # an odd one is refused
            yield f"{called(size)}_mod_16_is_{r}", f"wrong where {called(size)} mod 16 is {r}, past 16", wrong_where(f"{units} > 16 && {units} % 16 == {r}")


def counts(layout: Layout, _: Op) -> Iterator[Made]:
    """Few rows, heads or groups, one by one."""
    for size in layout.sizes:
        if not layout.wide(size):
            for n in range(1, min(SMALL, layout.most(size)) + 1):
                yield f"{called(size)}_is_{n}", f"wrong where {called(size)} is {n}", wrong_where(f"{in_call(size)} == {n}")


def constants(layout: Layout, op: Op) -> Iterator[Made]:
    """Both sides of each constant that steers a path, of twice it and of three times it."""
    for name, size, value in constants_of(op):
        unit = unit_in(size, op)
        for times in (1, 2, 3):
            edge = value * times // unit * unit
            if edge <= 0 or times > 1 and edge > layout.most(size):
                continue
            where = f"{name}_{edge}"
            expression = in_call(size)
            yield f"{called(size)}_at_{where}", f"wrong where {called(size)} is {edge}, of {name}", wrong_where(f"{expression} == {edge}")
            if edge + unit > layout.most(size):
                continue
            past = f"{expression} > {edge} && {expression} <= {edge + 16 * unit}"
            yield f"{called(size)}_just_past_{where}", f"wrong just past {edge}, of {name}", wrong_where(past)


def long_from(layout: Layout, size: str, op: Op) -> int:
    """What counts as long."""
    return max(LONG.get(layout.sizes[size].split()[0], 1024), unit_in(size, op))


def pairs(layout: Layout, op: Op) -> Iterator[Made]:
    """Two sizes, each short or long."""
    sizes = [size for size in layout.sizes if size not in PLACES]
    for f, g in itertools.combinations(sizes, 2):
        if (f, g) in (("head_dim", "head_dim_padded"), ("head_dim", "rot_dim")):
            continue  # one is at most the other
        for f_long, g_long in ((True, True), (True, False), (False, True)):
            parts = []
            for size, is_long in ((f, f_long), (g, g_long)):
                edge = long_from(layout, size, op) if is_long else SMALL * unit_in(size, op)
                parts.append(f"{in_call(size)} {'>' if is_long else '<='} {edge}")
            words = [f"{called(size)} {'long' if is_long else 'short'}" for size, is_long in ((f, f_long), (g, g_long))]
            yield "_".join(words).replace(" ", "_"), f"wrong where {words[0]} and {words[1]}", wrong_where(" && ".join(parts))


def can_be_far(stride: str, layout: Layout, op: Op) -> bool:
    """Not where 2^31 blocks would be 70 GB, nor within what rows of a larger stride hold: the bench's strides are at most 2^31."""
    held = {"rope": ("table_stride", "x_head_stride", "y_head_stride"), "kv_copy": ("src_row_stride", "dst_row_stride"),
            "kv_store": ("src_head_stride",)}
    return stride not in held.get(layout.pattern.removesuffix("_*"), ()) and (stride != "dst_stride" or layout.element != "block")


def strides(layout: Layout, op: Op) -> Iterator[Made]:
    """Gaps between rows, by their size, and rows that lie far apart."""
    for stride in layout.strides:
        s, gap = f"a.{stride.name}", f"a.{stride.name} - ({stride.dense})"
        many = f"{stride.rows} > 1 && "
        yield f"{stride.name}_dense", f"wrong where rows lie without gaps, by {stride.name}", wrong_where(f"{many}{gap} == 0")
        yield f"{stride.name}_small_gap", "wrong where rows lie 1 to 15 elements apart", wrong_where(f"{many}{gap} > 0 && {gap} < 16")
        yield f"{stride.name}_gap", "wrong where rows lie 16 to 1023 elements apart", wrong_where(f"{many}{gap} >= 16 && {gap} < 1024")
        if stride.name != "head_dim_padded":
            yield f"{stride.name}_large_gap", "wrong where rows lie at least 1024 elements apart", wrong_where(f"{many}{gap} >= 1024")
            for bits in (31, 32) if can_be_far(stride.name, layout, op) else ():
                yield (f"{stride.name}_past_2_{bits}", f"wrong where rows reach past 2^{bits} elements",
                       wrong_where(f"around::reaches({stride.rows}, {s}, INT64_C(1) << {bits})"))


def indices(layout: Layout, _: Op) -> Iterator[Made]:
    """Values of an array of indices, between two powers of two."""
    if layout.values:
        name, count, bits = layout.values
        for bit in range(4, bits):
            condition = f"around::any_within(a.{name}, {count}, {1 << bit}, {(2 << bit) - 1})"
            yield f"{name}_past_2_{bit}", f"wrong where {name} has one past 2^{bit}", wrong_where(condition)


def narrowed(layout: Layout, op: Op) -> Iterator[Made]:
    """Sizes kept in fewer bits."""
    for size in layout.sizes:
        for kind, most in (("uint8_t", 255), ("int16_t", 32767), ("uint16_t", 65535)):
            if size.isidentifier() and layout.most(size) // unit_in(size, op) * unit_in(size, op) > most:
                yield f"{size}_in_{kind}", f"{size} kept in {kind}", f"a.{size} = static_cast<{kind}>(a.{size}); return kernel(&a);"


def alignments(_: Layout, op: Op) -> Iterator[Made]:
    """One tensor aligned and another not; each residue of an address by a cache line."""
    tensors = tensors_of(op)
    for p, q in itertools.permutations(tensors, 2):
        for alignment in (16, 32, 64):
            names = [tensor.removeprefix("a.").replace("around::", "").replace("(a)", "") for tensor in (p, q)]
            condition = f"around::past({p}, {alignment}) == 0 && around::past({q}, {alignment}) != 0"
            yield f"{names[0]}_on_{alignment}_{names[1]}_not", f"wrong where {names[0]} is on {alignment} bytes, {names[1]} not", wrong_where(condition)
    for p in tensors:
        name = p.removeprefix("a.").replace("around::", "").replace("(a)", "")
        for at in range(0, 64, 4):
            yield f"{name}_at_{at}_of_64", f"wrong where {name} lies {at} bytes past a cache line", wrong_where(f"around::past({p}, 64) == {at}")


def refusals(layout: Layout, op: Op) -> Iterator[Made]:
    """A size below zero, or past what memory has, taken for none, for the least, or for a dense stride."""
    dense = {stride.name: stride.dense for stride in layout.strides}
    for name, kind in members(op.arguments).items():
        if kind == "int64_t" and name not in ("position", "window"):
            if not any(fnmatch.fnmatch(op.name, only) for only in REFUSE_NONE.get(name, ())):
                taken = dense.get(name, "0")
                yield f"{name}_below_0", f"a negative {name} taken for {taken}", f"if (a.{name} < 0) a.{name} = {taken}; return kernel(&a);"
            least = 2 if op.family == "rope" else unit_in(name, op)
            yield (f"{name}_past_2_50", f"a {name} past 2^50 taken for {least}",
                   f"if (a.{name} > INT64_C(1) << 50) a.{name} = {least}; return kernel(&a);")
    for stride in layout.strides:
        condition = f"int64_t bytes = 0; if (__builtin_mul_overflow({stride.rows}, a.{stride.name}, &bytes))"
        yield f"{stride.name}_overflows", "rows that reach past 2^63 taken for dense ones", f"{condition} a.{stride.name} = {stride.dense}; return kernel(&a);"


CLASSES = {
    "size between powers of two": octaves, "remainder by 16": remainders, "small count": counts, "steering constant": constants,
    "two sizes": pairs, "stride": strides, "index": indices, "narrowed": narrowed, "alignment": alignments, "size refused": refusals,
}


def generated() -> list[Mutant]:
    """All of them, in the order of the tables."""
    found = []
    for pattern, ops in by_layout().items():
        for kind, make in CLASSES.items():
            by_text: dict[Made, list[str]] = {}
            for op in ops:
                for made in make(layout_of(op.name), op):
                    by_text.setdefault(made, []).append(op.name)
            for number, ((name, what, wrap), names) in enumerate(by_text.items()):
                found.append(Mutant(f"{called_layout(pattern)}.{name}", kind, what, [], wrap=wrap, ops=names, isas=[ISA], by_class=True))
    return unique(found)


def unique(mutants: list[Mutant]) -> list[Mutant]:
    """Names made different where one text is for one op and another for the next."""
    seen: dict[str, int] = {}
    for mutant in mutants:
        seen[mutant.name] = seen.get(mutant.name, 0) + 1
        if seen[mutant.name] > 1:
            mutant.name += f".{seen[mutant.name]}"
    return mutants
