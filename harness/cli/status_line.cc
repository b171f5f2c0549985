#include "harness/cli/status_line.h"

#include <unistd.h>

#include <cstdio>

namespace assay::cli {
namespace {

constexpr const char* kClear = "\r\033[K";

}  // namespace

StatusLine::StatusLine() : on_(isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() {
  if (on_) std::fputs(kClear, stderr);
}

void StatusLine::show(const std::string& text) const {
  if (!on_) return;
  std::fputs(kClear, stderr);
  std::fputs(text.c_str(), stderr);
}

}  // namespace assay::cli
