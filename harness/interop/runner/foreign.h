// Where what is foreign runs: on the first thread of a runner, which has given up, for itself and the threads that it starts, to change
// what is mapped in the arena, to handle faults and to reach the channels (tighten.h). A second one, the keeper, has not: it talks to the
// host and maps memory. It runs nothing foreign, and no signal reaches it.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "harness/verdict/guard.h"

namespace assay {

inline constexpr char kNotAsked[] = "ASSAY_RUNNER_UNBOUND";  // in a runner's environment: it is to give nothing up

class Foreign {
 public:
  Foreign() = default;
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  // Gives up what is said above, if `bound`. Runs `keeper` on a second thread, and here what that asks for, until it ends; returns and
  // throws as it does. `in`, `out`: the channels. Once.
  int serve(int in, int out, bool bound, const std::function<int()>& keeper);

  // Why nothing is given up, in words; empty: it is.
  const std::string& unbound() const { return unbound_; }

  // For the keeper: `body`, run on the first thread. Throws std::runtime_error with the words of what it threw, since a foreign
  // exception is foreign code. The memory that it was given ends with it. Where nothing serves: run right here.
  void run(const std::function<void()>& body);

  // For what runs so: memory in the arena, which the keeper maps. Throws std::bad_alloc.
  const GuardedMemory& memory(std::size_t bytes);

 private:
  void run_what_is_asked();
  void provide();

  std::string unbound_ = "not asked for";
  bool serving_ = false;
  enum Turn : int { nobodys, first_runs, first_wants_memory, memory_is_there, first_is_done, keeper_has_ended };
  void say(Turn turn);
  void await_another(int turn);
  // One word that both wait for: a call costs two wakings.
  std::atomic<int> turn_{nobodys};
  const std::function<void()>* body_ = nullptr;
  std::optional<std::string> thrown_;
  std::mutex asking_;  // one thread at a time
  std::size_t wanted_ = 0;
  const GuardedMemory* given_ = nullptr;  // null: there is none
  std::deque<GuardedMemory> memories_;
};

}  // namespace assay
