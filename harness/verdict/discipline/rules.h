// What a call must leave as it found it: a row each. The kernel that does not is named, and what it left is put right.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay {

struct Rule {
  const char* what;
  // The state of this thread, or of the process, in one word.
  std::uint64_t (*now)();
  // In words, of two that differ.
  std::string (*complaint)(std::uint64_t before, std::uint64_t after);
  // Null: there is nothing to put right.
  void (*restore)(std::uint64_t before);
};

// Of a call that leaves AMX's tiles configured.
inline constexpr char kTilesLeft[] = "left the tiles configured (no TILERELEASE)";

// What a kernel has declared that its calls do: take memory of their own; start threads, which takes memory too.
enum class Allowed : std::uint8_t { nothing, memory, threads };

// Of every call, but for what it is allowed.
std::span<const Rule> call_rules(Allowed allowed);

// Of many calls together, with no other thread about: what a process has of files and addresses.
std::span<const Rule> rest_rules();

// The words of some rules, before a call or many.
class Discipline {
 public:
  explicit Discipline(std::span<const Rule> rules);
  // What the first rule that was broken says, after all of them have been restored; empty: none was.
  std::string settle();

 private:
  static constexpr std::size_t kMostRules = 8;
  std::span<const Rule> rules_;
  std::uint64_t before_[kMostRules] = {};
};

// The handlers of all signals. To look at them costs a system call each: of many calls together.
class HandlersKept {
 public:
  HandlersKept();
  // As Discipline's.
  std::string settle() const;

 private:
  std::vector<struct sigaction> before_;
};

}  // namespace assay
