"""Trains the small Qwen3 that ships with Assay: byte-level BPE and a few million weights, on the King James Version.

Reads the text with Debian's `bible` command (packages bible-kjv, bible-kjv-text: public domain text), trains the
tokenizer with `tokenizers` and the model with `transformers`' own Qwen3ForCausalLM, and writes the Hugging Face layout
(config.json, generation_config.json, tokenizer.json, tokenizer_config.json, model.safetensors in bf16, as Qwen3's own
checkpoints are). It records how golden/models/kjv came about; training anew gives another model.

    pip install torch transformers tokenizers safetensors ; apt-get install bible-kjv bible-kjv-text
    python train_kjv.py OUT [--minutes 40]
"""
from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import time
from pathlib import Path

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# The pre-tokenizer of Qwen2 and Qwen3, as their tokenizer.json states it.
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BASE_VOCAB = 4064  # before the special tokens; the embedding is padded past both, as Qwen3's is
MODEL_VOCAB = 4096


def chapters() -> list[str]:
    """The text, one string a chapter, one verse a line."""
    raw = subprocess.run(["bible", "-f", "gen1:1-rev22:21"], capture_output=True, check=True).stdout.decode("latin-1")
    out: list[list[str]] = []
    last = None
    for line in raw.splitlines():
        match = re.match(r"^(\d?\s?[A-Za-z]+?)(\d+):(\d+)\s+(.*)$", line.strip())
        if not match:
            continue
        book, chapter, _, verse = match.groups()
        if (book, chapter) != last:
            out.append([])
            last = (book, chapter)
        out[-1].append(verse)
    return ["\n".join(c) + "\n" for c in out]


def make_tokenizer(texts: list[str]) -> Tokenizer:
    tok = Tokenizer(models.BPE(byte_fallback=False))
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), behavior="isolated", invert=False),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tok.decoder = decoders.ByteLevel()
    tok.post_processor = processors.ByteLevel(trim_offsets=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=BASE_VOCAB, initial_alphabet=alphabet, show_progress=False))
    tok.add_special_tokens([AddedToken(s, special=True, normalized=False) for s in SPECIALS])
    return tok


def main() -> None:
    ap = argparse.ArgumentParser()
    ap.add_argument("out", type=Path)
    ap.add_argument("--minutes", type=float, default=40)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--length", type=int, default=512)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--probe", type=int, default=0, help="stop after this many steps")
    args = ap.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(20261121)

    texts = chapters()
    tok = make_tokenizer(texts)
    eot, im_end = tok.token_to_id(SPECIALS[0]), tok.token_to_id(SPECIALS[2])
    config = Qwen3Config(
        vocab_size=MODEL_VOCAB, hidden_size=256, intermediate_size=768, num_hidden_layers=6, num_attention_heads=4,
        num_key_value_heads=2, head_dim=128,
        max_position_embeddings=4096, rms_norm_eps=1e-6, rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
        tie_word_embeddings=True,
        attention_bias=False, bos_token_id=eot, eos_token_id=im_end, pad_token_id=eot, dtype="float32")
    model = Qwen3ForCausalLM(config)
    print(f"parameters {sum(p.numel() for p in model.parameters()):,}", flush=True)

    ids: list[int] = []
    for t in texts:
        ids += tok.encode(t).ids + [eot]
    data = torch.tensor(ids)
    held = data[-20000:]
    data = data[:-20000]
    print(f"tokens {len(data):,}", flush=True)

    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    opt = torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.95))
    gen = torch.Generator().manual_seed(1)
    start = time.time()
    step = 0
    while True:
        done = (time.time() - start) / (args.minutes * 60)
        if done >= 1 or (args.probe and step >= args.probe):
            break
        lr = args.lr * min(1.0, (step + 1) / 100) * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * done)))
        for group in opt.param_groups:
            group["lr"] = lr
        at = torch.randint(0, len(data) - args.length - 1, (args.batch,), generator=gen)
        x = torch.stack([data[i:i + args.length] for i in at])
        y = torch.stack([data[i + 1:i + args.length + 1] for i in at])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(input_ids=x, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), y.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        step += 1
        if step % 50 == 0 or step < 4:
            seconds = time.time() - start
            rate = step * args.batch * args.length / seconds
            print(f"step {step} loss {loss.item():.3f} lr {lr:.2e} {seconds:.0f} s {rate:.0f} tok/s", flush=True)

    model.eval()
    with torch.no_grad():
        blocks = held[: 39 * 512 + 1]
        losses = [torch.nn.functional.cross_entropy(model(input_ids=blocks[i:i + 512][None]).logits[0],
                                                    blocks[i + 1:i + 513]).item() for i in range(0, 39 * 512, 512)]
    print(f"held-out loss {sum(losses) / len(losses):.4f} after {step} steps", flush=True)

    model.to(torch.bfloat16).save_pretrained(args.out)
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, eos_token=SPECIALS[2], pad_token=SPECIALS[0],
                                   clean_up_tokenization_spaces=False, model_max_length=4096)
    fast.chat_template = (
        "{%- for message in messages %}{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>'"
        " + '\\n' }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}")
    fast.save_pretrained(args.out)
    (args.out / "training.json").write_text(json.dumps({
        "text": "King James Version, Debian packages bible-kjv and bible-kjv-text 4.38, public domain",
        "steps": step, "batch": args.batch,
        "length": args.length, "learning_rate": args.lr, "held_out_loss": sum(losses) / len(losses), "seed": 20261121},
        indent=2) + "\n")


if __name__ == "__main__":
    main()
