#include "harness/verdict/shard.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace assay {
namespace {

// A whole number of digits alone, or 0.
std::int64_t positive(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && value > 0 ? value : 0;
}

}  // namespace

Shard Shard::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  Shard shard;
  shard.index = positive(text.substr(0, slash));
  shard.count = slash == std::string_view::npos ? 0 : positive(text.substr(slash + 1));
  if (shard.index == 0 || shard.index > shard.count) {
    throw std::invalid_argument(fmt::format("--shard '{}': expected I/N with 1 <= I <= N, such as 2/8", text));
  }
  return shard;
}

std::string Shard::to_string() const {
  return fmt::format("{}/{}", index, count);
}

}  // namespace assay
