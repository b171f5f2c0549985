// An output that is written when the work is done, and refused before it where it may not be written.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "golden/atomic_file.h"

namespace assay::cli {

class LateFile {
 public:
  // No path: nothing is written. `kind`: golden/output_rule.h.
  LateFile(const std::string& path, std::string kind) {
    if (!path.empty()) file_.emplace(path, std::move(kind));
  }

  template <class TextOf>
  void write(const TextOf& text_of) {
    if (!file_) return;
    file_->write_text(text_of());
    file_->commit();
  }

 private:
  std::optional<AtomicFile> file_;
};

}  // namespace assay::cli
