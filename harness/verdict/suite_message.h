// What a process of a suite tells the one that shares the work out, as bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/verdict/suite_unit.h"

namespace assay {

struct SuiteMessage {
  enum class What : std::uint8_t { planned, done, unit, error };
  What what = What::planned;
  std::int64_t planned = 0;  // results to come
  CaseResult one = {};       // done
  UnitResult unit = {};
  std::string error = {};  // what was thrown
};

std::string to_bytes(SuiteMessage& message);
// Throws std::runtime_error where they are no message: a kernel may have written over what made them.
SuiteMessage message_from(std::string_view bytes);

}  // namespace assay
