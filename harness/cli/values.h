// What the values of options may be, and what is said of others: "--threads: '0'; expected a whole number, at least 1".
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace assay::cli {

// Whole numbers from `least` to `most`.
CLI::Validator whole(std::int64_t least, std::int64_t most = std::numeric_limits<std::int32_t>::max());
// Numbers from `least` to `most`; above it where `open`. Never NaN or infinity.
CLI::Validator real(double least, double most = std::numeric_limits<double>::max(), bool open = false);
inline CLI::Validator above_zero() {
  return real(0, std::numeric_limits<double>::max(), true);
}
CLI::Validator one_of(const std::vector<std::string>& words);

// Gives every option of `app` and its commands that has no validator one by its type: no value is empty, no number is none, and none that
// names a file is '-'.
void refuse_odd_values(CLI::App& app);

// What is wrong with the command line that `app` was given, in one line; without the parser's words.
std::string told(const CLI::App& app, const CLI::ParseError& error);

}  // namespace assay::cli
