// Recorded calls as a form with variables: what an argument is at any position, for any number of rows, in any part of a step.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/plan_c/recorded_calls.h"

namespace assay {

// What an argument may depend on: the position of the pass and its rows; of a call made for each row, which one; the token looked up;
// of a step that threads share, where a part begins and how much it is.
enum class Variable : std::uint8_t { one, position, rows, row, token, begin, count };
inline constexpr std::size_t kVariables = 7;
using Terms = std::array<std::int64_t, kVariables>;  // factors, or values, by Variable

inline std::int64_t& at(Terms& terms, Variable variable) {
  return terms[static_cast<std::size_t>(variable)];
}
inline std::int64_t at(const Terms& terms, Variable variable) {
  return terms[static_cast<std::size_t>(variable)];
}

struct CallForm {
  const Op* op;
  std::vector<Argument> arguments;
  std::vector<Terms> terms;  // by argument; a real has its bits as its constant
};

// What threads share of a step: `total` of it, in whole units but for the last. Of a step by rows, those of the pass.
struct Shares {
  bool by_rows = false;
  std::int64_t total = 0;
  std::int64_t unit = 1;
  bool in_turn = false;  // in prefill, a thread takes a piece when it is done with another
};
Shares shares_of(const Plan& plan, const Step& step);

struct StepForm {
  std::vector<CallForm> calls;
  bool each_row = false;  // they are made for each row by itself
};

// By step, for passes of decode or of prefill; `shared`: with the variables begin and count. Found by recording some passes, and held
// against all of them: an argument that is no sum of multiples of the variables is a std::logic_error.
std::vector<StepForm> call_forms(CallRecorder& recorder, const Plan& plan, bool decode, bool shared);

}  // namespace assay
