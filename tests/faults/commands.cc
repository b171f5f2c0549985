#include "tests/faults/commands.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/verdict/suite.h"
#include "tests/import_support.h"

namespace assay::faults {
namespace fs = std::filesystem;
namespace {

// A folder of data with the goldens of one op, for ASSAY_DATA.
fs::path small_data(const fs::path& folder, const std::string& op) {
  fs::create_directories(folder / "golden" / "ops");
  const std::string names[] = {"ops/" + op + ".h5", "ledger.json", "MANIFEST.json"};
  for (const std::string& name : names) fs::copy_file(own_golden() / name, folder / "golden" / name);
  return folder;
}

void prepare(const std::vector<std::string>& arguments) {
  const Ran ran = run_assay(arguments);
  if (ran.status != 0) throw std::runtime_error(arguments[0] + ": " + ran.err);
}

fs::path trace_file(const fs::path& folder) {
  fs::path file = folder / "whole.h5";
  if (!fs::exists(file)) {
    prepare({"trace", "-p", "In the beginning", "-o", file, "--threads", "1", "--sites", "layers.00.attn*", "--sites", "embed",
             "--sites", "layers.00.q_proj"});
  }
  return file;
}

}  // namespace

void write_content(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::vector<Command> readers(const fs::path& folder) {
  const fs::path data = small_data(folder / "data", "argmax");
  const fs::path model = folder / "kjv";
  fs::copy(own_golden() / "models" / "kjv", model);
  const fs::path gguf = folder / "model.gguf";
  prepare({"quantize", model, "-o", gguf, "--type", "q8_0", "--threads", "1"});
  const fs::path trace = trace_file(folder);
  fs::copy_file(trace, folder / "ours.h5");
  write_content(folder / "text.txt", "In the beginning God created the heaven and the earth.\n");
  const std::vector<std::string> isa{"check", "argmax", "--isa", "scalar", "--seed", "1", "--json"};
  const Ran checked = run_assay(isa);
  write_content(folder / "part.json", checked.out);
  const std::vector<std::string> here{"ASSAY_DATA=" + data.string()};
  const auto run = [](const fs::path& of) {
    return std::vector<std::string>{"run", of, "-p", "And", "-n", "1", "--threads", "1"};
  };
  return {
      {"inspect", {"inspect", data / "golden" / "ops" / "argmax.h5"}, data / "golden" / "ops" / "argmax.h5"},
      {"check", {"check", "argmax", "--isa", "scalar", "--seed", "1"}, data / "golden" / "ops" / "argmax.h5", here},
      {"check by the ledger", {"check", "argmax", "--isa", "scalar", "--seed", "1"}, data / "golden" / "ledger.json", here},
      {"check by the manifest", {"check", "argmax", "--isa", "scalar", "--seed", "1"}, data / "golden" / "MANIFEST.json", here},
      {"ledger show", {"ledger", "show", "argmax"}, data / "golden" / "ledger.json", here},
      {"plan", {"plan", gguf}, gguf},
      {"run a GGUF file", run(gguf), gguf},
      {"run a folder", run(model), model / "model.safetensors"},
      {"run by a config", run(model), model / "config.json"},
      {"run by a tokenizer", run(model), model / "tokenizer.json"},
      {"diff", {"diff", folder / "ours.h5", trace, "--brief"}, folder / "ours.h5"},
      {"eval a text", {"eval", gguf, folder / "text.txt", "--threads", "1"}, folder / "text.txt"},
      {"eval against a model", {"eval", gguf, folder / "text.txt", "--against", gguf, "--threads", "1"}, gguf},
      {"report", {"report", folder / "part.json"}, folder / "part.json"},
  };
}

std::vector<Command> writers(const fs::path& folder) {
  const auto out = [&](const char* name) {
    const fs::path own = folder / name / "out";
    fs::create_directories(own);
    return own / name;
  };
  const std::string model = own_golden() / "models" / "kjv";
  const TraceFile golden(own_golden() / "traces" / "kjv-hf-f32.h5");
  const fs::path dump = folder / "dump.h5";
  write_hf_dump(dump, golden, {golden.prompts().front()}, [](const std::string&, Array&) { return true; });
  const fs::path data = small_data(folder / "ledger" / "out", "argmax");
  const fs::path ledger = data / "golden" / "ledger.json";
  nlohmann::ordered_json without = nlohmann::ordered_json::parse(file_bytes(ledger));
  without["digests"].erase("argmax");
  write_content(ledger, without.dump(1) + "\n");
  const fs::path trace = trace_file(folder);
  const fs::path traced = out("t.h5");
  const fs::path quantized = out("q.gguf");
  const fs::path synthetic = out("s.gguf");
  const fs::path imported = out("i.h5");
  const fs::path extracted = out("case.h5");
  const fs::path page = out("page.html");
  const fs::path words = out("words");
  std::vector<Command> all{
      {"trace",
       {"trace", "-p", "In the beginning", "-o", traced, "--sites", "layers.0*.attn*", "--sites", "final_norm", "--threads", "1"},
       traced},
      {"ledger accept", {"ledger", "accept", "argmax", "--why", "first"}, ledger, {"ASSAY_DATA=" + data.string()}},
      {"quantize", {"quantize", model, "-o", quantized, "--type", "q4_0", "--threads", "1"}, quantized},
      {"synth",
       {"synth", "--like", "qwen3-0.6b", "--layers", "1", "--vocab", "512", "--type", "q4_0", "-o", synthetic, "--threads", "1"},
       synthetic},
      {"import", {"import", "hf", dump, "-o", imported, "--model", model, "--licence", "none"}, imported},
      {"extract", {"extract", trace, "layers.00.q_proj", "-o", extracted}, extracted},
      {"diff", {"diff", trace, trace, "--brief", "--html", page}, page},
      {"completion", {"completion", "bash", "-o", words}, words},
  };
  for (Command& one : all) one.arguments.emplace_back("--force");  // the old file is a text
  return all;
}

std::vector<std::string> environment_of(const Command& command, const std::string& fault, const fs::path& met) {
  std::vector<std::string> all(command.environment);
  all.push_back("LD_PRELOAD=" + std::string(std::getenv("ASSAY_FAULTY_IO")));
  all.push_back("ASSAY_FAULT=" + fault);
  all.push_back("ASSAY_FAULT_MET=" + met.string());
#if defined(__SANITIZE_ADDRESS__)
  const char* const options = std::getenv("ASAN_OPTIONS");  // which insists on being the first library otherwise
  all.push_back("ASAN_OPTIONS=" + std::string(options == nullptr ? "" : options) + ":verify_asan_link_order=0");
#endif
  return all;
}

}  // namespace assay::faults
