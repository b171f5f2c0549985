// Calls whose tensors reach past 2^31 and 2^32 elements and bytes, on a machine that has no such memory: one file in memory is mapped again
// and again, its length a prime number of steps, so that an index that wraps at a power of two lands on other data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "golden/hdf5.h"
#include "harness/verdict/check.h"
#include "reference/ops/op.h"
#include "reference/ops/split.h"

namespace assay {

// Addresses from begin() to end(), inaccessible pages around them. Byte i is byte i mod period() of the file, of which only what is written
// takes memory.
class RepeatedMemory {
 public:
  // The period is a multiple of `element` bytes and of a page. Throws std::bad_alloc.
  RepeatedMemory(std::size_t bytes, std::size_t element);
  RepeatedMemory(RepeatedMemory&& other) noexcept;
  RepeatedMemory(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(RepeatedMemory&&) = delete;
  ~RepeatedMemory();

  std::uint8_t* begin() const { return begin_; }
  std::size_t period() const { return period_; }
  // The first byte of the file that is not zero; -1: there is none.
  std::int64_t find_written() const;

 private:
  RepeatedMemory() = default;  // what throws in the other constructor leaves its part to the destructor

  std::uint8_t* base_ = nullptr;
  std::uint8_t* begin_ = nullptr;
  std::size_t mapped_ = 0;
  std::size_t period_ = 0;
  int file_ = -1;
};

// The op's vast calls that go with random cases of that work: those of not too many operations, since most bytes are only lain over.
std::vector<Params> vast_params(const Op& op, double work);

// Calls of every length between powers of two, of many rows, heads or columns: few of them alone, and each two counts of those together, are
// their parts (growing_parts). They go with the vast ones.
std::vector<Params> grid_params(const Op& op);

// One vast call of an op: inputs from the seed, truth from the reference, for a sample where it is long.
class VastCheck {
 public:
  VastCheck(const Op& op, Params params, std::uint64_t seed);

  std::string name() const { return "vast " + params_.to_string(); }
  // In this process.
  CaseResult check(const Variant& variant, const Checks& checks);

 private:
  // The call, or its last rows.
  struct Rows {
    CallPart call;
    Signature signature;
    std::vector<reference::Expected> expected;
  };
  struct Ran {
    std::string violation;
    std::vector<Array> outputs;  // of all rows; those that were not asked for are zeros
    std::vector<Array> last;     // of last_
  };
  // What the variant is asked for: the scalar kernel, and what is no kernel but a model of one, for the last rows.
  const Rows& asked_of(const Variant& variant) const;
  Ran run(const Variant& variant, std::span<const CallPart> parts);
  // In parts of growing sizes, which must give the bits of the whole.
  std::optional<Failure> check_parts(const Variant& variant, const Ran& whole);
  std::optional<Failure> judge(const Rows& rows, const Ran& ran, const Checks& checks, CaseResult& result) const;

  const Op& op_;
  Params params_;
  Signature signature_;
  std::vector<RepeatedMemory> memory_;
  std::vector<void*> pointers_;
  std::vector<Array> inputs_;  // of those that lie apart; empty where the file is the data
  Rows all_;
  Rows last_;  // of a call of many operations; else all
  std::optional<Ran> scalar_;
};

}  // namespace assay
