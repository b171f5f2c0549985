// One line of a terminal's standard error that says how far a command is; nothing elsewhere.
#pragma once

#include <string>

namespace assay::cli {

// Cleared when it goes out of scope.
class StatusLine {
 public:
  StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;
  ~StatusLine();

  void show(const std::string& text) const;  // in place of what it showed before
  bool on() const { return on_; }

 private:
  bool on_;
};

}  // namespace assay::cli
