// Dumps of llama.cpp and of transformers become traces: the values of the traces that they were made from, which pass audit; what does
// not fit is refused by name and nothing is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/forensics/audit/audit.h"
#include "harness/interop/import/hf_dump.h"
#include "harness/interop/import/llama_dump.h"
#include "harness/verdict/suite.h"
#include "tests/import_support.h"
#include "tests/temporary.h"

namespace assay::import_test {
namespace {

std::filesystem::path committed(const std::string& name) {
  return own_golden() / "traces" / (name + ".h5");
}

std::filesystem::path model(const std::string& name) {
  return own_golden() / "models" / name;
}

LlamaDump quantised_dump() {
  return llama_dump(TraceFile(committed("kjv-llama-q4_k_m")), "genesis");
}

LlamaImport named(std::vector<std::int32_t> outputs = {}) {
  LlamaImport options;
  options.prompt = "genesis";
  options.outputs = std::move(outputs);
  options.head.model_name = "kjv";
  options.head.weights = "Q4_K_M";
  return options;
}

// Writes the dump, imports it into `folder`/t.h5.
ForeignRun bring_in(const LlamaDump& dump, const std::filesystem::path& folder, const LlamaImport& options) {
  dump.write(folder / "dump.h5");
  ForeignRun run = read_llama_dump(folder / "dump.h5", options);
  write_foreign_run(run, folder / "t.h5");
  return run;
}

void expect_passes_audit(const std::filesystem::path& trace_file, const std::string& model_name, std::int64_t at_least) {
  const ModelFile of(model(model_name));
  const TraceFile trace(trace_file);
  const AuditResult result = audit({&of, &trace, "", {}, definition_wiring(of.config())});
  EXPECT_TRUE(result.passed()) << audit_text(result, Style::plain());
  EXPECT_GE(result.count(SiteVerdict::right), at_least);
}

TEST(ImportLlama, NodesAreSites) {
  const auto site = [](const char* name, const char* op, const char* src0) {
    return llama_site({name, op, src0}).value_or("none");
  };
  EXPECT_EQ(site("Qcur-3", "MUL_MAT", "blk.3.attn_q.weight"), "layers.03.q_proj");
  EXPECT_EQ(site("Qcur-3", "ROPE", "Qcur_normed-3"), "layers.03.q_rope");
  EXPECT_EQ(site("Qcur-3", "RESHAPE", "Qcur-3"), "none");
  EXPECT_EQ(site("Qcur_normed-12", "MUL", "norm-12"), "layers.12.q_norm");
  EXPECT_EQ(site("Kcur-0", "ROPE", ""), "layers.00.k_rope");
  EXPECT_EQ(site("Vcur-0", "MUL_MAT", ""), "layers.00.v_proj");
  EXPECT_EQ(site("node_72", "MUL_MAT", "blk.1.attn_output.weight"), "layers.01.o_proj");
  EXPECT_EQ(site("node_72", "MUL_MAT", "blk.x.attn_output.weight"), "none");
  EXPECT_EQ(site("node_72", "ADD", "blk.1.attn_output.weight"), "none");
  EXPECT_EQ(site("ffn_swiglu-2", "GLU", ""), "layers.02.swiglu");
  EXPECT_EQ(site("ffn_swiglu-2", "SWIGLU", ""), "layers.02.swiglu");
  EXPECT_EQ(site("embd", "GET_ROWS", ""), "embed");
  EXPECT_EQ(site("inp_embd", "GET_ROWS", ""), "embed");
  EXPECT_EQ(site("result_norm", "MUL", "norm"), "final_norm");
  EXPECT_EQ(site("norm-3", "RMS_NORM", ""), "none");
  EXPECT_EQ(site("kqv_out-3", "MUL", ""), "none");
  EXPECT_EQ(site("l_out--1", "ADD", ""), "none");
  EXPECT_EQ(site("l_out-99999999999", "ADD", ""), "none");
}

TEST(ImportLlama, AGraphIsTheTraceItWasMadeFrom) {
  const TemporaryFolder folder;
  LlamaImport options = named();
  options.text = "In the beginning";
  options.head = {};
  options.head.model_file = model("kjv-Q4_K_M.gguf");
  const LlamaDump dump = quantised_dump();
  const ForeignRun run = bring_in(dump, folder.path(), options);
  const TraceFile trace(folder.path() / "t.h5");
  const TraceFile golden(committed("kjv-llama-q4_k_m"));
  expect_same_prompt(trace, golden, "genesis");
  for (const char* head : {"model", "weights", "model_sha256", "recipe", "rope", "dtype"}) {
    EXPECT_EQ(trace.head(head), golden.head(head)) << head;
  }
  EXPECT_EQ(trace.head("source"), "an engine of the tests");
  EXPECT_EQ(trace.head("generator"), "assay import llama.cpp");
  EXPECT_EQ(trace.prompt("genesis").text, "In the beginning");
  expect_passes_audit(folder.path() / "t.h5", "kjv-Q4_K_M.gguf", 105);

  // Every node is a site or left out, and the report says why.
  EXPECT_EQ(run.prompts[0].sites.size() - 1 + run.left_out.size(), dump.nodes.size());
  const std::string text = import_text(run, "t.h5", Style::plain());
  expect_mentions(
      text, {"t.h5: model kjv, weights Q4_K_M, recipe llama.cpp", "left out, 25: lies between two sites (nodes/0001 (norm-0",
             "left out, 18: a view of another node", "left out, 1: the site lm_head, which 'logits' has"});
  const nlohmann::ordered_json json = import_json(run, "t.h5");
  EXPECT_EQ(json["prompts"][0]["sites"].size(), 105U);
  EXPECT_EQ(json["left_out"].size(), run.left_out.size());
  expect_mentions(json.dump(), {"number 3 of that name and op"});
}

TEST(ImportLlama, OneTokenHasHeadsToo) {
  const TemporaryFolder folder;
  LlamaDump dump = quantised_dump();
  dump.tokens.resize(1);
  for (DumpedNode& node : dump.nodes) {
    std::int64_t& rows = node.ne[2] > 1 ? node.ne[2] : node.ne[1];
    node.values.resize(node.values.size() / static_cast<std::size_t>(rows));
    rows = 1;
  }
  dump.logits.resize(static_cast<std::size_t>(dump.vocab));
  bring_in(dump, folder.path(), named());
  const TraceFile trace(folder.path() / "t.h5");
  EXPECT_EQ(trace.site(trace.prompt("genesis"), "layers.05.q_rope").shape, (std::vector<std::int64_t>{1, 4, 128}));
}

// The last layer as llama.cpp leaves it when the logits of few positions are asked for.
LlamaDump cut_dump(const std::vector<std::int32_t>& outputs) {
  LlamaDump dump = quantised_dump();
  bool cut = false;
  for (DumpedNode& node : dump.nodes) {
    cut = cut || node.name == "ffn_inp-5";
    if (!cut) continue;
    const auto width = static_cast<std::size_t>(node.ne[0]);
    std::vector<float> kept;
    for (const std::int32_t row : outputs) {
      const auto from = node.values.begin() + row * static_cast<std::ptrdiff_t>(width);
      kept.insert(kept.end(), from, from + static_cast<std::ptrdiff_t>(width));
    }
    node.values = kept;
    node.ne[1] = std::ssize(outputs);
  }
  dump.logits = dump.nodes.back().values;
  return dump;
}

TEST(ImportLlama, RowsOfTheLastLayerNeedTheirPositions) {
  const TemporaryFolder folder;
  const std::vector<std::int32_t> outputs{3, 13};
  const LlamaDump dump = cut_dump(outputs);
  dump.write(folder.path() / "dump.h5");
  expect_mentions(message_of([&] { read_llama_dump(folder.path() / "dump.h5", named()); }),
                  {"dump.h5: nodes/", "(ffn_inp-5 ADD): 2 rows of 14 tokens", "--outputs"});
  expect_mentions(message_of([&] { read_llama_dump(folder.path() / "dump.h5", named({13})); }),
                  {"(ffn_inp-5 ADD): 2 rows of 14"});
  expect_mentions(message_of([&] {
                    read_llama_dump(folder.path() / "dump.h5", named({13, 3}));
                  }),
                  {"dump.h5: positions", "ascending"});

  bring_in(dump, folder.path(), named(outputs));
  const TraceFile trace(folder.path() / "t.h5");
  const TraceFile golden(committed("kjv-llama-q4_k_m"));
  const TracePrompt prompt = trace.prompt("genesis");
  EXPECT_EQ(prompt.positions, outputs);
  for (const std::string& site : prompt.sites) {
    const Array kept = trace.site(prompt, site);
    const Array all = golden.site(golden.prompt("genesis"), site);
    const std::int64_t width = all.elements() / 14;
    for (std::size_t row = 0; row < outputs.size(); ++row) {
      const float* expected = all.as<float>() + outputs[row] * width;
      EXPECT_TRUE(std::equal(expected, expected + width, kept.as<float>() + static_cast<std::int64_t>(row) * width)) << site;
    }
  }
  expect_passes_audit(folder.path() / "t.h5", "kjv-Q4_K_M.gguf", 99);  // all but attention, whose keys are not all there
}

TEST(ImportLlama, RefusalsNameTheNodeAndNothingIsWritten) {
  struct Refusal {
    std::vector<std::string> mentions;
    std::function<void(LlamaDump&)> spoil;
  };
  const auto remove = [](LlamaDump& dump, const std::string& name) {
    std::erase_if(dump.nodes, [&](const DumpedNode& node) { return node.src0 == name || node.name == name; });
  };
  const Refusal refusals[] = {
      {{"dump.h5: genesis: nothing there is the site layers.02.o_proj"},
       [&](LlamaDump& d) { remove(d, "blk.2.attn_output.weight"); }},
      {{"nothing there is the site embed"}, [&](LlamaDump& d) { remove(d, "embd"); }},
      {{"nothing there is the site layers.05.ffn_residual"}, [&](LlamaDump& d) { remove(d, "l_out-5"); }},
      {{"(Qcur-1 ROPE, number 2 of that name and op): site layers.01.q_rope is nodes/", "(Qcur-1 ROPE) already"},
       [](LlamaDump& d) { d.nodes.push_back(d.node("Qcur-1", "ROPE")); }},
      {{"(ffn_swiglu-1 GLU): site layers.01.swiglu is nodes/"},
       [](LlamaDump& d) {
         d.nodes.push_back(d.node("ffn_swiglu-1", "SWIGLU"));
         d.nodes.back().op = "GLU";
       }},
      {{"(Qcur-1 MUL_MAT): ne [128, 4, 14, 1] of site layers.01.q_proj: expected [features, rows, 1, 1]"},
       [](LlamaDump& d) {
         d.node("Qcur-1", "MUL_MAT").ne = {128, 4, 14, 1};
       }},
      {{"(Qcur_normed-1 MUL): ne [128, 4, 7, 2] of site layers.01.q_norm: expected [head_dim, heads, rows, 1]"},
       [](LlamaDump& d) {
         d.node("Qcur_normed-1", "MUL").ne = {128, 4, 7, 2};
       }},
      {{"(Vcur-4 MUL_MAT): 13 rows of 14 tokens"},
       [](LlamaDump& d) {
         DumpedNode& node = d.node("Vcur-4", "MUL_MAT");
         node.ne[1] = 13;
         node.values.resize(13 * 256);
       }},
      {{"(Vcur-4 MUL_MAT): ne [256, 14] of site layers.04.v_proj: expected four numbers"},
       [](LlamaDump& d) {
         d.node("Vcur-4", "MUL_MAT").ne = {256, 14};
       }},
      {{"logits: 13 rows of 14 tokens"}, [](LlamaDump& d) { d.logits.resize(d.logits.size() / 14 * 13); }},
      {{"dump.h5: tokens: a negative id"}, [](LlamaDump& d) { d.tokens[3] = -1; }},
  };
  for (const Refusal& refusal : refusals) {
    const TemporaryFolder folder;
    LlamaDump dump = quantised_dump();
    refusal.spoil(dump);
    expect_mentions(message_of([&] { bring_in(dump, folder.path(), named()); }), refusal.mentions);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "t.h5"));
  }
}

