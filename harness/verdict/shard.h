// One part of N of a suite: `assay check --shard I/N` (docs/report.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

// The parts are disjoint and together the whole: part I has the cases I, I + N, I + 2 N, ... of the suite's order.
struct Shard {
  std::int64_t index = 1;  // from 1
  std::int64_t count = 1;

  // "2/8"; throws std::invalid_argument that says what was expected.
  static Shard parse(std::string_view text);

  bool has(std::int64_t nth) const { return nth % count == index - 1; }
  bool split() const { return count > 1; }
  std::string to_string() const;
};

}  // namespace assay
