// Calls that every kernel must refuse before it touches a tensor: sizes below 0, sizes, products and sums past what memory can have.
// They are made of the op's fields, and their tensors lie on guard pages. And calls that it must take, though a field holds what would be
// refused elsewhere: strides of one row, or that the op ignores; sections of pairs that have none.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/verdict/check.h"

namespace assay {

// The calls that others are made of: the smallest, one of several rows, the smallest whose array holds three structs, where it has an array.
enum BaseCall : std::uint8_t { kSmallest, kSeveral, kThreeStructs };

// A call with other values in some fields than its base has.
struct ChangedCall {
  std::vector<FieldValue> instead;
  AssayStatus status;  // what it must return
  BaseCall base = kSmallest;
};

class RefusalCheck {
 public:
  // `page`: of the machine with the largest pages that is to run it.
  explicit RefusalCheck(const Op& op, std::size_t page = guard_page_bytes());

  // Ends with the first that is not refused as it must be. What is refused must leave no trace in the next call.
  CaseResult check(const Candidate& candidate, const Checks& checks);

  const std::vector<ChangedCall>& calls() const { return calls_; }
  // To be taken, with the outputs of its base.
  const std::vector<ChangedCall>& taken() const { return taken_; }

 private:
  // Of its memory the refused calls use the guard pages alone.
  struct Base {
    Call call;
    std::vector<void*> pointers = {};  // into them
    void point_to_ends();
  };

  void add_one(const FieldValue& number);
  void add_several(const std::vector<FieldValue>& numbers, std::size_t i, std::size_t j);
  void add_no_number(const Field& field, const std::vector<FieldValue>& numbers);
  void add_edge(const FieldValue& size);
  std::optional<AssayStatus> refusal(const std::vector<FieldValue>& instead, BaseCall base) const;
  void add(std::vector<FieldValue> instead, BaseCall base = kSmallest);
  void add_taken(const FieldValue& instead);
  void add_ignored(const FieldValue& stride);
  std::optional<Failure> run(const Candidate& candidate, const Checks& checks, const ChangedCall& one, bool& crashed);
  std::optional<Failure> take(const Candidate& candidate, const Checks& checks, bool& crashed);
  std::string touched(const ChangedCall& one, const Execution& execution) const;

  const Op& op_;
  std::vector<Base> bases_;
  std::vector<ChangedCall> calls_;
  std::vector<ChangedCall> taken_;
};

// "n = -1, x_stride = 67108864": for messages.
std::string describe(const std::vector<FieldValue>& instead);

}  // namespace assay
