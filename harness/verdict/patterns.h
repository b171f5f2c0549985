// What those who make pattern_cases (harness/verdict/cases.h) share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/verdict/cases.h"

namespace assay {

inline constexpr std::uint64_t kPatternSeed = 4;
inline constexpr std::int64_t kSquares[] = {16, 32};  // of every size, where two inputs are to be as long; tiles have 32 rows

// Every size alike, but one: a unit of it.
Params square_params(const Op& op, std::string_view but, std::int64_t square = kSquares[0]);

// The case under that name, with the status that its data ask for.
TestCase named(const Op& op, TestCase test, const std::string& what);

// Of attention; of others none.
std::vector<TestCase> attention_patterns(const Op& op);

}  // namespace assay
