#include "engine/files/file_error.h"

#include <algorithm>
#include <array>

#include "golden/printable.h"

namespace assay {
namespace {

// In the order of Fault.
constexpr std::array<std::string_view, 40> kNames{
    "unreadable",        "truncated",    "count",        "overflow",    "outside-file",  "overlap",        "hole",
    "misaligned",        "name",         "duplicate",    "tensor-type", "dimensions",    "magic",          "big-endian",
    "version",           "value-type",   "nested-array", "boolean",     "alignment",     "block-shape",    "header-length",
    "header-start",      "json",         "json-limit",   "member",      "size-mismatch", "trailing-bytes", "shard-name",
    "weight-map",        "missing-key",  "key-type",     "key-value",   "architecture",  "feature",        "missing-tensor",
    "unexpected-tensor", "tensor-shape", "vocabulary",   "value",       "damaged"};
static_assert(kNames.size() == static_cast<std::size_t>(Fault::damaged) + 1);

std::string message(Fault fault, const Where& where, std::string_view why) {
  std::string text = where.file;
  if (where.offset) text.append(": byte ").append(std::to_string(*where.offset));
  if (!where.subject.empty()) text.append(": ").append(where.subject);
  return text.append(": ").append(why).append(" [").append(fault_name(fault)).append("]");
}

}  // namespace

std::string_view fault_name(Fault fault) noexcept {
  return kNames[static_cast<std::size_t>(fault)];
}

ModelFileError::ModelFileError(Fault fault, const Where& where, std::string_view why)
    : std::runtime_error(message(fault, where, why)), fault_(fault) {}

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += hex_escape(byte);
    }
  }
  return out.append(text.size() > kShown ? "...'" : "'");
}

}  // namespace assay
