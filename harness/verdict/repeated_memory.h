// Addresses past 2^31 and 2^32 on a machine that has no such memory: one file in memory is mapped again and again, its length a prime
// number of steps, so that an index that wraps at a power of two lands on other data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

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
  const std::uint8_t* view() const { return view_; }  // of all its bytes, to read
  // From its first byte on; throws std::bad_alloc.
  void write(std::span<const std::uint8_t> bytes) const;

 private:
  std::size_t bytes_ = 0;
  int descriptor_ = -1;
  const std::uint8_t* view_ = nullptr;
};

// Of a tensor: byte i is byte i mod period() of the file, from some byte on. Pages that hold nothing of the tensor are inaccessible: the one
// before the first, the one after the last, and, unless they are too many, those between rows. Where these are, the first row ends with its
// page, so that the next byte is out of reach; and a tensor that is given by a pointer far before it has that pointer on a page.
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
  // Of an address that it owns: it lies in a page that holds nothing.
  bool in_gap(const void* address) const;
  // The first byte of the file that is not zero; -1: there is none.
  std::int64_t find_written() const;

 private:
  // Of the memory from its first page on, whole pages.
  struct Held {
    std::size_t first;
    std::size_t end;
  };
  static std::vector<Held> held_by(const TensorSpec& spec, std::size_t shift, std::size_t unit);
  void map(const Held& held) const;

  std::shared_ptr<const RepeatedFile> file_;
  std::uint8_t* base_ = nullptr;
  std::uint8_t* first_ = nullptr;  // page
  std::uint8_t* begin_ = nullptr;
  std::size_t mapped_ = 0;
  std::vector<Held> held_;  // ascending
};

}  // namespace assay
