// Calls whose tensors reach past 2^31 and 2^32 elements and bytes, on a machine that has no such memory: one file in memory is mapped again
// and again, its length a prime number of steps, so that an index that wraps at a power of two lands on other data.
#pragma once

#include <cstdint>
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

// One vast call of an op: inputs from the seed, truth from the reference, for a sample where it is long.
class VastCheck {
 public:
  VastCheck(const Op& op, Params params, std::uint64_t seed);

  std::string name() const { return "vast " + params_.to_string(); }
  // In this process.
  CaseResult check(const Variant& variant, const Checks& checks);

 private:
  struct Ran {
    std::string violation;
    std::vector<Array> outputs;  // whole; of the scalar kernel what it was asked for, else zeros
    std::vector<Array> part;     // what the scalar kernel is asked for
  };
  Ran run(const Variant& variant, const CallPart& part);
  std::optional<Failure> judge(const Ran& ran, const Checks& checks, CaseResult& result) const;
  std::optional<Failure> judge_values(const Signature& signature, const std::vector<Array>& outputs,
                                      const std::vector<reference::Expected>& expected, const Checks& checks,
                                      CaseResult& result) const;

  const Op& op_;
  Params params_;
  std::uint64_t seed_;
  Signature signature_;
  std::vector<RepeatedMemory> memory_;
  std::vector<void*> pointers_;
  std::vector<Array> inputs_;  // of those that lie apart; empty where the file is the data
  std::vector<reference::Expected> expected_;
  CallPart whole_;
  CallPart part_;  // what the scalar kernel, the slowest by far, is asked for: of a long call the last rows
  Signature part_signature_;
  std::optional<Ran> scalar_;
};

}  // namespace assay
