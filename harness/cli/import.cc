#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>

#include "engine/model/config.h"
#include "harness/cli/cli.h"
#include "harness/interop/import/array_map.h"
#include "harness/interop/import/hf_dump.h"
#include "harness/interop/import/llama_dump.h"
#include "harness/reports/report.h"

namespace assay::cli {
namespace {

struct ImportOptions {
  std::string dump;
  std::string output;
  std::string map;
  std::string prompt = "prompt";
  std::vector<std::string> prompts;
  std::string text;
  std::string outputs;
  HeadOptions head;
};

// "13", "0,5,13", "4..7".
std::vector<std::int32_t> parse_positions(const std::string& text) {
  std::vector<std::int32_t> out;
  const auto number = [&](std::string_view part) {
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error == std::errc() && end == part.data() + part.size() && value >= 0 && value < kMostPositions) return value;
    throw std::invalid_argument(fmt::format("--outputs '{}': expected positions as in 13, 0,5,13 or 4..7", text));
  };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = std::string_view(text).substr(begin, end - begin);
    const std::size_t dots = part.find("..");
    const std::int32_t first = number(part.substr(0, dots));
    const std::int32_t last = dots == std::string_view::npos ? first : number(part.substr(dots + 2));
    for (std::int32_t position = first; position <= last; ++position) out.push_back(position);
    begin = end + 1;
  }
  return out;
}

int finish(const ForeignRun& run, const ImportOptions& options, const Common& common) {
  write_foreign_run(run, options.output);
  if (common.json) {
    fmt::print("{}", json_text(import_json(run, options.output)));
  } else {
    fmt::print("{}", import_text(run, options.output, common.style()));
  }
  return kPass;
}

CLI::App* add_kind(CLI::App& command, const std::string& name, const std::string& description, ImportOptions& options) {
  CLI::App* kind = command.add_subcommand(name, description);
  kind->add_option("dump", options.dump, "The file that the other engine's run was written to")->required();
  kind->add_option("-o,--output", options.output, "The trace to write, an .h5 file")->required();
  return kind;
}

void add_head_options(CLI::App& kind, HeadOptions& head) {
  kind.add_option("--model", head.model_file,
                  "The model that was run, a GGUF file or a Hugging Face folder: its name, type of weights and sha256");
  kind.add_option("--model-name", head.model_name, "What the model is called");
  kind.add_option("--weights", head.weights, "Type of the weights that were run: bf16, f16, Q8_0, Q4_K_M, ...");
  kind.add_option("--recipe", head.recipe,
                  "Which engine's roundings: definition, hf, llama.cpp, assay; by default the dump's kind");
  kind.add_option("--rope", head.rope, "Recipe of the rope table: f64, hf, ggml, freqs; by default the dump's kind");
  kind.add_option("--source", head.source, "Which program in which version; by default what the dump says");
  kind.add_option("--licence", head.licence, "Of the values");
}

}  // namespace

Action add_import(CLI::App& app, const Common& common) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = app.add_subcommand("import", "Convert another engine's dump of a run into a trace");
  command->require_subcommand(1);
  command->footer("Example: assay import llama.cpp dump.h5 -o theirs.h5 --model kjv-Q4_K_M.gguf");

  CLI::App* llama = add_kind(*command, "llama.cpp", "Nodes of llama.cpp's graph, an HDF5 file", *options);
  add_head_options(*llama, options->head);
  llama->add_option("--prompt", options->prompt, "What the run is called in the trace");
  llama->add_option("--text", options->text, "The text that was run");
  llama->add_option("--outputs", options->outputs,
                    "Positions whose logits were asked for, where the last layer holds those rows alone: 13, 0,5,13 or 4..7");
  llama->footer("Example: assay import llama.cpp dump.h5 -o theirs.h5 --model kjv-Q4_K_M.gguf --prompt genesis");

  CLI::App* hf = add_kind(*command, "hf", "Sites that hooks in transformers saw, an HDF5 file", *options);
  add_head_options(*hf, options->head);
  hf->add_option("--prompt", options->prompts, "A prompt of the dump; by default all; repeatable");
  hf->footer("Example: assay import hf dump.h5 -o theirs.h5 --model golden/models/kjv");

  CLI::App* npz = add_kind(*command, "npz", "Arrays of any engine, NumPy's .npz", *options);
  CLI::App* safetensors = add_kind(*command, "safetensors", "Arrays of any engine, a safetensors file", *options);
  for (CLI::App* kind : {npz, safetensors}) {
    kind->add_option("--map", options->map, "Which array is which site, in which layout: JSON (docs/traces.md)")->required();
    kind->footer("Example: assay import " + kind->get_name() + " run." + kind->get_name() + " --map map.json -o theirs.h5");
  }
  return [options, &common, llama, hf, npz] {
    if (llama->parsed()) {
      const LlamaImport settings{options->prompt, options->text, parse_positions(options->outputs), options->head};
      return finish(read_llama_dump(options->dump, settings), *options, common);
    }
    if (hf->parsed()) return finish(read_hf_dump(options->dump, {options->prompts, options->head}), *options, common);
    const bool zipped = npz->parsed();
    const std::shared_ptr<const ArrayFile> arrays = zipped ? open_npz(options->dump) : open_safetensors(options->dump);
    return finish(read_mapped_arrays(arrays, read_array_map(options->map), zipped ? "npz" : "safetensors"), *options, common);
  };
}

}  // namespace assay::cli
