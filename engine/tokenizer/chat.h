// Qwen3's chat template, and where an answer ends.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/tokenizer.h"

namespace assay {

struct ChatMessage {
  std::string role;  // "system", "user" or "assistant"
  std::string content;
};

// off: the answer starts behind an empty <think></think>, so that the model does not think.
enum class Thinking : std::uint8_t { on, off };

// The conversation as the model is to read it, up to the header of the assistant's answer; to be encoded with
// Specials::matched, so a special token written in a message is one. Each message is
// "<|im_start|>role\ncontent<|im_end|>\n". Where the vocabulary has "<think>", an assistant's message is parted at its
// "</think>": before the last question (the last user message that is no <tool_response>) only the answer is kept; after it
// the thinking, if there is any or the message is the last, is put before the answer between <think> and </think>.
// Throws TokenizerError for another role, for a vocabulary without <|im_start|> or <|im_end|>, and with Thinking::off for
// one without <think> or </think>.
// Source: chat_template of Qwen3's tokenizer_config.json, without its tools.
std::string qwen3_chat(const Tokenizer& tokenizer, std::span<const ChatMessage> messages, Thinking thinking);

// The ids that end an answer, found by name: `eos` and, in a chat, "<|im_end|>" and "<|endoftext|>". Each once.
// Throws TokenizerError if the vocabulary lacks one.
std::vector<std::int32_t> stop_tokens(const Tokenizer& tokenizer, std::string_view eos, bool chat);

}  // namespace assay
