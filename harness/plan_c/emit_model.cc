#include "harness/plan_c/emit_model.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <vector>

#include "engine/plan/placement.h"
#include "harness/forensics/model/definition.h"
#include "harness/plan_c/emit_pass.h"
#include "harness/plan_c/wrapped.h"
#include "harness/version.h"

namespace assay {
namespace {

constexpr std::string_view kStart = R"(
const char* model_start(void) {
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
    *kernels[i].kernel = assay_find_kernel(kernels[i].op, NULL);
    if (*kernels[i].kernel == NULL) return kernels[i].op;
  }
  return NULL;
}

const float* model_decode(Run* run, const void* input) {
  begin(run, decode_buffers, input, 1);
)";
constexpr std::string_view kBetween = R"(  return end(run);
}

const float* model_prefill(Run* run, const void* input, int64_t rows) {
  begin(run, prefill_buffers, input, rows);
)";
constexpr std::string_view kEnd = R"(  return end(run);
}
)";

// A pass, run by one thread or by all.
std::string functions_text(bool openmp) {
  if (!openmp) return fmt::format("{}  decode(run);\n{}  prefill(run, rows);\n{}", kStart, kBetween, kEnd);
  constexpr std::string_view kByAll =
      "#pragma omp parallel\n"
      "  {{\n"
      "    Part part = part_of(run);\n"
      "    {}(&part{});\n"
      "    join(run, &part);\n"
      "  }}\n";
  constexpr std::string_view kNothingTaken = "  for (size_t i = 0; i < sizeof taken / sizeof *taken; ++i) taken[i] = 0;\n";
  return fmt::format("{}{}{}{}{}{}", kStart, fmt::format(kByAll, "decode", ""), kBetween, kNothingTaken,
                     fmt::format(kByAll, "prefill", ", rows"), kEnd);
}

std::string site_at(const Plan& plan, std::int64_t step) {
  return step < std::ssize(plan.steps) ? plan.steps[static_cast<std::size_t>(step)].site : "the end";
}

// A stranger's words, such as a model's name, as they may stand in a string (where ??/ is a backslash), a comment and JSON.
std::string harmless(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~' || std::string_view("\"\\*?").find(c) != std::string_view::npos) c = '_';
  }
  return text;
}

std::string kernels_text(const Plan& plan) {
  std::set<std::string> ops;
  for (const Step& step : plan.steps) ops.insert({step.decode->name, step.prefill->name});
  std::vector<std::string> variables;
  std::vector<std::string> rows;
  for (const std::string& op : ops) {
    variables.push_back("*" + op);
    rows.push_back(fmt::format("{{\"{0}\", &{0}}}", op));
  }
  return "/* Kernels, which model_start finds. */\n" + wrapped("static AssayKernel ", variables, ";", "    ") +
         "static const struct {\n  const char* op;\n  AssayKernel** kernel;\n} kernels[] = {\n" +
         wrapped("    ", rows, "};\n", "    ");
}

// Slots, then the cache.
std::string buffers_text(const Plan& plan, const CLayout& c, bool decode) {
  const SlotLayout& layout = decode ? plan.decode : plan.prefill;
  const auto lives = slot_lifetimes(plan);
  std::string text = fmt::format("static const Buffer {}_buffers[] = {{\n", decode ? "decode" : "prefill");
  for (std::size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& slot = plan.slots[i];
    const std::int64_t rows = slot.of_logits ? layout.logit_rows : layout.rows;
    text += fmt::format("    {{\"{}\", {}, {}, {}, \"{}\", \"{}\"}},\n", slot.name, layout.offsets[i],
                        slot_bytes(slot, layout) / rows, rows, site_at(plan, lives[i].front().first),
                        site_at(plan, lives[i].front().last));
  }
  // Written and read by steps that name their offsets; it is no site's.
  text += fmt::format("    {{\"kv\", {}, {}, {}, \"{}\", \"the end\"}},\n", c.cache, c.cache_bytes / plan.options.context,
                      plan.options.context, site_at(plan, 0));
  return text + "};\n\n";
}

std::string weights_text(const Plan& plan, const CLayout& c) {
  const std::vector<Region> regions = plan.regions();
  std::string text = "static const Weight weights[] = {\n";
  std::vector<std::int64_t> of_file;
  for (std::size_t i = 0; i < plan.weights.size(); ++i) {
    if (plan.weights[i].in_file) of_file.push_back(c.weights[i]);
  }
  std::size_t next = 0;
  for (const Region* const region : {&regions.front(), &regions.back()}) {
    for (const PlacedBuffer& one : region->buffers) {
      const std::int64_t offset = region == &regions.front() ? one.offset : of_file.at(next++);
      text += fmt::format("    {{\"{}\", \"{}\", {}, {}}},\n", one.name, one.type, offset, one.bytes);
    }
  }
  return text + "};\n\n";
}

