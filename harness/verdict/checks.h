// The parts of a verdict, by name (docs/reading-a-verdict.md).
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace assay {

enum class Check : std::uint8_t { classes, bound, bias, spread, exact, guard, bits, ledger };

inline constexpr std::array<std::string_view, 8> kCheckNames{"classes", "bound", "bias", "spread",
                                                             "exact",   "guard", "bits", "ledger"};

constexpr std::string_view check_name(Check check) {
  return kCheckNames[static_cast<std::size_t>(check)];
}

// Which of them count.
class Checks {
 public:
  static Checks all() { return Checks(0xff); }
  // "classes,bound"; throws std::invalid_argument that names the nearest for an unknown one.
  static Checks parse(std::string_view list);
  // ASSAY_CHECKS if set, else all.
  static Checks from_environment();

  // These of them.
  Checks only(std::initializer_list<Check> these) const {
    std::uint32_t mask = 0;
    for (const Check check : these) mask |= 1U << static_cast<unsigned>(check);
    return Checks(mask_ & mask);
  }
  bool has(Check check) const { return (mask_ >> static_cast<unsigned>(check) & 1U) != 0; }
  std::string to_string() const;      // those that are on
  std::string off_to_string() const;  // those that are off; empty: none

 private:
  explicit Checks(std::uint32_t mask) : mask_(mask) {}
  std::uint32_t mask_;
};

}  // namespace assay
