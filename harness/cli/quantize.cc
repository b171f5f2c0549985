#include "engine/convert/quantize.h"

#include <memory>

#include "harness/cli/cli.h"
#include "harness/cli/converted.h"
#include "harness/cli/model_options.h"

namespace assay::cli {
namespace {

struct QuantizeOptions {
  std::string model;
  std::string output;
  std::string type;
  int threads = 0;
};

int quantize_model(const QuantizeOptions& options, const Common& common) {
  const auto convert = [&](const ConvertProgress& progress) {
    return quantize({options.model, options.output, &find_target(options.type), thread_count(options.threads), progress});
  };
  report_conversion(options.output, convert, common);
  return kPass;
}

}  // namespace

Action add_quantize(CLI::App& app, const Common& common) {
  auto options = std::make_shared<QuantizeOptions>();
  CLI::App* command = app.add_subcommand("quantize", "Write a model as GGUF in another type");
  command->add_option("model", options->model, "A Hugging Face folder or a GGUF file, in f32, f16 or bf16")->required();
  command->add_option("-o,--output", options->output, "The GGUF file to write")->required();
  command->add_option("--type", options->type, target_words())->required();
  add_threads_option(*command, options->threads);
  command->footer("Example: assay quantize golden/models/kjv -o kjv-Q8_0.gguf --type q8_0");
  return [options, &common] { return quantize_model(*options, common); };
}

}  // namespace assay::cli
