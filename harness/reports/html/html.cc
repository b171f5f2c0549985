#include "harness/reports/html/html.h"

#include <fmt/format.h>

namespace assay::html {
namespace {

const char* const kBaseStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f7f9; --text: #1b1f24; --faint: #646c76; --line: #d5d9de; --stripe: #f1f3f6;
  --bad: #c4162a; --bad-back: #fdecee; --good: #17703a; --good-back: #e8f6ed; --warn: #8a5a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --card: #1c2026; --text: #e4e7eb; --faint: #98a1ab; --line: #343a42; --stripe: #1a1e24;
    --bad: #ff7b82; --bad-back: #3a1a1e; --good: #6fd596; --good-back: #15301f; --warn: #e5b95c;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1220px; padding: 24px 20px 60px; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }
h1 { font-size: 22px; margin: 0 0 12px; }
h2 { font-size: 19px; margin: 44px 0 8px; padding-top: 12px; border-top: 1px solid var(--line); }
h3 { font-size: 15px; margin: 26px 0 4px; }
p { margin: 6px 0; }
code, td.number, td.name, .files td { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 13px; }
.note { color: var(--faint); }
.banner { padding: 10px 14px; border-radius: 6px; border-left: 5px solid; margin: 12px 0; overflow-wrap: anywhere; }
.banner.bad { background: var(--bad-back); border-color: var(--bad); }
.banner.good { background: var(--good-back); border-color: var(--good); }
.banner strong { color: inherit; }
.bad-text { color: var(--bad); } .good-text { color: var(--good); } .warn-text { color: var(--warn); }
ul { margin: 6px 0; padding-left: 22px; }
nav a { display: inline-block; margin: 2px 6px 2px 0; padding: 2px 10px; border: 1px solid var(--line); border-radius: 12px;
  color: inherit; text-decoration: none; }
nav a.bad { border-color: var(--bad); color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 2px 12px 2px 0; text-align: left; white-space: nowrap; }
th { font-weight: 600; color: var(--faint); border-bottom: 1px solid var(--line); }
th.number, td.number { text-align: right; }
summary { cursor: pointer; color: var(--faint); margin-top: 12px; }
)css";

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string list_of(const std::vector<std::string>& lines, const char* style) {
  if (lines.empty()) return "";
  std::string out = fmt::format(R"(<ul class="{}">)", style);
  for (const std::string& line : lines) out += "<li>" + escape(line) + "</li>";
  return out + "</ul>";
}

std::string page_head(std::string_view title, std::string_view style, Scripts scripts) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'{}\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{}</title><style>{}{}</style></head>\n<body>",
      scripts == Scripts::own ? "; script-src 'unsafe-inline'" : "", escape(title), kBaseStyle, style);
}

}  // namespace assay::html