TEST(ImportLlama, TheHeadIsGivenOrAskedFor) {
  const TemporaryFolder folder;
  quantised_dump().write(folder.path() / "dump.h5");
  const auto message = [&](const std::function<void(HeadOptions&)>& change) {
    LlamaImport options = named();
    change(options.head);
    return message_of([&] { read_llama_dump(folder.path() / "dump.h5", options); });
  };
  expect_mentions(message([](HeadOptions& head) { head.model_name.clear(); }), {"dump.h5: which model", "--model-name"});
  expect_mentions(message([](HeadOptions& head) { head.weights.clear(); }), {"dump.h5: of which type", "--weights"});
  expect_mentions(message([](HeadOptions& head) { head.recipe = "lama.cpp"; }), {"'lama.cpp'", "llama.cpp"});
  expect_mentions(message([](HeadOptions& head) { head.rope = "f32"; }), {"unknown rope 'f32'"});
  EXPECT_NO_THROW(read_llama_dump(folder.path() / "dump.h5", named()));
}

bool as_it_is(const std::string&, Array&) {
  return true;
}

TEST(ImportHf, PromptsAreTheTraceTheyWereMadeFrom) {
  for (const char* name : {"kjv-hf-bf16", "kjv-f64"}) {
    const TemporaryFolder folder;
    const TraceFile golden(committed(name));
    write_hf_dump(folder.path() / "dump.h5", golden, {"psalm", "one_token"}, as_it_is);
    HfImport options;
    options.head.model_file = model("kjv");
    write_foreign_run(read_hf_dump(folder.path() / "dump.h5", options), folder.path() / "t.h5");
    const TraceFile trace(folder.path() / "t.h5");
    EXPECT_EQ(trace.prompts(), (std::vector<std::string>{"one_token", "psalm"}));
    for (const char* head : {"model", "weights", "model_sha256", "recipe", "rope", "dtype"}) {
      EXPECT_EQ(trace.head(head), golden.head(head)) << head;
    }
    for (const std::string& prompt : trace.prompts()) {
      expect_same_prompt(trace, golden, prompt);
      EXPECT_EQ(trace.prompt(prompt).text, golden.prompt(prompt).text);
    }
    const auto greedy = golden.prompt("psalm").greedy;
    EXPECT_EQ(trace.prompt("psalm").greedy.has_value(), greedy.has_value());
    if (greedy) {
      EXPECT_EQ(trace.prompt("psalm").greedy->tokens, greedy->tokens);
      EXPECT_EQ(trace.prompt("psalm").greedy->gap, greedy->gap);
    }
    expect_passes_audit(folder.path() / "t.h5", "kjv", 204);
  }
}

