// How far a command is, on standard error: on a terminal one line, redrawn; elsewhere a line every ten seconds.
#pragma once

#include <chrono>
#include <string>

namespace assay::cli {

// Cleared when it goes out of scope.
class StatusLine {
 public:
  StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine();

  void show(const std::string& text);  // in place of what it showed before
  void clear();                        // before something else is printed
  bool on() const { return on_; }

 private:
  bool on_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace assay::cli
