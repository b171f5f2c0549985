"""Mutants of the sources by rule: every use of a constant that steers a path, every index, every refusal.

Nothing is listed but which constant steers which size: a loop, an index or a refusal that comes new has its mutants at once, and a constant
that reference/ops has as a border of some size (ci/kernel-constants) but not the list below is an error.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from edits import ROOT, Edit, text_of
from layouts import GROUP, KEYS
from mutant import Mutant
from ops import Op, includes, isas, ops, source_of

CONSTANT = re.compile(r"constexpr int64_t (k[A-Z]\w*) = (\d+);")
BORDER = re.compile(r'\{"(k[A-Z]\w*)", \d+')
BLOCK_GEMM = ("gemm_q*_q8_*", "linear_*")
TILES = ("gemm_f*", "gemm_bf16", "matvec_*", "gem?_q*_f32")

# Constants to the size on whose both sides paths differ, what they count, and the ops.
STEERS: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "kKeySpan": (KEYS, 1, ("attn_*",)),
    "kHeadsAtOnce": (GROUP, 1, ("attn_decode_*",)),
    "kMaxVectors": ("rows", 16, ("attn_prefill_*",)),
    "kChunkDims": ("head_dim", 1, ("attn_prefill_*",)),
    "kPanelRows": ("m", 1, BLOCK_GEMM),
    "kChunkElements": ("k", 1, BLOCK_GEMM),
    "kGemvElements": ("k", 1, ("gemv_*_x16_*",)),
    "kBlock": ("k", 1, TILES),
    "kGroupTiles": ("n", 32, ("gemm_f*", "gemm_bf16")),
    "kCachedRows": ("m", 1, ("gemm_f*", "gemm_bf16")),
    "kDecodedRows": ("m", 1, ("gemm_q*_f32",)),
}


@functools.cache
def constant_values() -> dict[str, int]:
    """Those of the list, as the kernels have them."""
    asked = {name for path in (ROOT / "reference" / "ops").glob("*.cc") for name in BORDER.findall(path.read_text())}
    if missing := asked - set(STEERS):
        raise SystemExit(f"tests/mutants/steering.py: STEERS lacks {', '.join(sorted(missing))}, borders of sizes in reference/ops")
    return {name: int(value) for path in headers() for name, value in CONSTANT.findall(text_of(path))}


def constants_of(op: Op) -> Iterator[tuple[str, str, int]]:
    """Of an op: name, the size that it steers, value."""
    for name, (size, each, patterns) in STEERS.items():
        if any(fnmatch.fnmatch(op.name, pattern) for pattern in patterns):
            yield name, size, constant_values()[name] * each


@functools.cache
def headers() -> tuple[str, ...]:
    """The files that kernels are made of, without those that say what an argument is."""
    return tuple(sorted(str(path.relative_to(ROOT)) for path in (ROOT / "kernels").glob("*/*.h")))


@dataclass(frozen=True)
class Rule:
    """What stands at each place that a pattern finds, and what may stand there wrongly."""

    name: str
    kind: str
    what: str  # {0} is what is found
    pattern: re.Pattern[str]
    instead: tuple[str, ...]  # of re.Match.expand
    but: re.Pattern[str] | None = None  # lines without
    counts: bool = False  # \1 is what is counted: not where it is few
    whole: bool = False  # an expression is found: its parentheses must close


STEP = r"(\w[\w.]*) \+= (\w+ \* k[A-Z]\w*|k[A-Z]\w*(?:<\w+>)?)(?=[;)])"
FACTOR = r"((?<![\w.])(?:args\.)?[a-z]\w*(?:\[\w+\])?|\([a-z]\w*(?: \+ \w+)+\))"
WIDTH = r"((?:(?!heads|shape)\w+[.])?(?!o_)\w*stride\w*\b|args\.[kn]\b|\bblocks\b|args\.row\b|args\.capacity\b)"
# Loops that count rows of a register block, keys of a block, halves of a tile: few.
FEW = re.compile(r"kKeyBlock|kLanes|kPackedRows|kTileRows|16|Rows|Columns|Heads|Keys|Vectors|R|T|present|count")
# Lines that say nothing of what is computed.
SILENT = re.compile(r"^\s*//|prefetch|static_assert|^#|^(inline )?constexpr|alignas|kShare")

RULES = (
    Rule("step_long", "step of a loop", "one too far: {0}", re.compile(STEP), (r"\1 += \2 + 1",)),
    Rule("bound_short", "bound of a chunk", "one less: {0}", re.compile(r"at_most\((k[A-Z]\w*(?:<\w+>)?|vectors|group|Rows), "), (r"at_most(\1 - 1, ",)),
    Rule("bound_long", "bound of a chunk", "one more: {0}", re.compile(r"at_most\((k[A-Z]\w*(?:<\w+>)?|vectors|group|Rows), "), (r"at_most(\1 + 1, ",)),
    *(Rule("begins", "carry between chunks", f"{which} begins anew: {{0}}",
           re.compile(r"(?<![\w.(!])((?:panel\.)?(?:block|b0|first_block|first)(?: \+ c)?) == 0(?= \?|[,;)]|$)"), (instead,), re.compile("for|if"))
      for which, instead in (("every chunk", "true"), ("none", "false"), ("each third", r"\1 % 3 == 0"))),
    Rule("offset_32", "offset in 32 bits", "{0} in 32 bits", re.compile(FACTOR + r" \* " + WIDTH), (r"static_cast<int32_t>(\1 * \2)",)),
    Rule("row_16", "index in 16 bits", "{0}: the row in 16 bits", re.compile(FACTOR + r" \* " + WIDTH), (r"static_cast<uint16_t>(\1) * \2",), counts=True),
    Rule("row_8", "index in 8 bits", "{0}: the row in 8 bits", re.compile(FACTOR + r" \* " + WIDTH), (r"static_cast<uint8_t>(\1) * \2",), counts=True),
    Rule("element_16", "index in 16 bits", "{0}: the element in 16 bits",
         re.compile(r"\b((?:load|store)\w*)\(([a-z][\w.]*) \+ ([a-z]\w*)(?=[,)]| \+)"), (r"\1(\2 + static_cast<uint16_t>(\3)",)),
    Rule("status", "status", "another status: {0}", re.compile(r"return (?:ASSAY_BAD_SHAPE|ASSAY_BAD_PARAMETER)(?=;)"), ("return ASSAY_OUT_OF_RANGE",)),
    Rule("status", "status", "another status: {0}", re.compile(r"return (?:ASSAY_OUT_OF_RANGE|ASSAY_NOT_FINITE)(?=;)"), ("return ASSAY_BAD_SHAPE",)),
    Rule("size_unasked", "size refused", "not asked: {0}", re.compile(r"\bassay_(?:size|area|volume)\([^()]*\)(?= &&|;| \|\||\))"), ("1",), re.compile("^static")),
    Rule("refusal_lost", "refusal", "not refused: {0}",
         re.compile(r"(?<=if \()[^|]*?(?= \|\| |\) return ASSAY_)|(?<= \|\| )[^|]*?(?= \|\| |\) return ASSAY_)"), ("false",),
         re.compile(r"^(?!.*\) return ASSAY_)|return ASSAY_OK|status"), whole=True),
)


# What changes nothing: file, what the mutant says it does, ops, and why.
EQUIVALENT = (
    (r"products/", r"\bj \* args\.", ("gemv_*", "matvec_*"), "one row: j is 0"),
    (r"products/tile_gemm\.h", r"^\(?r0( \+ r\))? \* args\.\w+: the row in (8|16) bits", ("*",), "rows of a panel of 192"),
    (r"products/tile_gemm\.h", r"totals\.stride in 32 bits", ("*",), "rows of 256"),
    (r"products/plain_gemv\.h", r"i \* blocks in 32 bits", ("*",), "so many blocks are 38 GB"),
    (r"simd/stream\.h", r"the element in 16 bits", ("gemm_*",), "blocks of 64 columns"),
    (r"products/decoded_columns\.h", r"^always the first", ("gem?_q4_k_f32",), "a chunk is one block"),
    (r"products/decoded_gemm\.h", r"^always the first: const int64_t (depth|width)", ("gemm_q4_k_f32",), "all chunks are whole"),
    (r"products/decoded_gemm\.h", r"^always the first: (stream|add_tile)|^one more: at_most\(kBlock", ("gemm_q8_0_f32",), "a chunk is as long as a block of columns"),
    (r"products/decoded_gemv\.h", r"^one less: at_most\(kDepth", ("gemv_*_f32",), "columns go by whole vectors"),
    (r"products/tile_gemm\.h", r"out\.stride in 32 bits", ("gemm_q*_f32",), "totals, 32 apart"),
    (r"products/block_gemm\.h", r"^always the first: add_panel", ("*",), "what is prefetched is read all the same"),
    (r"products/decoded_gemm\.h", r"^one more: at_most\((kDecodedRows|kTileRows|Rows)", ("*",), "one more is written again by the next, and the last is whole"),
    (r"products/block_gemm\.h", r"^one more: at_most\(kPanelRows", ("gemm_*_x16_*", "gemm_q6_k_q8_k"), "one more is written again by the next, and the last is whole"),
    (r"products/linear\.h", r"args\.m \* blocks in 32 bits", ("linear_*",), "so many activations are 270 GB"),
    (r"products/block_gemm\.h", r"^(r|\(row \+ r\)) \* \w*\.?[xy]_stride: the row in (8|16) bits", ("*",), "rows of a panel of 128"),
    (r"products/tile_gemv\.h", r"^none begins anew", ("matvec_*",), "the first chunk's sum is added to +0"),
    (r"products/tile_model\.h", r"^r \* stride: the row in (8|16) bits", ("*",), "rows of a tile, at most 16"),
    (r"attention/prefill\.h", r"one more: at_most\(kLanes", ("attn_*",), "a lane more of a load is masked; a row more is written again by the next, and the last is whole"),
    (r"attention/prefill\.h", r"^j \* rows\.[kv]_stride: the row in (8|16) bits", ("*",), "rows of a block of 16 keys"),
    (r"attention/view\.h", r"kv_head_ \* .*: the row in 16 bits", ("attn_prefill_*",), "no model has so many heads"),
    (r"products/products\.h", r"not asked: assay_area\(a->m", ("gemv_*", "matvec_*"), "one row: another area is as large"),
    (r"attention/decode\.h", r"the element in 16 bits", ("attn_*",), "a buffer of 16 heads of at most 512"),
    (r"simd/fours\.h", r"the element in 16 bits", ("*",), "sixteen lanes"),
    (r"simd/stream\.h", r"the element in 16 bits", ("attn_*",), "rows of at most 512"),
    (r"attention/prefill\.h", r"one less: at_most\(kMaxVectors", ("attn_*",), "each query by itself gets the same bits, whoever goes with it"),
    (r"attention/prefill\.h", r"always the first: chunk\.vectors", ("attn_*",), "lanes past the last query repeat it and are not written"),
    (r"attention/prefill_block\.h", r"one more: at_most\(kKeyBlock", ("attn_*",), "in a block of sixteen keys seventeen are as many as sixteen"),
    (r"attention/decode\.h", r"one less: at_most\(kHeadsAtOnce", ("attn_*",), "each head by itself gets the same bits, whoever goes with it"),
    (r"attention/decode\.h", r"one more: at_most\(kLanes", ("attn_*",), "what is written past a chunk is written again by the next; the last is whole"),
    (r"attention/\w+\.h", r"always the first: .*kPrefetchBlocks", ("attn_*",), "what is prefetched is read all the same"),
    (r"packings/tile_major\.h", r"always the first: const Element\* src", ("pack_tile_*",), "of a half without rows nothing is read"),
    (r"packings/packed_rows\.h", r"blocks in 32 bits", ("*",), "so many blocks are 70 GB"),
    (r"rope/rotate\.h", r"head \* .*the row in (8|16) bits", ("*",), "no model has so many heads"),
    (r"rope/rotate\.h", r"load(_tail)?\([cs] \+ i: the element", ("*",), "no model has so many pairs"),
    (r"rope/rotate\.h", r"(head|row) \* args\.\w*(head|table)_stride in 32 bits", ("*",), "rows of a larger stride, which is at most 2^31"),
    (r"kv/kernels\.cc", r"(h|p) \* args\.src_(row|head)_stride in 32 bits", ("*",), "rows of a larger stride, which is at most 2^31"),
    (r"kv/repack\.h", r"in 32 bits", ("*",), "no model's cache has 2^31 numbers"),
    (r"kv/kernels\.cc", r"p \* args\.dst_row_stride in 32 bits", ("*",), "rows of a larger stride, which is at most 2^31"),
    (r"codecs/ranges\.h", r"one too far: x \+= kLanes", ("encode_q6_k",), "the first vector holds all sixteen numbers"),
    (r"codecs/kernels\.cc", r"j \* args\.", ("encode_*",), "one row: j is 0"),
    (r"codecs/(encode_affine|ranges|search_affine|encode_centred|search_centred)\.h", r"the element in 16 bits", ("*",), "the elements of one block"),
)


def equivalent_for(path: str, what: str) -> list[str]:
    """The ops for which it is."""
    return [op for file, said, ops_of, _ in EQUIVALENT if re.search(file, path) and re.search(said, what) for op in ops_of]


def variant_of(path: str) -> list[str]:
    """The one whose kernels include the file: AVX2's if it may be."""
    for isa in ("avx2", *isas()):
        if any(isa in op.isas and path in includes(source_of(op.name), isa) for op in ops().values()):
            return [isa]
    return []


