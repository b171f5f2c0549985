"""What OpenVINO computes on this CPU, as a trace: `python openvino_trace.py MODEL OUT.h5 default 1,2,3`. Or f32: its default is bf16 where the CPU has that."""

import sys

import onnx
import openvino
import torch
import transformers

from assay.record import QWEN3, Head, Recording, onnx_sites

folder, out, dtype, ids = sys.argv[1], sys.argv[2], sys.argv[3], torch.tensor([[int(one) for one in sys.argv[4].split(",")]])
model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager", use_cache=False).eval()
torch.onnx.export(model, (ids,), f"{out}.onnx", input_names=["ids"], output_names=["lm_head"], external_data=False, verbose=False)
rotated = {f"layers.{{layer}}.{site}": "model.layers.{layer}.self_attn/Add" for site in ("q_rope", "k_rope")}
tensor_of = onnx_sites(onnx.load(f"{out}.onnx").graph, {**QWEN3, **rotated}, model.config.num_hidden_layers)

graph = openvino.Core().read_model(f"{out}.onnx")
graph.add_outputs(list(tensor_of.values()))
compiled = openvino.compile_model(graph, "CPU", {} if dtype == "default" else {"INFERENCE_PRECISION_HINT": dtype})
values = compiled(ids.numpy())
sites = {site: values[tensor][0].swapaxes(0, 1) if site.endswith("_rope") else values[tensor][0] for site, tensor in tensor_of.items()}

used = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
Recording(Head("kjv", "bf16", recipe=f"openvino-{used}", source="openvino")).add("prompt", ids, sites, values["lm_head"][0]).write(out)