TEST(ImportHf, PromptsAreChosen) {
  const TemporaryFolder folder;
  write_hf_dump(folder.path() / "dump.h5", TraceFile(committed("kjv-hf-f32")), {"psalm", "one_token"}, as_it_is);
  HfImport options;
  options.head.weights = "bf16";
  options.prompts = {"one_token"};
  const ForeignRun run = read_hf_dump(folder.path() / "dump.h5", options);
  EXPECT_EQ(run.prompts.size(), 1U);
  ASSERT_EQ(run.left_out.size(), 1U);
  EXPECT_EQ(run.left_out[0].what, "/psalm");
  EXPECT_EQ(run.head.model_sha256, "unknown");
  options.prompts = {"psalms"};
  expect_mentions(message_of([&] { read_hf_dump(folder.path() / "dump.h5", options); }), {"'psalms'", "'psalm'"});
}

TEST(ImportHf, RefusalsNameTheDatasetAndNothingIsWritten) {
  struct Refusal {
    std::string dataset;
    std::function<bool(Array&)> spoil;
    std::vector<std::string> mentions;
  };
  const auto shape = [](std::vector<std::int64_t> dims) {
    return [dims](Array& values) {
      values.shape = dims;
      values.bytes.resize(static_cast<std::size_t>(values.elements()) * dtype_size(values.dtype));
      return true;
    };
  };
  const auto leave_out = [](Array&) { return false; };
  const Refusal refusals[] = {
      {"/psalm/sites/layers.01.attn", leave_out, {"dump.h5: psalm: nothing there is the site layers.01.attn"}},
      {"/psalm/logits", leave_out, {"dump.h5: /psalm/logits: there is no such object"}},
      {"/psalm/positions", leave_out, {"dump.h5: /psalm/positions"}},
      {"/psalm/sites/layers.01.q_rope",
       shape({4, 512}),
       {"/psalm/sites/layers.01.q_rope: shape [4, 512]: expected [row, head, head_dim]"}},
      {"/psalm/sites/layers.01.q_proj", shape({4, 4, 128}), {"layers.01.q_proj: shape [4, 4, 128]: expected [row, feature]"}},
      {"/psalm/sites/layers.01.q_proj", shape({3, 512}), {"layers.01.q_proj: shape [3, 512]: 3 rows; 'positions' has 4"}},
      {"/psalm/tokens", shape({5}), {"dump.h5: /psalm/positions: position 10 is not ascending within the 5 tokens"}},
      {"/psalm/greedy/gap", shape({7}), {"/psalm/greedy/gap: expected 200 of f32"}},
  };
  const TraceFile golden(committed("kjv-hf-f32"));
  for (const Refusal& refusal : refusals) {
    const TemporaryFolder folder;
    write_hf_dump(folder.path() / "dump.h5", golden, {"psalm"},
                  [&](const std::string& dataset, Array& values) { return dataset != refusal.dataset || refusal.spoil(values); });
    HfImport options;
    options.head.weights = "bf16";
    expect_mentions(
        message_of([&] { write_foreign_run(read_hf_dump(folder.path() / "dump.h5", options), folder.path() / "t.h5"); }),
        refusal.mentions);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "t.h5"));
  }
}

