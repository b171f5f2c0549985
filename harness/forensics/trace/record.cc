#include "harness/forensics/trace/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <numeric>

#include "engine/run/site_rows.h"
#include "harness/forensics/audit/judge.h"
#include "harness/forensics/model/wiring.h"
#include "harness/forensics/sites/site_name.h"
#include "harness/forensics/trace/model_digest.h"
#include "harness/version.h"

namespace assay {
namespace {

// What a step's output is to the trace: dtype and shape of a row.
TraceSite site_of_step(const Plan& plan, std::size_t index) {
  const Step& step = plan.steps[index];
  TraceSite site{step.site, DType::f32, {}, static_cast<std::int64_t>(index)};
  if (formula_of(step) == Formula::kv_store) {
    const KvShape& shape = plan.kv.shape;
    site.dtype = shape.type;
    site.row_shape = {2, shape.n_kv, shape.head_dim};
    return site;
  }
  const Operand& out = step.outputs[0];
  site.dtype = plan.slots[static_cast<std::size_t>(out.slot)].dtype;
  if (out.heads > 0) site.row_shape.push_back(out.heads);
  site.row_shape.push_back(out.width);
  return site;
}

std::vector<TraceSite> chosen_sites(const Plan& plan, const std::vector<std::string>& globs) {
  std::vector<TraceSite> sites;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const char* const site = plan.steps[i].site.c_str();
    const bool wanted =
        globs.empty() || std::ranges::any_of(globs, [&](const std::string& glob) { return matches_glob(glob, site); });
    if (wanted) sites.push_back(site_of_step(plan, i));
  }
  if (sites.empty())
    throw std::invalid_argument(fmt::format("no site matches {}; assay plan lists them", fmt::join(globs, ", ")));
  return sites;
}

std::vector<std::int32_t> kept_positions(const KeptTokens& kept, const RecordPrompt& prompt) {
  const std::int64_t count = std::ssize(prompt.tokens);
  const std::int64_t to = kept.to < 0 ? count - 1 : std::min(kept.to, count - 1);
  if (kept.from > to) {
    throw std::invalid_argument(fmt::format("{}: tokens {} .. are to be kept, it has {}", prompt.name, kept.from, count));
  }
  std::vector<std::int32_t> positions(static_cast<std::size_t>(to - kept.from + 1));
  std::iota(positions.begin(), positions.end(), static_cast<std::int32_t>(kept.from));
  return positions;
}

// Rows of the wanted sites into the writer.
class Recorder final : public Observer {
 public:
  Recorder(TraceWriter& writer, std::vector<std::uint8_t> wanted, std::vector<std::int32_t> positions,
           const std::function<void(std::int64_t)>& wrote)
      : writer_(writer), wanted_(std::move(wanted)), positions_(std::move(positions)), wrote_(wrote) {}

  bool wants(const Step& step) const override { return wanted_[static_cast<std::size_t>(&step - first_)] != 0; }
  void begin(const Plan& plan) { first_ = plan.steps.data(); }

  void after(const StepRun& run) override {
    rows_.clear();
    for (std::int64_t row = 0; row < run.rows; ++row) {
      if (std::ranges::binary_search(positions_, static_cast<std::int32_t>(run.position + row)))
        append_row(run.outputs[0], row, rows_);
    }
    if (rows_.empty()) return;
    writer_.append(run.step().site, std::span<const std::uint8_t>(rows_));
    wrote_(std::ssize(rows_));
  }

 private:
  TraceWriter& writer_;
  std::vector<std::uint8_t> wanted_;  // by step
  std::vector<std::int32_t> positions_;
  const std::function<void(std::int64_t)>& wrote_;
  const Step* first_ = nullptr;
  std::vector<std::uint8_t> rows_;
};

TraceHead head_of(const RecordRequest& request) {
  TraceHead head;
  head.model = request.model->config().name;
  head.weights = weights_name(request.model->weights());
  head.model_sha256 = model_digest(request.model_path);
  head.recipe = "assay";
  head.rope = kRopeRecipes[request.engine->plan().options.rope];
  head.dtype = "float32";
  head.generator = "assay trace";
  head.version = fmt::format("{} ({})", kVersion, kCommit);
  head.source = request.model_path.filename().string();
  head.licence = "as the model";
  return head;
}

}  // namespace

KeptTokens parse_kept_tokens(const std::string& text) {
  const auto number = [&](std::string_view part) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 0) {
      throw std::invalid_argument(
          fmt::format("'{}' is no range of tokens; expected FIRST..LAST, FIRST.., ..LAST or one number", text));
    }
    return value;
  };
  const std::string_view all = text;
  const std::size_t dots = all.find("..");
  if (dots == std::string_view::npos) return {number(all), number(all)};
  const std::string_view from = all.substr(0, dots);
  const std::string_view to = all.substr(dots + 2);
  return {from.empty() ? 0 : number(from), to.empty() ? -1 : number(to)};
}

Recorded record_trace(const RecordRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const Plan& plan = request.engine->plan();
  const std::vector<TraceSite> sites = chosen_sites(plan, request.globs);
  std::vector<std::uint8_t> wanted(plan.steps.size());
  for (const TraceSite& site : sites) wanted[static_cast<std::size_t>(site.step)] = 1;
  Recorded out{std::ssize(sites), 0, 0, 0};
  for (const RecordPrompt& prompt : request.prompts) {
    out.value_bytes += raw_trace_bytes(sites, std::ssize(kept_positions(request.kept, prompt)));
  }
  if (request.told) request.told(out.value_bytes);

  TraceWriter writer(request.out, head_of(request));
  writer.set_plan(request.plan_json);
  std::int64_t done = 0;
  const std::function<void(std::int64_t)> wrote = [&](std::int64_t bytes) {
    done += bytes;
    if (request.progress) request.progress(done, out.value_bytes);
  };
  for (const RecordPrompt& prompt : request.prompts) {
    const std::vector<std::int32_t> positions = kept_positions(request.kept, prompt);
    writer.open_prompt({prompt.name, prompt.text, prompt.tokens, positions, {}, {}});
    for (const TraceSite& site : sites) writer.declare(site);
    Recorder recorder(writer, wanted, positions, wrote);
    recorder.begin(plan);
    request.engine->reset();
    request.engine->feed(prompt.tokens, plan.options.all_logits ? Logits::all : Logits::none, &recorder);
  }
  writer.commit();
  out.file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(request.out));
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

}  // namespace assay
