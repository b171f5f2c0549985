#include "engine/tokenizer/normalise.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "engine/tokenizer/utf8.h"

namespace assay {
namespace {

struct Range {
  char32_t first, last;
};

// Code points that Unicode 9 does not reorder, decompose or compose and that utf8proc may, from a later Unicode; and
// U+11A7, which is no trailing consonant but which utf8proc before 2.9 composes with a Hangul syllable. Each ends what
// stands before it and composes with nothing after it. Made by golden/record/tokenizer_tables.py.
constexpr Range kApart[] = {
#include "engine/tokenizer/apart.inc"
};

bool stands_apart(char32_t code_point) {
  const auto* const range =
      std::partition_point(std::begin(kApart), std::end(kApart), [&](const Range& r) { return r.last < code_point; });
  return range != std::end(kApart) && range->first <= code_point;
}

void append_composed(std::string_view text, std::string& out) {
  if (text.empty()) return;
  utf8proc_uint8_t* composed = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()), &composed,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (size < 0) throw std::runtime_error(std::string("utf8proc: ") + utf8proc_errmsg(size));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(composed, &std::free);
  out.append(reinterpret_cast<const char*>(composed), static_cast<std::size_t>(size));
}

}  // namespace

std::string nfc(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
    return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    if (!stands_apart(next_code_point(text, at))) continue;
    append_composed(text.substr(begin, here - begin), out);
    out.append(text, here, at - here);
    begin = at;
  }
  append_composed(text.substr(begin), out);
  return out;
}

}  // namespace assay
