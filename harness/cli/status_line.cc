#include "harness/cli/status_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "harness/reports/style.h"

namespace assay::cli {
namespace {

constexpr const char* kClear = "\r\033[K";
constexpr std::chrono::seconds kBetweenLines{10};

// As much of it as one line holds: what wraps would not be cleared.
std::string fitting(const std::string& text) {
  winsize window{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col < 2) return text;
  return text.substr(0, window.ws_col - 1U);
}

}  // namespace

StatusLine::StatusLine() : on_(is_terminal(STDERR_FILENO)), last_(std::chrono::steady_clock::now()) {}

StatusLine::~StatusLine() {
  clear();
}

void StatusLine::clear() {
  if (shown_) std::fputs(kClear, stderr);
  shown_ = false;
}

void StatusLine::show(const std::string& text) {
  if (on_) {
    clear();
    std::fputs(fitting(text).c_str(), stderr);
    shown_ = true;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kBetweenLines) return;
  last_ = now;
  std::fprintf(stderr, "assay: %s\n", text.c_str());
}

}  // namespace assay::cli
