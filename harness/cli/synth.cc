#include "engine/convert/synth.h"

#include <memory>

#include "engine/convert/known_shapes.h"
#include "harness/cli/cli.h"
#include "harness/cli/converted.h"
#include "harness/cli/model_options.h"
#include "harness/cli/values.h"

namespace assay::cli {
namespace {

struct SynthOptions {
  std::string like;
  std::string output;
  std::string type;
  std::uint64_t seed = 1;
  std::int64_t vocab = 0;
  std::int64_t layers = 0;
  int threads = 0;
};

int synthesize_model(const SynthOptions& options, const Common& common) {
  SynthRequest request{
      known_shape(options.like), &find_target(options.type), options.output, options.seed, thread_count(options.threads), {}};
  request.config.name = "synth-" + request.config.name;
  if (options.vocab > 0) request.config.vocab = options.vocab;
  if (options.layers > 0) request.config.layers = options.layers;
  const auto convert = [&](const ConvertProgress& progress) {
    request.progress = progress;
    return synthesize(request);
  };
  report_conversion(options.output, convert, common);
  return kPass;
}

}  // namespace

Action add_synth(CLI::App& app, const Common& common) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command = app.add_subcommand("synth", "Write a model of a real shape with random weights, as GGUF");
  command->add_option("--like", options->like, "qwen3-0.6b, qwen3-1.7b, qwen3-4b, qwen3-8b, qwen3-14b or qwen3-32b")->required();
  command->add_option("--type", options->type, target_words())->required();
  command->add_option("-o,--output", options->output, "The GGUF file to write")->required();
  command->add_option("--seed", options->seed, "Other weights for another seed");
  command->add_option("--vocab", options->vocab, "Tokens; by default 151936")->check(whole(1));
  command->add_option("--layers", options->layers, "Layers; by default those of the shape")->check(whole(1, 1024));
  add_threads_option(*command, options->threads);
  command->footer("Example: assay synth --like qwen3-0.6b --type q4_k_m -o synth-0.6b.gguf");
  return [options, &common] { return synthesize_model(*options, common); };
}

}  // namespace assay::cli