std::string site_text(const std::string& site, const Operand& values) {
  return fmt::format("    {{\"{}\", {}, {}, {}, {}}},\n", site, values.slot, values.column * std::int64_t{sizeof(float)},
                     values.heads, values.width);
}

std::string sites_text(const Plan& plan, const CModel& model) {
  std::string text = "static const Site sites[] = {\n";
  const auto width = [&](int slot) { return plan.slots[static_cast<std::size_t>(slot)].width; };
  if (!model.input_site.empty()) text += site_text(model.input_site, {plan.tokens_slot, 0, 0, width(plan.tokens_slot)});
  for (const Step& step : plan.steps) {
    if (!step.outputs.empty() && !is_own_site(step.site)) text += site_text(step.site, step.outputs[0]);
  }
  return text + "};\n\n";
}

std::string constants_text(const Plan& plan, const CModel& model, const CLayout& c) {
  const auto slot = [&](int index) -> const Slot& { return plan.slots[static_cast<std::size_t>(index)]; };
  const auto quoted = [](const std::string& text) { return text.empty() ? "NULL" : '"' + harmless(text) + '"'; };
  std::vector<std::string> fields;
  const auto add = [&fields](const char* name, const auto& value) { fields.push_back(fmt::format(".{} = {}", name, value)); };
  add("name", quoted(model.name));
  add("weights_type", quoted(model.weights_type));
  add("sha256", quoted(model.sha256));
  add("rope", quoted(model.rope));
  add("layers", plan.config.layers);
  add("first_layer", c.first_layer);
  add("last_layer", c.last_layer);
  add("context", plan.options.context);
  add("chunk", plan.options.chunk);
  add("vocab", plan.config.vocab);
  add("arena_bytes", c.arena_bytes);
  add("weights_bytes", c.weight_bytes);
  add("weights_sha256", quoted(model.weights_sha256));
  add("input_site", quoted(model.input_site));
  add("output_site", quoted(model.output_site.empty() ? plan.steps.back().site : model.output_site));
  add("input_width", slot(plan.tokens_slot).width);
  add("output_width", slot(plan.logits_slot).width);
  add("input_buffer", plan.tokens_slot);
  add("positions_buffer", plan.positions_slot);
  add("output_buffer", plan.logits_slot);
  add("output_rows", slot(plan.logits_slot).of_logits ? plan.prefill.logit_rows : plan.prefill.rows);
  for (const char* const set : {"decode_buffers", "prefill_buffers"}) add(set, set);
  add("buffer_count", "sizeof decode_buffers / sizeof *decode_buffers");
  add("weights", "weights");
  add("weight_count", "sizeof weights / sizeof *weights");
  add("sites", "sites");
  add("site_count", "sizeof sites / sizeof *sites");
  return "const Model model = {\n" + wrapped("    ", fields, "};\n", "    ");
}

}  // namespace

std::string emit_model(const Plan& plan, const CLayout& layout, const CModel& model) {
  CallRecorder recorder(plan, layout);
  const ModelConfig& config = plan.config;
  std::string text = fmt::format(
      "/* {}, {}: {} layers, hidden {}, {} heads on {} of {}, ffn {}, vocabulary {}. Written by assay {} from its plan (assay "
      "plan --c):\n"
      "   a site for each step, and under it the calls of kernels that the engine makes. Numbers in A() are bytes from the "
      "beginning of\n"
      "   the arena, in W() of the weights; the others are sizes and strides as kernels/<family>/<family>.h has them. */\n"
      "#include \"passes.h\"\n"
      "#include \"steps.h\"\n\n",
      harmless(model.name), model.weights_type, config.layers, config.hidden, config.heads, config.kv_heads, config.head_dim,
      config.ffn, config.vocab, kVersion);
  text += kernels_text(plan);
  if (model.openmp)
    text += fmt::format("/* What is taken of each step in prefill. */\nstatic _Atomic int64_t taken[{}];\n\n", plan.steps.size());
  text += buffers_text(plan, layout, true) + buffers_text(plan, layout, false);
  text += weights_text(plan, layout) + sites_text(plan, model) + constants_text(plan, model, layout);
  text += emit_pass(recorder, plan, true, model.input_site, model.openmp) + "\n";
  text += emit_pass(recorder, plan, false, model.input_site, model.openmp);
  return text + functions_text(model.openmp);
}

}  // namespace assay
