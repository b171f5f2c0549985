#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>

#include "engine/run/generate.h"
#include "engine/run/site_rows.h"
#include "engine/tokenizer/chat.h"
#include "harness/cli/chosen_engine.h"
#include "harness/cli/cli.h"
#include "harness/cli/site_text.h"
#include "harness/cli/values.h"
#include "harness/forensics/profile/profile.h"
#include "harness/reports/report.h"
#include "harness/verdict/nearest.h"

namespace assay::cli {
namespace {

constexpr int kInterrupted = 130;  // as shells have it: 128 + SIGINT

struct RunOptions {
  ModelOptions model;
  std::string prompt;
  std::string system;
  std::int64_t tokens = 256;
  bool chat = false;
  std::string thinking;
  bool ignore_eos = false;
  Sampling sampling;
  std::string stop_at;
  bool profile = false;
};

std::atomic<bool> interrupted{false};

// The first Ctrl-C ends the text after the pass under way, the second the program.
void watch_for_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Prompt {
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> stops;
};

Prompt read_prompt(const RunOptions& options, const Tokenizer& tokenizer, const std::string& eos) {
  Prompt prompt;
  if (options.chat) {
    std::vector<ChatMessage> messages;
    if (!options.system.empty()) messages.push_back({"system", options.system});
    messages.push_back({"user", options.prompt});
    if (!options.thinking.empty()) static_cast<void>(tokenizer.id_of("<think>"));
    const Thinking thinking = options.thinking == "off" ? Thinking::off : Thinking::on;
    prompt.tokens = tokenizer.encode(qwen3_chat(tokenizer, messages, thinking));
  } else {
    prompt.tokens = tokenizer.encode(options.prompt);
  }
  if (prompt.tokens.empty()) throw std::invalid_argument("-p: the prompt has no tokens");
  if (!options.ignore_eos) prompt.stops = stop_tokens(tokenizer, eos, options.chat);
  return prompt;
}

std::string speed(std::int64_t tokens, double seconds) {
  return seconds > 0
             ? fmt::format("{} tokens in {:.3f} s, {:.1f} tokens/s", tokens, seconds, static_cast<double>(tokens) / seconds)
             : fmt::format("{} tokens", tokens);
}

struct LoadTime {
  double tokenizer;  // seconds from the file's name to the prompt's tokens
  double weights;    // from there until the engine is ready
};

nlohmann::ordered_json figures_json(const Generated& out, const LoadTime& load, const std::string& text) {
  nlohmann::ordered_json json = environment_json();
  json["text"] = text;
  json["tokens"] = out.tokens;
  json["ended"] = ended_name(out.ended);
  json["tokenizer_seconds"] = load.tokenizer;
  json["load_seconds"] = load.weights;
  json["prompt_tokens"] = out.prompt_tokens;
  json["prefill_seconds"] = out.prefill_seconds;
  json["decoded"] = out.decoded;
  json["decode_seconds"] = out.decode_seconds;
  return json;
}

int stop_at(Engine& engine, const RunOptions& options, const Prompt& prompt, const Common& common) {
  const auto step = engine.plan().find(options.stop_at);
  if (!step) {
    std::vector<std::string> sites;
    for (const Step& one : engine.plan().steps) sites.push_back(one.site);
    throw std::invalid_argument("--stop-at: " + unknown_name("site", options.stop_at, sites));
  }
  SiteRows rows({}, [&](const std::string& site) { return site == options.stop_at; });
  engine.stop_after(step);
  engine.feed(prompt.tokens, Logits::last, &rows);
  fmt::print("{}", common.json ? json_text(site_json(engine.plan().steps[*step], rows.at(options.stop_at)))
                               : site_text(engine.plan().steps[*step], rows.at(options.stop_at)));
  return kPass;
}

int generate_text(Engine& engine, const RunOptions& options, const Tokenizer& tokenizer, const Prompt& prompt,
                  const LoadTime& load, const Common& common) {
  watch_for_interrupt();
  StepClock clock(engine.plan().steps.size(), engine.threads(), engine.plan().options.window);
  if (options.profile) engine.time_steps(&clock);
  GenerateRequest request{prompt.tokens, options.tokens, prompt.stops, options.sampling, nullptr, &interrupted};
  Detokenizer detokenizer(tokenizer);
  std::string text;
  const auto emit = [&](std::string_view piece) {
    text += piece;
    if (common.json) return;
    const bool written = std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size() && std::fflush(stdout) == 0;
    if (!written) throw std::system_error(errno, std::generic_category());
  };
  const Generated out = generate(engine, request, [&](std::int32_t token) { emit(detokenizer.append(token)); });
  emit(detokenizer.flush());
  engine.time_steps(nullptr);
  std::optional<profile::Profile> profile;
  if (options.profile) profile = profile::make_profile(engine, clock, profile::measure_roofs(engine.threads(), selected_isa()));
  if (common.json) {
    nlohmann::ordered_json json = figures_json(out, load, text);
    if (profile) json["profile"] = profile::profile_json(*profile);
    fmt::print("{}", json_text(json));
  } else {
    fmt::print("\n");
    std::fflush(stdout);
    fmt::print(stderr, "load     {:.3f} s, the tokenizer {:.3f} s before; {} threads\nprefill  {}\ndecode   {}; ended by: {}\n",
               load.weights, load.tokenizer, engine.threads(), speed(out.prompt_tokens, out.prefill_seconds),
               speed(out.decoded, out.decode_seconds), ended_name(out.ended));
    if (profile) fmt::print(stderr, "\n{}", profile::profile_text(*profile, common.style()));
  }
  return out.ended == Ended::cancelled ? kInterrupted : kPass;
}

int run_model(const RunOptions& options, const Common& common) {
  const auto start = std::chrono::steady_clock::now();
  const ModelFile model(model_path(options.model));
  const Vocabulary vocabulary = model.vocabulary();
  const std::string eos = vocabulary.eos;
  const Tokenizer tokenizer(vocabulary);
  const Prompt prompt = read_prompt(options, tokenizer, eos);
  const double before = seconds_since(start);
  EngineOptions settings = engine_options(options.model);
  settings.plan.whole_last_layer = !options.stop_at.empty();
  const auto engine = load_engine(model, options.model, settings);
  const LoadTime load{before, seconds_since(start) - before};
  if (!options.stop_at.empty()) return stop_at(*engine, options, prompt, common);
  return generate_text(*engine, options, tokenizer, prompt, load, common);
}

}  // namespace

Action add_run(CLI::App& app, const Common& common) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Generate text with a model");
  add_model_options(*command, options->model);
  command->add_option("-p,--prompt", options->prompt, "The text to go on from; with --chat, the question")->required();
  command->add_option("-n,--tokens", options->tokens, "The most tokens to generate")->check(whole(0));
  CLI::Option* const chat = command->add_flag("--chat", options->chat, "Ask as a user does, by the model's chat template");
  command->add_option("--system", options->system, "With --chat: the system's message")->needs(chat);
  command->add_option("--thinking", options->thinking, "With --chat: on or off; by default the template's")
      ->check(one_of({"on", "off"}))
      ->needs(chat);
  command->add_option("--temp", options->sampling.temperature, "Temperature; 0, the default, takes the likeliest token")
      ->check(real(0));
  command->add_option("--top-k", options->sampling.top_k, "Draw from this many of the likeliest tokens; 0: from all")
      ->check(whole(0));
  command->add_option("--top-p", options->sampling.top_p, "Draw from the likeliest whose probabilities sum to this")
      ->check(real(0, 1, true));
  command->add_option("--min-p", options->sampling.min_p, "Draw from tokens at least this fraction as likely as the likeliest")
      ->check(real(0, 1));
  command->add_option("--seed", options->sampling.seed, "Seed of the draws");
  command->add_flag("--ignore-eos", options->ignore_eos, "Go on past the token that ends a text");
  command->add_option("--stop-at", options->stop_at, "Run the prompt as far as this site and print what it gives");
  command->add_flag("--profile", options->profile, "Show where the time went, by kind of step, beside this machine's roofs");
  command->footer("Example: assay run -p \"In the beginning\" -n 64");
  return [options, &common] { return run_model(*options, common); };
}

}  // namespace assay::cli
