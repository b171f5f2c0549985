// What the pages have in common: one file each, light and dark, that fetches nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::html {

// For text and for attributes in double quotes.
std::string escape(std::string_view text);

// A <ul> of a class, or nothing if there is no line.
std::string list_of(const std::vector<std::string>& lines, const char* style);

enum class Scripts : std::uint8_t { none, own };

// From the doctype to <body>: the style common to all pages (colours, type, tables, banners: see html.cc), then `style`. The
// policy in it forbids whatever is not in the page.
std::string page_head(std::string_view title, std::string_view style, Scripts scripts);

}  // namespace assay::html
