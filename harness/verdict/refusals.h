// Calls that every kernel must refuse before it touches a tensor: sizes below 0, sizes, products and sums past what memory can have.
// They are made of the op's fields, and their tensors lie on guard pages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/verdict/check.h"

namespace assay {

// A call with other values in some fields than the smallest one has.
struct RefusedCall {
  std::vector<FieldValue> instead;
  AssayStatus status;
};

class RefusalCheck {
 public:
  // `page`: of the machine with the largest pages that is to run it.
  explicit RefusalCheck(const Op& op, std::size_t page = guard_page_bytes());

  // Ends with the first that is not refused as it must be. What is refused must leave no trace in the next call.
  CaseResult check(const Candidate& candidate, const Checks& checks);

  const std::vector<RefusedCall>& calls() const { return calls_; }

 private:
  void add(std::vector<FieldValue> instead);
  void point_to_ends();
  std::optional<Failure> run(const Candidate& candidate, const Checks& checks, const RefusedCall& one, bool& crashed);
  std::string touched(const Execution& execution) const;

  const Op& op_;
  Call call_;                    // as small as may be; of its memory the refused calls use the guard pages alone
  std::vector<void*> pointers_;  // into them
  std::vector<RefusedCall> calls_;
};

// "n = -1, x_stride = 67108864": for messages.
std::string describe(const std::vector<FieldValue>& instead);

}  // namespace assay