def edit_of(path: str, lines: list[str], number: int, line: str) -> Edit:
    """One line replaced, with as many before it as it takes to be there once."""
    first = number
    while text_of(path).count("\n".join(lines[first : number + 1])) > 1:
        first -= 1
    return Edit(path, "\n".join(lines[first : number + 1]), "\n".join([*lines[first:number], line]))


def is_few(text: str, lines: list[str], number: int) -> bool:
    """Whether what is counted comes from loops that count few."""
    names = re.findall(r"[a-z]\w*", text)
    before = "\n".join(lines[function_of(lines, number).start : number + 1])
    limits = [re.findall(rf"for \((?:int64_t|int) {name} = [^;]*; {name} < (\w+)", before) for name in names]
    return all(found and FEW.fullmatch(found[-1]) for found in limits)


def function_of(lines: list[str], number: int) -> range:
    """The lines of the function that a line is in: to a brace at the margin."""
    first = next((n for n in range(number - 1, -1, -1) if lines[n].startswith("}")), -1) + 1
    return range(first, next((n for n in range(number, len(lines)) if lines[n].startswith("}")), len(lines)))


def first_chunks(path: str) -> Iterator[tuple[str, Edit]]:
    """Loops over chunks: each use of what says where a chunk begins, as if it were always the first."""
    lines = text_of(path).split("\n")
    for number, line in enumerate(lines):
        step = re.search(STEP, line)
        if not step or step[2] == "kLanes" or SILENT.search(line):
            continue
        use = re.compile(rf"(?<![\w.])(?<!int64_t ){re.escape(step[1])}(?!\w| [+-]?= |\.)")
        for n in function_of(lines, number):
            if "for (" in lines[n] or "while (" in lines[n] or SILENT.search(lines[n]):
                continue
            for found in use.finditer(lines[n]):
                text = lines[n][: found.start()] + "0" + lines[n][found.end() :]
                yield lines[n].strip(), edit_of(path, lines, n, text)


