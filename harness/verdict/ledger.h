// golden/ledger.json: the digest of each golden case's outputs with the margin that they had, and who accepted a change of them, and
// why.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "golden/atomic_file.h"

namespace assay {

// Margins of the same bits, found on two machines, may differ by this much: the reference's fp64 sums of up to 4096 products may be
// rounded otherwise, by k 2^-53 of what the bound takes 2^-24 of at least, 2^-17 of a margin.
inline constexpr double kMarginRounding = 0x1p-17;

// Whether a margin is the one that the ledger keeps, to four digits. Where it is not, for the same bits, truth or bound has moved.
bool is_kept_margin(double margin, double kept);

class Ledger {
 public:
  // No such file: an empty ledger. A damaged or unreadable one throws std::runtime_error.
  explicit Ledger(std::filesystem::path path);

  std::optional<std::string> digest(const std::string& op, const std::string& case_name) const;
  // That of the accepted bits; none in a ledger from before margins were kept.
  std::optional<double> margin(const std::string& op, const std::string& case_name) const;

  struct Acceptance {
    std::string op;
    std::string who;
    std::string date;
    std::string why;
    std::vector<std::string> cases;  // those whose digest or margin changed or came new
  };
  const std::vector<Acceptance>& acceptances() const { return acceptances_; }
  const std::map<std::string, std::map<std::string, std::string>>& digests() const { return digests_; }

  // Replaces the digests and margins of one op and notes why; nothing is noted where none changed. Returns the cases whose did.
  std::vector<std::string> accept(const std::string& op, const std::map<std::string, std::string>& digests,
                                  const std::map<std::string, double>& margins, const std::string& who, const std::string& date,
                                  const std::string& why);
  // Into `file`, the ledger's own in the making, and commits it. Whoever opens it before he reads the ledger loses no acceptance of
  // another process's.
  void save(AtomicFile& file) const;
  void save() const;

 private:
  std::filesystem::path path_;
  std::map<std::string, std::map<std::string, std::string>> digests_;  // op -> case -> digest
  std::map<std::string, std::map<std::string, double>> margins_;       // likewise, to four digits, where it is above 0
  std::vector<Acceptance> acceptances_;
};

}  // namespace assay
