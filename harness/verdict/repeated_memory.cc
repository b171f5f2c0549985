#include "harness/verdict/repeated_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "harness/verdict/guard.h"
#include "harness/verdict/strided.h"

namespace assay {
namespace {

constexpr std::size_t kMostPages = 4096;  // of a file
constexpr std::size_t kMostHeld = 4096;   // stretches of a tensor's pages; of more, whole laps of the file

std::size_t largest_prime_up_to(std::size_t most) {
  const auto prime = [](std::size_t n) {
    for (std::size_t d = 2; d * d <= n; ++d) {
      if (n % d == 0) return false;
    }
    return n > 2;
  };
  while (!prime(most)) --most;
  return most;
}

// Pages of which each begins with an element.
std::size_t step_of(std::size_t element) {
  return std::lcm(guard_page_bytes(), element);
}

// Where in its memory a tensor begins.
std::size_t shift_of(const TensorSpec& spec) {
  const std::size_t element = dtype_size(spec.dtype);
  const std::size_t step = step_of(element);
  if (spec.begin > 0) return static_cast<std::size_t>(spec.begin) * element % step;
  std::size_t rows = 0;
  std::size_t end = 0;  // of the first
  std::size_t next = 0;
  for_each_run(spec, [&](std::size_t offset, std::size_t bytes) {
    if (rows == 0) end = offset + bytes;
    if (rows == 1) next = offset;
    ++rows;
  });
  return next > end + guard_page_bytes() ? (step - end % step) % step : 0;
}

bool is_written(std::uint8_t byte) {
  return byte != 0;
}
// Each byte is the one before it: sixteen at a time and more.
bool all_zero(const std::uint8_t* begin, const std::uint8_t* end) {
  return begin == end || (*begin == 0 && std::memcmp(begin, begin + 1, static_cast<std::size_t>(end - begin) - 1) == 0);
}

}  // namespace

RepeatedFile::RepeatedFile(std::size_t element, std::size_t least) {
  const std::size_t step = step_of(element);
  bytes_ = step * largest_prime_up_to(std::max<std::size_t>({kMostPages * guard_page_bytes() / step, least / step * 5 / 4, 3}));
  descriptor_ = memfd_create("assay", MFD_CLOEXEC);
  if (descriptor_ < 0) throw std::bad_alloc();
  void* view = MAP_FAILED;
  if (ftruncate(descriptor_, static_cast<off_t>(bytes_)) == 0)
    view = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (view == MAP_FAILED) {
    close(descriptor_);
    throw std::bad_alloc();
  }
  view_ = static_cast<const std::uint8_t*>(view);
}

RepeatedFile::~RepeatedFile() {
  munmap(const_cast<std::uint8_t*>(view_), bytes_);
  close(descriptor_);
}

void RepeatedFile::write(std::span<const std::uint8_t> bytes) const {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t written = pwrite(descriptor_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (written <= 0) throw std::bad_alloc();
    at += static_cast<std::size_t>(written);
  }
}

std::vector<RepeatedMemory::Held> RepeatedMemory::held_by(const TensorSpec& spec, std::size_t shift, std::size_t unit) {
  const auto add = [](const Held& one, std::vector<Held>& to) {
    const bool meets = !to.empty() && to.back().first <= one.first && one.first <= to.back().end;
    if (!meets) return to.push_back(one);
    to.back().end = std::max(to.back().end, one.end);
  };
  std::vector<Held> held;  // in logical order, few of rows that lie close
  for_each_run(spec, [&](std::size_t offset, std::size_t bytes) {
    add({(shift + offset) / unit * unit, (shift + offset + bytes + unit - 1) / unit * unit}, held);
  });
  std::ranges::sort(held, {}, &Held::first);
  std::vector<Held> apart;
  for (const Held& one : held) add(one, apart);
  return apart;
}

RepeatedMemory::RepeatedMemory(std::shared_ptr<const RepeatedFile> file, const TensorSpec& spec) : file_(std::move(file)) {
  const std::size_t page = guard_page_bytes();
  const std::size_t shift = shift_of(spec);
  held_ = held_by(spec, shift, page);
  if (held_.size() > kMostHeld) held_ = held_by(spec, shift, period());
  mapped_ = (held_.empty() ? shift : held_.back().end) + 2 * page;
  void* const base = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::uint8_t*>(base);
  first_ = base_ + page;
  begin_ = first_ + shift;
  for (const Held& held : held_) map(held);
}

void RepeatedMemory::map(const Held& held) const {
  for (std::size_t at = held.first; at < held.end;) {
    const std::size_t in_file = at % period();
    const std::size_t bytes = std::min(held.end - at, period() - in_file);
    void* const mapped = mmap(first_ + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file_->descriptor(),
                              static_cast<off_t>(in_file));
    if (mapped == MAP_FAILED) {
      munmap(base_, mapped_);
      throw std::bad_alloc();
    }
    at += bytes;
  }
}

RepeatedMemory::RepeatedMemory(RepeatedMemory&& other) noexcept
    : file_(std::move(other.file_)),
      base_(std::exchange(other.base_, nullptr)),
      first_(other.first_),
      begin_(other.begin_),
      mapped_(other.mapped_),
      held_(std::move(other.held_)) {}

RepeatedMemory::~RepeatedMemory() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

void RepeatedMemory::read_only() const {
  for (const Held& held : held_) mprotect(first_ + held.first, held.end - held.first, PROT_READ);
}

bool RepeatedMemory::owns(const void* address) const {
  const auto* const at = static_cast<const std::uint8_t*>(address);
  return at >= base_ && at < base_ + mapped_;
}

bool RepeatedMemory::in_gap(const void* address) const {
  const std::ptrdiff_t offset = static_cast<const std::uint8_t*>(address) - first_;
  const auto holds = [&](const Held& held) {
    return offset >= static_cast<std::ptrdiff_t>(held.first) && offset < static_cast<std::ptrdiff_t>(held.end);
  };
  return std::ranges::none_of(held_, holds);
}

std::int64_t RepeatedMemory::find_written() const {
  const auto end = static_cast<off_t>(period());
  for (off_t at = lseek(file_->descriptor(), 0, SEEK_DATA); at >= 0 && at < end;) {
    const off_t stop = std::min(end, lseek(file_->descriptor(), at, SEEK_HOLE));
    const std::uint8_t* const all = file_->view();
    if (!all_zero(all + at, all + stop)) return std::find_if(all + at, all + stop, is_written) - all;
    at = lseek(file_->descriptor(), stop, SEEK_DATA);
  }
  return -1;
}

}  // namespace assay