def places(path: str) -> Iterator[tuple[Rule, str, Edit]]:
    """Every rule at every place of a file."""
    lines = text_of(path).split("\n")
    for rule in RULES:
        for number, line in enumerate(lines):
            if SILENT.search(line) or (rule.but and rule.but.search(line)):
                continue
            for found in rule.pattern.finditer(line):
                if rule.whole and found[0].count("(") != found[0].count(")") or rule.counts and is_few(found[1], lines, number):
                    continue
                for text in rule.instead:
                    yield rule, found[0].strip(), edit_of(path, lines, number, line[: found.start()] + found.expand(text) + line[found.end() :])


def generated() -> list[Mutant]:
    """All of them, file by file."""
    mutants = []
    for path in (*headers(), *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "kernels").glob("*/kernels.cc"))):
        isa = variant_of(path)
        stem = path.removeprefix("kernels/").replace("/", ".").rsplit(".", 1)[0]
        made = [(rule.name, rule.kind, rule.what.format(what), edit) for rule, what, edit in places(path)]
        made += [("first_chunk", "carry between chunks", f"always the first: {what}", edit) for what, edit in first_chunks(path)]
        numbers: dict[str, int] = {}
        for name, kind, what, edit in made if isa else ():
            numbers[name] = numbers.get(name, 0) + 1
            but = equivalent_for(path, what)
            if "*" not in but:
                mutants.append(Mutant(f"{stem}.{name}.{numbers[name]}", kind, what, [edit], isas=isa, but=but, by_class=True))
    return mutants
