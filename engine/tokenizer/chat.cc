#include "engine/tokenizer/chat.h"

#include <algorithm>

namespace assay {
namespace {

constexpr std::string_view kThink = "<think>";
constexpr std::string_view kThinkEnd = "</think>";

std::string_view without_leading_newlines(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}

std::string_view without_trailing_newlines(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

// What a message says, and what was thought before it.
struct Parts {
  std::string_view thinking, answer;
};

// The thinking is what stands between the last <think> before the first </think> and that; the answer follows the last
// </think>.
Parts parts_of(std::string_view content) {
  const std::size_t first_end = content.find(kThinkEnd);
  if (first_end == std::string_view::npos) return {{}, content};
  std::string_view thinking = without_trailing_newlines(content.substr(0, first_end));
  const std::size_t begin = thinking.rfind(kThink);
  if (begin != std::string_view::npos) thinking.remove_prefix(begin + kThink.size());
  return {without_trailing_newlines(without_leading_newlines(thinking)),
          without_leading_newlines(content.substr(content.rfind(kThinkEnd) + kThinkEnd.size()))};
}

bool is_question(const ChatMessage& message) {
  return message.role == "user" &&
         !(message.content.starts_with("<tool_response>") && message.content.ends_with("</tool_response>"));
}

std::string assistant_content(const ChatMessage& message, bool after_question, bool last) {
  const Parts parts = parts_of(message.content);
  if (!after_question || (!last && parts.thinking.empty())) return std::string(parts.answer);
  return std::string(kThink) + "\n" + std::string(parts.thinking) + "\n" + std::string(kThinkEnd) + "\n\n" +
         std::string(without_leading_newlines(parts.answer));
}

}  // namespace

std::string qwen3_chat(const Tokenizer& tokenizer, std::span<const ChatMessage> messages, Thinking thinking) {
  for (const std::string_view name : {"<|im_start|>", "<|im_end|>"}) static_cast<void>(tokenizer.id_of(name));
  if (thinking == Thinking::off) {
    for (const std::string_view name : {kThink, kThinkEnd}) static_cast<void>(tokenizer.id_of(name));
  }
  const bool thinks = tokenizer.find(kThink).has_value();
  const auto question = std::find_if(messages.rbegin(), messages.rend(), is_question);
  const std::size_t last = messages.size() - 1;
  const std::size_t question_at = question == messages.rend() ? last : static_cast<std::size_t>(messages.rend() - question) - 1;

  std::string text;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    if (message.role != "system" && message.role != "user" && message.role != "assistant") {
      throw TokenizerError("message " + std::to_string(i) + ": role '" + message.role + "'; expected system, user or assistant");
    }
    const bool parted = thinks && message.role == "assistant";
    text += "<|im_start|>" + message.role + "\n";
    text += parted ? assistant_content(message, i > question_at, i == last) : message.content;
    text += "<|im_end|>\n";
  }
  text += "<|im_start|>assistant\n";
  if (thinking == Thinking::off) text += "<think>\n\n</think>\n\n";
  return text;
}

std::vector<std::int32_t> stop_tokens(const Tokenizer& tokenizer, std::string_view eos, bool chat) {
  std::vector<std::int32_t> ids{tokenizer.id_of(eos)};
  if (chat) {
    for (const std::string_view name : {"<|im_end|>", "<|endoftext|>"}) {
      const std::int32_t id = tokenizer.id_of(name);
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
  }
  return ids;
}

}  // namespace assay
