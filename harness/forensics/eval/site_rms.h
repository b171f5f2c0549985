// How far a run lies from a trace, site by site and by kind of site.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "golden/hdf5.h"

namespace assay {

// RMS over all rows kept and all elements of one site of one prompt.
struct SiteRms {
  std::string prompt;
  std::string site;
  double size = 0;              // of the trace's values
  double ours = 0;              // of ours less the trace's
  std::optional<double> other;  // of another trace's less the trace's, where there is one to stand beside us

  // ours / other; without another ours / size. 0 / 0, where all agree bit for bit, is NaN.
  double figure() const { return ours / other.value_or(size); }
  bool exact() const { return ours == 0 && other.value_or(0) == 0; }
};

// Root of the mean square of a - b; of a alone. Block formats have no numbers: std::invalid_argument, as for shapes that
// differ in their elements.
double rms_difference(const Array& a, const Array& b);
double rms(const Array& a);

// Of the figures of one kind of site ("q_proj" of "layers.07.q_proj"), over layers and prompts. Exact sites are counted and have no figure.
struct KindErrors {
  std::string kind;
  std::size_t sites = 0;
  std::size_t exact = 0;
  double median = 0;
  double worst = 0;
  const SiteRms* at = nullptr;  // of the worst; null where all are exact
};

// A line a kind, in the order in which they first come; pointers into `errors`.
std::vector<KindErrors> errors_by_kind(std::span<const SiteRms> errors);
KindErrors errors_over_all(std::span<const SiteRms> errors);

}  // namespace assay
