#include "harness/plan_c/plan_c.h"

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>

#include "engine/plan/part.h"
#include "golden/new_folder.h"
#include "golden/sha256.h"
#include "harness/interop/import/foreign_run.h"
#include "harness/plan_c/emit_model.h"
#include "harness/plan_c/input_rows.h"
#include "harness/plan_c_files.h"

namespace assay {
namespace {

// The first 64 bytes of weights.bin, little-endian; runtime/files.c reads them.
struct WeightsHeader {
  std::array<char, 8> magic{'A', 'S', 'S', 'A', 'Y', 'W', 'T', 'S'};
  std::uint32_t version = 1;
  std::uint32_t zero = 0;
  std::uint64_t bytes = 0;
  std::array<std::uint8_t, 32> sha256{};
  std::uint64_t unused = 0;
};
static_assert(sizeof(WeightsHeader) == 64);

// As the engine has them in memory, and behind them what it reads in the model's file.
Mapping packed_weights(const Plan& plan, const CLayout& layout, const PlanCRequest& request) {
  Mapping data = Mapping::memory(layout.weight_bytes);
  auto* const begin = reinterpret_cast<std::uint8_t*>(data.begin());
  Team team(request.threads);
  load_weights(plan, begin, team, request.progress);
  for (std::size_t i = 0; i < plan.weights.size(); ++i) {
    if (plan.weights[i].in_file) std::ranges::copy(plan.weights[i].stored->bytes, begin + layout.weights[i]);
  }
  return data;
}

WeightsHeader header_of(std::span<const std::uint8_t> data, const std::string& digest) {
  WeightsHeader header;
  header.bytes = data.size();
  for (std::size_t i = 0; i < header.sha256.size(); ++i)
    header.sha256[i] = static_cast<std::uint8_t>(std::stoi(digest.substr(2 * i, 2), nullptr, 16));
  return header;
}

// What a trace of the program is to say of the model.
TraceHead head_of(const PlanCRequest& request) {
  TraceHead head;
  head.model = request.model.stem().string();
  head.recipe = "assay";
  head.rope = kRopeRecipes[request.options.rope];
  head.dtype = "float32";
  HeadOptions options;
  options.model_file = request.model.string();
  return complete_head(head, options, "plan", request.model.string());
}

std::string with_flag(std::string_view text, bool openmp) {
  constexpr std::string_view kMark = "@OPENMP@";
  std::string out(text);
  for (std::size_t at = out.find(kMark); at != std::string::npos; at = out.find(kMark)) {
    const bool space = !openmp && at > 0 && out[at - 1] == ' ';
    out.replace(at - (space ? 1 : 0), kMark.size() + (space ? 1 : 0), openmp ? "-fopenmp" : "");
  }
  return out;
}

void add_fixed_files(NewFolder& folder, bool openmp) {
  constexpr std::string_view kOther = "steps_openmp.h";
  for (const CFile& file : kPlanCFiles) {
    if (file.name == (openmp ? "steps.h" : kOther)) continue;
    folder.add(std::string(file.name == kOther ? "steps.h" : file.name), with_flag(file.text, openmp));
  }
}

}  // namespace

std::vector<std::filesystem::path> write_plan_c(const PlanCRequest& request) {
  if (request.options.kv_policy != "contiguous")
    throw std::invalid_argument("a program in C keeps a contiguous cache; expected --kv contiguous, not " +
                                request.options.kv_policy);
  const ModelFile file(request.model);
  check_surplus_head(file.weights());
  PlanOptions options = request.options;
  options.whole_last_layer = options.whole_last_layer || request.layers.has_value();
  PlanPart part{make_plan(file.config(), file.weights(), options), "", ""};
  if (request.layers) part = part_of(std::move(part.plan), request.layers->first, request.layers->second);
  NewFolder folder(request.folder);
  const TraceHead head = head_of(request);
  const CLayout layout = lay_out(part.plan);
  const Mapping weights = packed_weights(part.plan, layout, request);
  const std::span data(reinterpret_cast<const std::uint8_t*>(weights.begin()), static_cast<std::size_t>(layout.weight_bytes));
  const CModel model{.name = head.model,
                     .weights_type = head.weights,
                     .sha256 = head.model_sha256,
                     .rope = head.rope,
                     .weights_sha256 = sha256(data),
                     .input_site = part.input_site,
                     .output_site = part.output_site,
                     .openmp = request.openmp};
  const WeightsHeader header = header_of(data, model.weights_sha256);
  const std::string_view parts[] = {{reinterpret_cast<const char*>(&header), sizeof header},
                                    {reinterpret_cast<const char*>(data.data()), data.size()}};
  const std::string source = emit_model(part.plan, layout, model);
  folder.add("weights.bin", parts);  // what takes long first: before it is there, an interrupted run leaves an empty folder
  folder.add("model.c", source);
  add_fixed_files(folder, request.openmp);
  if (!request.input.empty())
    folder.add("input.safetensors", input_rows(request.input, request.prompt, part.input_site, file.config().hidden));
  return folder.keep();
}

}  // namespace assay
