// Memory straight from the kernel: whole pages, zero, physical only where touched.
#pragma once

#include <cstdint>
#include <utility>

namespace assay {

std::int64_t page_bytes();

// A range of pages between two inaccessible ones, which hold nothing and are not counted: a store that leaves a cache
// faults, and the kernel lists the range by itself in /proc/self/smaps.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept { swap(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    Mapping(std::move(other)).swap(*this);
    return *this;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // `bytes` are rounded up to whole pages. Throw KvExhausted where the kernel refuses.
  static Mapping memory(std::int64_t bytes);         // readable and writable
  static Mapping address_space(std::int64_t bytes);  // inaccessible: something else is to be mapped over it

  explicit operator bool() const { return begin_ != nullptr; }
  char* begin() const { return begin_; }
  std::int64_t bytes() const { return bytes_; }

  void discard(std::int64_t offset, std::int64_t bytes);  // gives back the whole pages inside; they read as zero again
  void shrink(std::int64_t bytes);                        // gives back what lies past, addresses included
  void huge_pages();                                      // of 2 MiB, where the kernel has them
  void small_pages();                                     // none of 2 MiB, so that a touched page is all that becomes resident

 private:
  Mapping(std::int64_t bytes, int protection);
  void swap(Mapping& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
  }

  char* begin_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace assay
