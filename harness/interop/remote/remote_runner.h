// A runner as the host sees it: what it can run, and calls that it runs. docs/runner.md is its protocol.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/interop/plugin/properties.h"
#include "harness/interop/remote/child_process.h"
#include "harness/interop/remote/own_runner.h"
#include "harness/interop/runner/messages.h"
#include "harness/verdict/executor.h"
#include "kernels/isa.h"

namespace assay {

// A runner that cannot be used at all: it does not start, is of another version, or does not take a plugin.
class RunnerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::chrono::milliseconds kDefaultLimit{10000};

struct RunnerOptions {
  std::string command;                              // for /bin/sh; empty: the assay-runner beside this program
  std::vector<std::string> plugins;                 // paths on the runner's machine
  std::chrono::milliseconds limit = kDefaultLimit;  // of each answer
  IsolationRequest isolation{};                     // of the one that is started here
  int shared = -1;                                  // memory for timed calls, as a descriptor; -1: none
  std::string declared = {};  // by their user for the plugins' kernels, beside what these declare: "order=free;nan=no;"
};

// A kernel that a runner offers.
struct RemoteKernel {
  std::uint32_t number = 0;
  std::string op;
  std::string variant;  // rms_norm_scalar, mine:rms_norm
  Isa isa = Isa::scalar;
  bool runs = false;  // the runner's CPU has the ISA
  bool canonical = true;
  std::string packed_tensor;  // empty: the op's own layout
  std::string plugin;         // the path; empty: one of ours
  Traits traits;
  std::uint64_t code_offset = 0;  // of its function in the plugin's file; 0: unknown
};

struct RemotePlugin {
  std::string path;
  std::string name;
  std::string version;
};

class RemoteRunner {
 public:
  // Starts it and loads the plugins. Throws RunnerError that says what is wrong.
  explicit RemoteRunner(RunnerOptions options);

  const std::vector<RemoteKernel>& kernels() const { return kernels_; }
  const std::vector<RemotePlugin>& plugins() const { return plugins_; }
  const RunnerOptions& options() const { return options_; }
  // Of its machine.
  const std::string& machine() const { return machine_; }
  const std::string& isas() const { return isas_; }
  std::size_t page_bytes() const { return page_bytes_; }
  // What holds it in.
  std::string isolation() const { return isolation_state_.to_string(); }

  // Runs the parts of a placed call and brings its memory back. What goes wrong is in the Execution; the next call then starts a
  // fresh runner.
  Execution run(const RemoteKernel& kernel, const Call& call, std::span<const CallPart> parts, const Manner& manner);

 private:
  friend class TimedRunner;
  struct Answer {
    wire::Kind kind;
    std::vector<std::byte> payload;
  };
  void start();
  void require_isolation();
  void greet();
  void load(const std::string& path);
  static Traits traits_of(const wire::KernelInfo& info);
  void add_kernels(const std::vector<wire::KernelInfo>& infos, const RemotePlugin* plugin);
  // `more`: time beyond the limit, for work of its own.
  Answer ask(wire::Kind kind, const std::string& payload, std::uint64_t most, std::chrono::milliseconds more = {});
  void send(wire::Kind kind, const std::string& payload, Deadline deadline);
  Answer receive(std::uint64_t sequence, std::uint64_t most, Deadline deadline);
  void expect(Io io, std::size_t got, const char* where);
  Execution bring_back(const Call& call, const Answer& answer, std::size_t parts, const std::string& packed_tensor);

  RunnerOptions options_;
  std::unique_ptr<ChildProcess> child_;
  std::uint64_t sequence_ = 0;
  int failed_starts_ = 0;
  std::vector<RemoteKernel> kernels_;
  std::vector<RemoteKernel> offered_;  // at its first start
  std::vector<RemotePlugin> plugins_;
  std::string machine_;
  std::string isas_;
  std::size_t page_bytes_ = 0;
  std::uint32_t keeper_ = 0;
  std::unique_ptr<OwnRunner> own_;  // null: its command is another
  IsolationState isolation_state_;
};

// One of its kernels.
class RemoteExecutor final : public Executor {
 public:
  // `record`: where it notes what the kernel's calls did that its traits allow.
  RemoteExecutor(RemoteRunner& runner, RemoteKernel kernel, std::shared_ptr<TraitRecord> record)
      : runner_(runner), kernel_(std::move(kernel)), record_(std::move(record)) {}
  // A kernel that three calls in a row have not come back from is not called again: each of them took the whole time limit.
  Execution run(const Call& call, std::span<const CallPart> parts, const Manner& manner) override;

 private:
  RemoteRunner& runner_;
  RemoteKernel kernel_;  // its own: the runner's list is made anew with each start
  std::shared_ptr<TraitRecord> record_;
  int late_ = 0;
};

}  // namespace assay
