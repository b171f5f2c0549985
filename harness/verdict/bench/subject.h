// Who is on the clock.
#pragma once

#include <cstdint>
#include <string>

#include "harness/verdict/checks.h"

namespace assay::bench {

// A call's time, in seconds.
struct CallTime {
  double cpu = 0;   // processor time; of a plugin's kernel that of all threads
  double wall = 0;  // of a plugin's kernel
  int threads = 1;  // seen
};

class Subject {
 public:
  virtual ~Subject() = default;
  // Whether its calls are cold only if the caches are filled with other memory before each round.
  virtual bool evicts() const = 0;
  // At least BenchOptions::round_seconds of calls, if so many are cold. Throws where the kernel does not come back.
  virtual CallTime round() = 0;
  // SHA-256 of what calls with data of this seed compute, untimed; empty: it cannot say.
  virtual std::string digest(std::uint64_t /*seed*/) { return {}; }
  // What is wrong with what it computed while it was timed, in words; empty: nothing.
  virtual std::string judge(const Checks& /*checks*/) { return {}; }
};

}  // namespace assay::bench
