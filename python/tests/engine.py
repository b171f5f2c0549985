"""A Qwen3 in NumPy, in fp32, whose steps can be exchanged for wrong ones, and records itself: what an engine looks like that nobody prepared for."""

import sys

import ml_dtypes
import numpy as np

from assay.record import Head, Recording, layer_site

F = np.float32


def silu(g):
    return g / (1 + np.exp(-g))


def frequencies(theta, d):
    return F(1) / np.power(F(theta), np.arange(0, d, 2, dtype=F) / F(d))


class Engine:
    """A step is replaced by passing it by name."""

    def __init__(self, source, **steps):
        sys.path.insert(0, str(source / "golden/record"))
        from hf_model import load, theta_of

        self.config, weights = load(source / "golden/models/kjv")
        self.weights = {name: w.astype(F) for name, w in weights.items()}
        self.theta = theta_of(self.config)
        for name, step in steps.items():
            setattr(self, name, step)

    gate = staticmethod(silu)

    def weight(self, name):
        return self.weights[name]

    def embed(self, ids):
        return self.weight("model.embed_tokens.weight")[ids]

    def product(self, x, w):
        return x @ w.T

    def norm(self, x, w):
        return x * (1 / np.sqrt((x * x).mean(-1, keepdims=True, dtype=F) + F(self.config["rms_norm_eps"]))) * w

    q_norm = norm

    def angles(self, positions, d):
        return positions[:, None].astype(F) * frequencies(self.theta, d)

    def turn(self, x):
        a = self.angles(np.arange(len(x)), x.shape[-1])
        c, s = np.cos(a)[:, None], np.sin(a)[:, None]
        x0, x1 = np.split(x, 2, -1)
        return np.concatenate((x0 * c - x1 * s, x1 * c + x0 * s), -1)

    def mask(self, score):
        keys = np.arange(score.shape[-1])
        return np.where(keys <= keys[:, None], score, F(-np.inf))

    def scale(self, d):
        return F(1 / np.sqrt(d))

    def softmax(self, score):
        e = np.exp(score - score.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def attend(self, q, k, v):
        group = q.shape[1] // k.shape[1]
        k, v = (np.repeat(t, group, 1).transpose(1, 0, 2) for t in (k, v))
        score = self.mask(q.transpose(1, 0, 2) @ k.transpose(0, 2, 1) * self.scale(q.shape[-1]))
        return (self.softmax(score) @ v).transpose(1, 0, 2)

    def mlp_input(self, stream, residual):
        return residual

    def run(self, ids, path):
        config, sites = self.config, {}
        x = sites["embed"] = self.embed(ids)
        for i in range(config["num_hidden_layers"]):
            x = self.layer(x, i, sites)
        x = sites["final_norm"] = self.norm(x, self.weight("model.norm.weight"))
        head = Head("kjv", "bf16", recipe="hf-float32", source="NumPy")
        Recording(head).add("prompt", ids, sites, x @ self.weight("model.embed_tokens.weight").T).write(path)

    def layer(self, x, i, sites):
        d, p = self.config["head_dim"], f"model.layers.{i}."

        def keep(name, value):
            sites[layer_site(i, name)] = value
            return value

        def linear(name, y, part):
            return keep(name, self.product(y, self.weight(f"{p}{part}.{name}.weight")))

        y = keep("attn_norm", self.norm(x, self.weight(p + "input_layernorm.weight")))
        q, k, v = (linear(name, y, "self_attn").reshape(len(x), -1, d) for name in ("q_proj", "k_proj", "v_proj"))
        for name, value in (("q_proj", q), ("k_proj", k), ("v_proj", v)):
            sites[layer_site(i, name)] = value.reshape(len(x), -1)
        q = keep("q_norm", self.q_norm(q, self.weight(p + "self_attn.q_norm.weight")))
        k = keep("k_norm", self.norm(k, self.weight(p + "self_attn.k_norm.weight")))
        q, k = keep("q_rope", self.turn(q)), keep("k_rope", self.turn(k))
        a = keep("attn", self.attend(q, k, v).reshape(len(x), -1))
        residual = keep("attn_residual", x + linear("o_proj", a, "self_attn"))
        y = keep("ffn_norm", self.norm(self.mlp_input(x, residual), self.weight(p + "post_attention_layernorm.weight")))
        g, up = linear("gate_proj", y, "mlp"), linear("up_proj", y, "mlp")
        return keep("ffn_residual", residual + linear("down_proj", keep("swiglu", self.gate(g) * up), "mlp"))


def through(dtype):
    return lambda x: x.astype(dtype).astype(F)


f16, bf16 = through(np.float16), through(ml_dtypes.bfloat16)


def altered(engine, name, at, value):
    """The engine with one number of a weight changed."""
    engine.weights[name] = engine.weights[name].copy()
    engine.weights[name][at] = value
    return engine
