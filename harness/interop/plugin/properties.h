// What a plugin's kernel declares of itself: AssayPluginKernel::properties.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/verdict/discipline/rules.h"

namespace assay {

// What a key may say: one word, or, where there is none, a number from 1 to `most`.
struct TraitRow {
  std::string_view key;
  std::string_view value;
  std::int64_t most = 0;
};

inline constexpr std::string_view kAllocates = "allocates";
inline constexpr std::string_view kBatchInvariant = "batch-invariant";
inline constexpr std::string_view kNan = "nan";
inline constexpr std::string_view kOverRead = "over-read";
inline constexpr std::string_view kPlacementInvariant = "placement-invariant";
inline constexpr std::string_view kThreads = "threads";

inline constexpr TraitRow kTraits[] = {{kAllocates, "yes"},   {kBatchInvariant, "no"},     {kNan, "no"},
                                       {kOverRead, {}, 4096}, {kPlacementInvariant, "no"}, {kThreads, "own"}};

// The properties of a kernel: what it may honestly do that others may not. Each is held to where the kernel is judged.
class Traits {
 public:
  // Throws std::invalid_argument that names the key and what is expected. Other keys are left to who knows them: words().
  static Traits parse(const char* properties);
  // These, with the keys of `more` added, or in the place of the same keys here.
  Traits with(const Traits& more) const;
  // Throws std::invalid_argument: a key that a kernel with the canonical bits cannot have.
  void require_claim(bool canonical) const;

  // Bytes that it may read past the end of an input.
  std::size_t over_read() const;
  bool batch_invariant() const { return !has(kBatchInvariant); }
  bool placement_invariant() const { return !has(kPlacementInvariant); }
  // Parts of a call lie elsewhere than they do in the whole.
  bool cut_invariant() const { return batch_invariant() && placement_invariant(); }
  bool own_threads() const { return has(kThreads); }
  // Whether inputs that hold NaN or infinity lie in its domain.
  bool takes_nan() const { return !has(kNan); }
  Allowed allowed() const { return own_threads() ? Allowed::threads : has(kAllocates) ? Allowed::memory : Allowed::nothing; }

  const std::map<std::string, std::string>& declared() const { return declared_; }
  // What it computes in (harness/verdict/declaration.h), as it says it.
  const std::map<std::string, std::string>& words() const { return words_; }
  std::string to_string() const;  // "nan=no, over-read=16, x=f16"
  bool operator==(const Traits&) const = default;

 private:
  bool has(std::string_view key) const { return declared_.contains(std::string(key)); }
  std::map<std::string, std::string> declared_;
  std::map<std::string, std::string> words_;
};

// What a run shows of a kernel's traits.
struct TraitRecord {
  std::set<std::string_view> seen;     // keys
  std::vector<std::string> not_asked;  // cases outside its domain
  double price = 0;                    // the largest of a case (CaseResult)
};

// "key=value;key=value;": null and empty declare nothing. Throws std::invalid_argument for other text and for a key twice.
std::map<std::string, std::string> parse_properties(const char* text);

}  // namespace assay