TEST(ImportCommand, ExitCodesAndReport) {
  const char* program = std::getenv("ASSAY_PROGRAM");
  if (program == nullptr) GTEST_SKIP() << "ASSAY_PROGRAM names no program";
  const TemporaryFolder folder;
  const std::string dump = (folder.path() / "dump.h5").string();
  const std::string out = (folder.path() / "t.h5").string();
  cut_dump({13}).write(dump);
  const auto run = [&](const std::string& arguments) {
    const std::string command = std::string(program) + " import " + arguments + " > " + out + ".txt 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  };
  const std::string llama = "llama.cpp " + dump + " -o " + out + " --model-name kjv --weights Q4_K_M ";
  EXPECT_EQ(run(llama), 2);
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_EQ(run(llama + "--outputs 13 --json"), 0);
  EXPECT_TRUE(std::filesystem::exists(out));
  EXPECT_EQ(run(llama + "--outputs 13.."), 2);
  EXPECT_EQ(run("llama.cpp " + dump + " -o " + dump + " --model-name kjv --weights Q4_K_M --outputs 13"), 2);
  EXPECT_EQ(run("hf " + dump + " -o " + out + " --weights bf16"), 2);
  EXPECT_EQ(run("onnx " + dump), 2);
}

}  // namespace
}  // namespace assay::import_test
