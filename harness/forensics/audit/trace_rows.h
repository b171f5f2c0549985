// A prompt's values out of a trace, as matrices.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "golden/trace.h"
#include "harness/forensics/audit/formula.h"
#include "harness/forensics/model/wiring.h"

namespace assay {

// [row, feature]: a row flattened.
RowMatrix matrix_of(const Array& rows);

class TraceRows {
 public:
  static constexpr std::int64_t kMostKept = std::int64_t{1} << 27;  // bytes

  TraceRows(const TraceFile& trace, const std::string& prompt) : trace_(trace), prompt_(trace.prompt(prompt)) {}

  const TracePrompt& prompt() const { return prompt_; }
  bool has(const std::string& site) const;
  // [row, feature]: the site's row flattened. Kept for the next time.
  const RowMatrix& site(const std::string& name);
  // Lets go of what was read if that is more than kMostKept: references to it end here.
  void forget_if_many();
  // Whether `gather` would give something.
  bool has_all(const Source& source);
  // Columns put together; nothing where a site is missing or has no such columns.
  std::optional<RowMatrix> gather(const Source& source);
  // Whether every position from 0 on is kept, as attention needs it of keys and values.
  bool all_rows() const { return prompt_.positions.size() == prompt_.tokens.size(); }

 private:
  const TraceFile& trace_;
  TracePrompt prompt_;
  std::map<std::string, RowMatrix> read_;
  std::int64_t kept_ = 0;  // bytes
};

}  // namespace assay
