// One of the processes that share a suite's units: it is given numbers of units on a socket, and says on it what became of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <string_view>

#include "harness/verdict/suite_message.h"

namespace assay {

// What a worker has said and not sent, where who shares out sees it: to send each message by itself would cost more than many a case, and of
// a worker that is lost none is.
struct Outbox {
  static constexpr std::size_t kBytes = std::size_t{1} << 16;

  std::atomic<std::size_t> filled = 0;
  char bytes[kBytes] = {};

  std::string_view text() const { return {bytes, std::min(filled.load(), kBytes)}; }
  void append(std::string_view more) {
    more.copy(bytes + filled, more.size());
    filled += more.size();
  }
};

// Each message goes after its size in bytes. Returns when the other end is closed.
void serve_units(const SuitePlan& plan, std::span<const Unit> units, int socket, Outbox& outbox);

// False: the other end is closed.
bool send_all(int socket, const void* data, std::size_t size);

}  // namespace assay
