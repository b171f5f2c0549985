// Addresses past 2^31 and 2^32 on a machine that has no such memory: one file in memory is mapped again and again, its length a prime
// number of steps, so that an index that wraps at a power of two lands on other data.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>

#include "reference/ops/tensor.h"

namespace assay {

// The file, zeros at first. Only what is written takes memory.
class RepeatedFile {
 public:
  // Its length is a multiple of `element` bytes and of a page, more than `least`. Throws std::bad_alloc.
  explicit RepeatedFile(std::size_t element, std::size_t least = 0);
  RepeatedFile(const RepeatedFile&) = delete;
  RepeatedFile& operator=(const RepeatedFile&) = delete;
  ~RepeatedFile();

  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return descriptor_; }
  // From its first byte on; throws std::bad_alloc.
  void write(std::span<const std::uint8_t> bytes) const;

 private:
  std::size_t bytes_ = 0;
  int descriptor_ = -1;
};

// Of a tensor: byte i is byte i mod period() of the file, an inaccessible page before the first and after the last. A lap, which is the
// whole file, that holds none of the tensor's rows is inaccessible too.
class RepeatedMemory {
 public:
  // Throws std::bad_alloc.
  RepeatedMemory(std::shared_ptr<const RepeatedFile> file, const TensorSpec& spec);
  RepeatedMemory(RepeatedMemory&& other) noexcept;
  RepeatedMemory(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(RepeatedMemory&&) = delete;
  ~RepeatedMemory();

  std::uint8_t* begin() const { return begin_; }
  std::size_t period() const { return file_->bytes(); }
  // From now on.
  void read_only() const;
  bool owns(const void* address) const;
  // Of an address that it owns: it lies in a lap without rows.
  bool in_gap(const void* address) const;
  // The first byte of the file that is not zero; -1: there is none.
  std::int64_t find_written() const;

 private:
  std::shared_ptr<const RepeatedFile> file_;
  std::uint8_t* base_ = nullptr;
  std::uint8_t* begin_ = nullptr;
  std::size_t mapped_ = 0;
  std::set<std::size_t> laps_;  // that hold rows
};

}  // namespace assay
