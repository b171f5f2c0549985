#include "engine/tokenizer/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <new>
#include <stdexcept>

#include "engine/tokenizer/utf8.h"
#include "golden/printable.h"

namespace assay {
namespace {

enum class Class : std::uint8_t { letter, number, other };

struct ClassRange {
  char32_t first, last;
  Class in_unicode_16;
};

// Code points that Oniguruma's Unicode 16 sees as another class than some PCRE2 does: letters and numbers that came after
// Unicode 14 (PCRE2 10.42), those of Unicode 17 and 18, which it does not know, and U+180E, which PCRE2 counts among the
// spaces. Made by golden/record/tokenizer_tables.py.
constexpr ClassRange kClasses[] = {
#include "engine/tokenizer/classes.inc"
};

// Long known code points, by class and by length in UTF-8 (two to four bytes).
constexpr char32_t kStandIn[][3] = {{0xaa, 0x4e00, 0x20000}, {0xb2, 0x2460, 0x1d7ce}, {0xa7, 0x200b, 0x1f600}};

const ClassRange* find_class(char32_t code_point) {
  const auto* const range =
      std::partition_point(std::begin(kClasses), std::end(kClasses), [&](const ClassRange& r) { return r.last < code_point; });
  return range != std::end(kClasses) && range->first <= code_point ? range : nullptr;
}

// `text` for matching: where PCRE2's class of a code point may not be Oniguruma's, another of the right class and the
// same length stands in for it, so that offsets hold.
std::string with_stand_ins(std::string_view text) {
  std::string subject;
  subject.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    const char32_t code_point = next_code_point(text, at);
    const ClassRange* const range = code_point < kClasses[0].first ? nullptr : find_class(code_point);
    if (range == nullptr) {
      subject.append(text, here, at - here);
    } else {
      append_code_point(kStandIn[static_cast<std::size_t>(range->in_unicode_16)][at - here - 2], subject);
    }
  }
  return subject;
}

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

struct FreeMatch {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

// One subject's matches from left to right.
class Matcher {
 public:
  Matcher(const pcre2_code* code, std::string_view subject)
      : code_(code),
        subject_(subject),
        data_(pcre2_match_data_create(1, nullptr)),
        context_(pcre2_match_context_create(nullptr)) {
    if (!data_ || !context_) throw std::bad_alloc();
    // A run of spaces is gone back over a few times at most, which is linear in its length.
    const std::size_t limit = 10'000'000 + 16 * subject.size();
    pcre2_set_match_limit(context_.get(), static_cast<std::uint32_t>(std::min<std::size_t>(limit, UINT32_MAX)));
  }

  // Finds the next match that is not empty, at `from` or later; 0 if there is none, else PCRE2's positive count or error.
  int next(std::size_t from) {
    constexpr std::uint32_t options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY;
    int result = match(from, options);
    if (result == PCRE2_ERROR_JIT_STACKLIMIT) result = match(from, options | PCRE2_NO_JIT);
    if (result == PCRE2_ERROR_NOMATCH) return 0;
    return result == 0 ? 1 : result;  // 0: a pattern with groups, of which only the whole match is kept
  }

  std::size_t begin() const { return pcre2_get_ovector_pointer(data_.get())[0]; }
  std::size_t end() const { return pcre2_get_ovector_pointer(data_.get())[1]; }

 private:
  int match(std::size_t from, std::uint32_t options) {
    return pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(subject_.data()), subject_.size(), from, options, data_.get(),
                       context_.get());
  }

  const pcre2_code* code_;
  std::string_view subject_;
  std::unique_ptr<pcre2_match_data, FreeMatch> data_;
  std::unique_ptr<pcre2_match_context, FreeMatch> context_;
};

}  // namespace

void PreTokenizer::FreeCode::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free(code);
}

PreTokenizer::PreTokenizer(std::string_view pattern, bool jit) : pattern_(pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  constexpr std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C;
  code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern_.data()), pattern_.size(), options, &error, &offset, nullptr));
  if (error == PCRE2_ERROR_HEAP_FAILED) throw std::bad_alloc();
  if (!code_) {
    throw std::runtime_error("pre-tokeniser's pattern '" + printable(pattern_) + "', offset " + std::to_string(offset) + ": " +
                             message_of(error));
  }
  if (jit) static_cast<void>(pcre2_jit_compile(code_.get(), PCRE2_JIT_COMPLETE));  // without it pcre2_match interprets
}

std::vector<std::size_t> PreTokenizer::piece_ends(std::string_view text) const {
  const std::string subject = with_stand_ins(text);
  Matcher matcher(code_.get(), subject);
  std::vector<std::size_t> ends;
  for (std::size_t at = 0; at < text.size();) {
    const int found = matcher.next(at);
    if (found == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
    if (found < 0) {
      throw std::runtime_error("pre-tokeniser's pattern '" + printable(pattern_) + "', text offset " + std::to_string(at) + ": " +
                               message_of(found));
    }
    if (found == 0) {
      ends.push_back(text.size());
      break;
    }
    if (matcher.begin() > at) ends.push_back(matcher.begin());
    ends.push_back(at = matcher.end());
  }
  return ends;
}

std::string_view pre_tokenizer_pattern(std::string_view pre) {
  if (pre == "qwen2") return kQwen2Pattern;
  throw std::runtime_error("pre-tokeniser '" + printable(pre) + "' is not supported; expected qwen2");
}

}  // namespace assay
