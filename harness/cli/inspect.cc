#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "golden/output_rule.h"
#include "golden/printable.h"
#include "harness/cli/cli.h"
#include "harness/cli/inspect_files.h"
#include "harness/cli/values.h"
#include "harness/reports/report.h"
#include "harness/verdict/block_format.h"
#include "harness/verdict/element_text.h"
#include "harness/verdict/nearest.h"

namespace assay::cli {
namespace {

struct InspectOptions {
  std::string file;
  std::string case_name;
  std::int64_t values = 8;
  std::optional<std::int64_t> block;
};

std::string shape_text(const Array& array) {
  return fmt::format("{} [{}]", dtype_name(array.dtype), fmt::join(array.shape, ", "));
}

std::string first_values(const Array& array, std::int64_t count) {
  std::string out;
  if (is_block(array.dtype)) {
    return array.elements() == 0 || count == 0 ? out : " block 0: " + describe_block(array.dtype, array.bytes.data(), count);
  }
  for (std::int64_t i = 0; i < std::min(count, array.elements()); ++i) {
    out += " " + describe_element(array.dtype, array.bytes.data() + static_cast<std::size_t>(i) * dtype_size(array.dtype));
  }
  return out + (count < array.elements() ? " ..." : "");
}

// The whole of one block, of each block tensor that has it.
void print_block(const std::string& name, const Array& array, const InspectOptions& options) {
  if (!options.block || !is_block(array.dtype) || *options.block >= array.elements()) return;
  fmt::print("   block {} of {}\n{}", *options.block, name,
             block_listing(array.dtype, array.bytes.data() + static_cast<std::size_t>(*options.block) * dtype_size(array.dtype)));
}

void print_kept(const char* title, const std::map<std::string, Kept>& kept, const InspectOptions& options) {
  for (const auto& [name, one] : kept) {
    const std::string part = one.index.empty() ? "" : fmt::format(", of {} sampled elements", one.index.size());
    fmt::print("  {:<10}{:<12}{}{}\n   {}\n", title, name, shape_text(one.values), part,
               first_values(one.values, options.values));
    if (one.index.empty()) print_block(name, one.values, options);
  }
}

void print_case(const GoldenFile& file, const GoldenCase& one, const InspectOptions& options) {
  fmt::print("{} of {}\n  params    {}\n  tags      {}\n  status    {}\n", one.name, printable(file.op()),
             printable(one.params.to_string()), printable(fmt::format("{}", fmt::join(one.tags, " "))), printable(one.status));
  if (!one.note.empty()) fmt::print("  note      {}\n", printable(one.note));
  if (!one.source.empty()) fmt::print("  source    {}\n", printable(one.source));
  for (const auto& [name, array] : one.inputs) {
    const auto recipe = one.generated.find(name);
    const std::string made = recipe == one.generated.end()
                                 ? ""
                                 : fmt::format(", {} scale {} seed {} stream {}", printable(recipe->second.distribution.name),
                                               recipe->second.distribution.scale, recipe->second.seed, recipe->second.stream);
    fmt::print("  {:<10}{:<12}{}{}\n   {}\n", "input", name, shape_text(array), made, first_values(array, options.values));
    print_block(name, array, options);
  }
  print_kept("truth", one.truth, options);
  print_kept("canonical", one.canonical, options);
  for (const auto& [name, array] : one.parts) {
    fmt::print("  {:<10}{:<12}{}\n   {}\n", "part", name, shape_text(array), first_values(array, options.values));
  }
}

nlohmann::ordered_json attribute_json(const ParamValue& value) {
  return std::visit([](const auto& v) { return nlohmann::ordered_json(v); }, value);
}

nlohmann::ordered_json array_json(const Array& array, std::int64_t values) {
  return {{"dtype", dtype_name(array.dtype)}, {"shape", array.shape}, {"first", first_values(array, values)}};
}

nlohmann::ordered_json case_json(const GoldenFile& file, const GoldenCase& one, std::int64_t values) {
  nlohmann::ordered_json json = environment_json();
  json["file"] = file.path().string();
  json["op"] = file.op();
  json["case"] = one.name;
  json["tags"] = one.tags;
  json["status"] = one.status;
  json["note"] = one.note;
  for (const auto& [key, value] : one.params.values()) json["params"][key] = attribute_json(value);
  for (const auto& [name, array] : one.inputs) {
    json["inputs"][name] = array_json(array, values);
    const auto recipe = one.generated.find(name);
    if (recipe == one.generated.end()) continue;
    json["inputs"][name]["generated"] = {{"distribution", recipe->second.distribution.name},
                                         {"scale", recipe->second.distribution.scale},
                                         {"seed", recipe->second.seed},
                                         {"stream", recipe->second.stream}};
  }
  for (const auto& [name, kept] : one.truth) json["truth"][name] = array_json(kept.values, values);
  for (const auto& [name, kept] : one.canonical) json["canonical"][name] = array_json(kept.values, values);
  return json;
}

int inspect_case(const GoldenFile& file, const InspectOptions& options, const Common& common) {
  const auto names = file.case_names();
  if (std::find(names.begin(), names.end(), options.case_name) == names.end()) {
    throw std::invalid_argument(file.path().string() + ": " + unknown_name("case", options.case_name, names));
  }
  const GoldenCase one = file.read(options.case_name);
  if (common.json) {
    fmt::print("{}", json_text(case_json(file, one, options.values)));
  } else {
    print_case(file, one, options);
  }
  return kPass;
}

int inspect_file(const GoldenFile& file, const Common& common) {
  nlohmann::ordered_json json = environment_json();
  json["file"] = file.path().string();
  Table table({"case", "params", "tags", "status", "canonical"});
  if (!common.json) {
    for (const auto& [name, value] : file.attributes()) {
      fmt::print("{:<10} {}\n", name,
                 value.index() == 2 ? printable(std::get<std::string>(value)) : attribute_json(value).dump());
    }
    fmt::print("\n");
  }
  for (const auto& [name, value] : file.attributes()) json["attributes"][name] = attribute_json(value);
  for (const std::string& name : file.case_names()) {
    const GoldenCase one = file.read(name);
    table.add({name, printable(one.params.to_string()), printable(fmt::format("{}", fmt::join(one.tags, " "))),
               printable(one.status), one.canonical.empty() ? "" : "yes"});
    nlohmann::ordered_json entry{
        {"case", name}, {"tags", one.tags}, {"status", one.status}, {"canonical", !one.canonical.empty()}};
    for (const auto& [key, value] : one.params.values()) entry["params"][key] = attribute_json(value);
    json["cases"].push_back(entry);
  }
  fmt::print("{}", common.json ? json_text(json) : table.render(common.style()));
  return kPass;
}

}  // namespace

Action add_inspect(CLI::App& app, const Common& common) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a golden file, a trace or a model holds");
  command->add_option("file", options->file, "A golden file, a trace, a GGUF file or a Hugging Face folder")->required();
  command->add_option("--case", options->case_name, "Of a golden file: one case with its tensors");
  command->add_option("--values", options->values, "How many values of each tensor to show")->check(whole(0));
  command->add_option("--block", options->block, "A block of quantised tensors to show whole, by its flat index")
      ->check(whole(0));
  command->footer("Example: assay inspect golden/ops/rms_norm.h5 --case kjv_layer0_attn_norm");
  return [options, &common] {
    const std::string kind = file_kind(options->file);
    const bool model = std::filesystem::is_directory(options->file) || kind == kGgufModel;
    const bool trace = !model && kind == kHdf5File && Hdf5File(options->file).exists("/prompts");
    if ((model || trace) && (!options->case_name.empty() || options->block))
      throw std::invalid_argument(options->file + ": --case and --block are of golden files, and this is none");
    if (model) inspect_model(ModelFile(options->file), options->file, common);
    if (trace) inspect_trace(TraceFile(options->file), common);
    if (model || trace) return kPass;
    const GoldenFile file(options->file);
    return options->case_name.empty() ? inspect_file(file, common) : inspect_case(file, *options, common);
  };
}

}  // namespace assay::cli
