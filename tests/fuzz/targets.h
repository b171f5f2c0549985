// What is fed with foreign bytes (docs/sanitizers-and-fuzzing.md). A target returns for whatever it is given: it catches the errors that
// are declared for such input, and nothing else; what it may assume of what was accepted, it requires.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::fuzz {

using Input = std::span<const std::uint8_t>;

struct Target {
  std::string_view name;
  void (*run)(Input input);
  bool recipes;  // its inputs are hdf5_recipe.h's texts
};

std::span<const Target> targets();
// Null if there is none.
const Target* find_target(std::string_view name);

void run_gguf(Input input);         // a GGUF file, up to its tokenizer
void run_safetensors(Input input);  // a safetensors file
void run_folder(Input input);       // a Hugging Face folder: section.h's text
void run_plan(Input input);         // a line of arguments for `assay plan`, then the header of a GGUF file
void run_tokenizer(Input input);    // a tokenizer.json
void run_text(Input input);         // text for a tokenizer that is right
void run_messages(Input input);     // a frame's kind, then its payload: the decoders of both ends
void run_requests(Input input);     // a call's payload, up to the kernel
void run_runner(Input input);       // what a runner sends, from its greeting on, to a host that calls it
void run_golden(Input input);       // a golden file's recipe
void run_trace(Input input);        // a trace's recipe

// What a target found to be untrue of something that was accepted.
class Broken : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

inline void require(bool holds, const char* what) {
  if (!holds) throw Broken(what);
}

// A message for people: something, and in ASCII where bytes of a file are quoted.
void require_message(std::string_view message);
// One that holds what a file says in any script: none of it may steer a terminal.
void require_harmless(std::string_view message);

std::string_view text_of(Input input);

}  // namespace assay::fuzz
