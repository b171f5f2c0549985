#include "harness/reports/page/page.h"

#include <nlohmann/json.hpp>

namespace assay {

std::string fill_page(std::string_view page, const nlohmann::ordered_json& data) {
  static constexpr std::string_view kMark = "@DATA@";
  const std::size_t at = page.find(kMark);
  std::string out(page.substr(0, at));
  // Nothing in the data may end its script element. A name of a stranger's file need not be UTF-8.
  for (const char c : data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    out += c == '<' ? std::string_view("\\u003c") : std::string_view(&c, 1);
  }
  return out.append(page.substr(at + kMark.size()));
}

}  // namespace assay
