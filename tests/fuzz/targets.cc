#include "tests/fuzz/targets.h"

#include <algorithm>
#include <array>

namespace assay::fuzz {
namespace {

constexpr std::array<Target, 11> kTargets{{{"gguf", run_gguf, false},
                                           {"safetensors", run_safetensors, false},
                                           {"folder", run_folder, false},
                                           {"plan", run_plan, false},
                                           {"tokenizer", run_tokenizer, false},
                                           {"text", run_text, false},
                                           {"messages", run_messages, false},
                                           {"requests", run_requests, false},
                                           {"runner", run_runner, false},
                                           {"golden", run_golden, true},
                                           {"trace", run_trace, true}}};

}  // namespace

std::span<const Target> targets() {
  return kTargets;
}

const Target* find_target(std::string_view name) {
  const auto* found = std::find_if(kTargets.begin(), kTargets.end(), [&](const Target& t) { return t.name == name; });
  return found == kTargets.end() ? nullptr : found;
}

void require_message(std::string_view message) {
  require(!message.empty(), "an error without a message");
  const bool printable = std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
  require(printable, "an error's message that is not printable ASCII");
}

void require_harmless(std::string_view message) {
  require(!message.empty(), "an error without a message");
  const bool harmless = std::none_of(message.begin(), message.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7f; });
  require(harmless, "a message with a control character");
}

std::string_view text_of(Input input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

}  // namespace assay::fuzz
