"""What ONNX Runtime computes, as a trace: `python onnxruntime_trace.py MODEL OUT.h5 float32 1,2,3`. Or int8: dynamic quantisation, by tensor."""

import sys

import onnx
import onnxruntime
import torch
import transformers
from onnxruntime.quantization import quantize_dynamic

from assay.record import QWEN3, Head, Recording, onnx_sites

folder, out, dtype, ids = sys.argv[1], sys.argv[2], sys.argv[3], torch.tensor([[int(one) for one in sys.argv[4].split(",")]])
model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager", use_cache=False).eval()
torch.onnx.export(model, (ids,), f"{out}.onnx", input_names=["ids"], output_names=["lm_head"], external_data=False, verbose=False)
rotated = {f"layers.{{layer}}.{site}": "model.layers.{layer}.self_attn/Add" for site in ("q_rope", "k_rope")}
tensor_of = onnx_sites(onnx.load(f"{out}.onnx").graph, {**QWEN3, **rotated}, model.config.num_hidden_layers) | {"lm_head": "lm_head"}
if dtype == "int8":
    quantize_dynamic(f"{out}.onnx", f"{out}.onnx")
graph = onnx.load(f"{out}.onnx")
graph.graph.output.extend(onnx.ValueInfoProto(name=tensor) for tensor in tensor_of.values() if tensor != "lm_head")
values = onnxruntime.InferenceSession(graph.SerializeToString()).run(list(tensor_of.values()), {"ids": ids.numpy()})
sites = {site: value[0].swapaxes(0, 1) if site.endswith("_rope") else value[0] for site, value in zip(tensor_of, values, strict=True)}

Recording(Head("kjv", "bf16", recipe=f"onnxruntime-{dtype}", source="onnxruntime")).add("prompt", ids, sites, sites.pop("lm_head")).write(out)
