"""Texts for the goldens of the tokenizer: picked ones, random ones over pools of code points, and bytes that are no UTF-8."""
from __future__ import annotations

import random
import re
import unicodedata
from pathlib import Path

Pool = list[tuple[int, int]]
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

PICKED = [
    "", " ", "  ", "\n", "\r\n", "\n\n\n", "\t", " \n", "\n ", "a", " a", "a ", "  a  b   c    ", "Hello, world!",
    "Hello,world!How are you?", "I'm you're he'll they'd we've it's don't I'M YOU'RE HE'LL'S 's'S",
    "1234567890 12,345.67 1e-9 0x1F ½ ²³ Ⅻ \u0663\u0664\u0665 ①② ９８",
    "x=1;y=2;\nfor(int i=0;i<n;++i){a[i]+=b[i];}\n\n\treturn 0;\n",
    "def f(x):\n    return x ** 2  # square\n\n\nclass A:\n\tpass\n", "https://example.org/a?b=c&d=%20#frag",
    "user@example.org", "C:\\dir\\file.txt", "<html><body class=\"x\">é</body></html>", "naïve café Zürich Ångström",
    "nai\u0308ve cafe\u0301 Zu\u0308rich A\u030angstro\u0308m", "ẛ\u0323 \u0344 가 \u1100\u1161\u11a8", "ﬁ ﬂ ™ Ω Ω K",
    "中文分词测试，你好世界。", "日本語のテキスト、カタカナとひらがな。", "한국어 문장입니다.", "Привет, мир! Как дела?",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 \u0661\u0662\u0663",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "नमस्ते दुनिया", "สวัสดีชาวโลก", "Xin chào thế giới",
    "Γειά σου Κόσμε", "😀😃😄 👍🏽 👩\u200d👩\u200d👧\u200d👦 🇫🇷🇯🇵 ❤\ufe0f ☃",
    "a\xa0b\u2003c\u3000d\u2028e\u2029f\x85g\u200bh\ufeffi", "\x00\x01\x02\x1b[0m\x7f", "tab\tsep\t\tdouble", "trail   ",
    "   lead", "a\n\n\nb\n \n c\r\r\nd", "!!!???...,,,;;;:::---___***", "((([[[{{{}}}])))", " !a ?b .c", "$100 €200 £3 ¥4",
    "a-b_c.d,e;f:g", "<|endoftext|>", "text<|im_end|>more", "<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start", "|im_end|>", "<|IM_END|>", "𝕳𝖊𝖑𝖑𝖔 𐍈 𓀀", "\U0010ffff\ue000", "a" * 300, "ab" * 200, " " * 70, "\n" * 40,
    "0" * 65, "é" * 50, "In the beginning God created the heaven and the earth.",
    "supercalifragilisticexpialidocious antidisestablishmentarianism", "ﷺ ǅ ǆ ß ẞ İ ı ſ", "x\u0301\u0302\u0303y",
    "e\u0301\u0323", "a\u0328\u0301", "CamelCaseAndsnake_caseAndSCREAMING_CASE", "'s 't 're 've 'm 'll 'd 'S 'LL ſ's 'ſ",
]
POOLS: list[Pool] = [
    [(0x20, 0x7e)], [(0x20, 0x20), (0xa, 0xa), (0xd, 0xd), (0x9, 0x9), (0x61, 0x66)], [(0xa0, 0x24f)],
    [(0x300, 0x36f), (0x61, 0x7a), (0x20, 0x20)], [(0x370, 0x52f), (0x20, 0x20)], [(0x590, 0x6ff), (0x20, 0x20)],
    [(0x900, 0xdff), (0x20, 0x20)], [(0xe00, 0xfff), (0x1100, 0x11ff)], [(0x1e00, 0x1fff)],
    [(0x2000, 0x206f), (0x41, 0x5a), (0x30, 0x39)], [(0x2070, 0x2bff)], [(0x3000, 0x30ff), (0x4e00, 0x4eff)],
    [(0xac00, 0xacff), (0x20, 0x20)], [(0xf900, 0xfaff), (0xfb00, 0xfdff), (0xfe30, 0xffef)],
    [(0x1d400, 0x1d7ff), (0x10000, 0x100ff)], [(0x1f300, 0x1faff), (0x200d, 0x200d), (0xfe0f, 0xfe0f), (0x20, 0x20)],
    [(0x0, 0x1f), (0x7f, 0x9f), (0x61, 0x7a)],
]
# What versions of Unicode, and regex engines, differ in: spaces, contractions with the letters that fold to ASCII, Hangul, marks.
WIDE_POOLS: list[Pool] = [
    [(0x80, 0xd7ff)], [(0xe000, 0x1ffff)], [(0x20000, 0x323ff)], [(0x20, 0x10ffff)],
    [(c, c) for c in map(ord, "\t\n\v\f\r \x1c\x1f\x85\xa0\u1680\u180e\u2000\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeffx!")],
    [(c, c) for c in map(ord, "\'\'\'\u2019sSſtTrReEvVmMlLdDkK\u212a\ufb05\ufb06 x1")],
    [(0x1100, 0x1112), (0x1161, 0x1175), (0x11a7, 0x11c2), (0xac00, 0xd7a3)],
    [(c, c) for c in range(0x110000) if unicodedata.combining(chr(c))] + [(0x41, 0x7a), (0x1e00, 0x1fff)],
]


def random_texts(seed: int, n: int, pools: list[Pool] = POOLS) -> list[str]:
    """`n` texts, each over one to three of the pools."""
    rng = random.Random(seed)
    out: list[str] = []
    while len(out) < n:
        chosen = rng.sample(pools, rng.choice([1, 1, 2, 3]))
        text = ""
        for _ in range(rng.randrange(1, 48)):
            lo, hi = rng.choice(rng.choice(chosen))
            c = rng.randint(lo, hi)
            if not 0xD800 <= c <= 0xDFFF:
                text += chr(c) * rng.choice([1, 1, 1, 1, 2, 5])
        if rng.random() < 0.1:
            text += rng.choice(SPECIALS) + text[:3]
        out.append(text)
    return out


def edge_texts(tables: Path) -> list[str]:
    """Each end of a range in the engine's tables of Unicode's versions, and its neighbours, among letters and marks."""
    ranges = re.findall(r"\{(0x[0-9a-f]+), (0x[0-9a-f]+)", "".join(p.read_text() for p in sorted(tables.glob("*.inc"))))
    edges = {e for ends in ranges for end in ends for e in range(int(end, 16) - 1, int(end, 16) + 2)}
    chars = [chr(e) for e in sorted(edges) if not 0xD800 <= e <= 0xDFFF]
    return [f"a{c}b {c}1{c}\u0334a\u0301{c} {c}!{c}\u0307\uac00{c}" for c in chars]


def random_bytes(seed: int, n: int) -> list[bytes]:
    """Code points, cut short, overlong, surrogates, past the end, lone bytes: what a decoder of UTF-8 must replace."""
    rng = random.Random(seed)
    parts = [b"a", b" the", "é".encode(), "中".encode(), "😀".encode(), b"\xed\xa0\x80", b"\xed\xbf\xbf",
             b"\xc0\x80", b"\xe0\x80\x80", b"\xe0\x9f\xbf",
             b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5", b"\xff", b"\x80", b"\xbf", b"\xc1",
             b"\xf4\x8f\xbf\xbf", b"\xef\xbf\xbf", b"<|im_end|>"]
    out = [b"".join(p[:rng.randint(1, len(p))] if rng.random() < 0.3 else p for p in rng.choices(parts, k=rng.randint(1, 12)))
           for _ in range(n // 2)]
    return out + [rng.randbytes(rng.randint(1, 24)) for _ in range(n - n // 2)]
