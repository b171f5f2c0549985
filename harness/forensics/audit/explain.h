// Known ways to be wrong, tried one by one: a change of the definition with which a site's values are right explains them.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/model_file.h"
#include "harness/forensics/audit/formula.h"
#include "harness/forensics/audit/recipe.h"
#include "harness/forensics/audit/trace_rows.h"
#include "harness/forensics/model/wiring.h"

namespace assay {

struct WrongSite {
  const ModelFile& model;
  const Recipe& recipe;
  const SiteWiring& wiring;
  TraceRows& rows;
  const SiteCall& call;  // as the definition has it
  const Weight* weight;  // null where it has none
  Team& team;
};

struct Explained {
  std::vector<std::string> by;  // every change that explains the values; several where the values cannot tell them apart
  // Without one: the change that leaves least, and how many bounds.
  std::string nearest;
  double left = std::numeric_limits<double>::infinity();
};
Explained explain(const WrongSite& site);

namespace explanation {

// A change that is none: factors so near to 1, biases so small against the values.
inline constexpr double kIdentity = 1e-3;

// `x` with as many significant digits.
double to_digits(double x, int digits);

// The call of some rows of the `all` that it gives. Throws std::invalid_argument where an input has other rows.
SiteCall call_of_rows(SiteCall call, std::span<const Eigen::Index> rows, Eigen::Index all);

// What the tries share: they differ in what they change.
class Tries {
 public:
  explicit Tries(const WrongSite& site) : Tries(site, site.rows.site(site.wiring.site)) {}
  // Of other values than the trace's, such as some rows of them; both must outlive the object.
  Tries(const WrongSite& site, const RowMatrix& value) : site_(site), value_(value) {}

  const WrongSite& site() const { return site_; }
  const RowMatrix& value() const { return value_; }
  const std::vector<std::string>& found() const { return out_.by; }
  const Explained& explained() const { return out_; }
  // The call with the first change of it that explains the values; its weight may be gone, which attention has not.
  const std::optional<SiteCall>& changed() const { return changed_; }
  void add(std::string what) { out_.by.push_back(std::move(what)); }

  // In bounds; infinite where shapes do not fit, which explains nothing. Of many rows some are tried first: what is above `enough` there is told of these
  // alone.
  double left(const SiteCall& call, const Recipe& recipe, double enough = 1) const;
  bool fits(const SiteCall& call) const { return left(call, site_.recipe) <= 1; }
  // Notes `what` if the values are right with the change.
  template <class Change>
  bool attempt(const std::string& what, const Change& change) {
    SiteCall call = site_.call;
    change(call);
    return note(what, call, site_.recipe);
  }
  template <class Change>
  bool attempt_recipe(const std::string& what, const Change& change) {
    Recipe recipe = site_.recipe;
    change(recipe);
    return note(what, site_.call, recipe);
  }
  // The definition's values with a change; throws std::invalid_argument where shapes do not fit.
  template <class Change>
  Truth truth_with(const Change& change) const {
    SiteCall call = site_.call;
    change(call);
    return evaluate(call, site_.recipe, site_.team);
  }

 private:
  bool note(const std::string& what, const SiteCall& call, const Recipe& recipe);
  // Of these rows, or of all where there are none.
  double left_of(const std::vector<Eigen::Index>& rows, const SiteCall& call, const Recipe& recipe) const;
  // Outputs of which the definition itself gives no bound: a change that gives none of more, as where it is fed NaN, explains nothing.
  std::int64_t unbounded() const;

  const WrongSite& site_;
  const RowMatrix& value_;
  Explained out_;
  std::optional<SiteCall> changed_;
};

struct TriedOf {
  Formula formula;
  void (*tried)(Tries&);
};
inline void try_by_formula(Tries& tries, std::span<const TriedOf> all) {
  for (const auto& [formula, tried] : all) {
    if (formula == tries.site().wiring.formula) tried(tries);
  }
}

void try_settings(Tries& tries);
// Of theta, eps, scale, window and mask, numbers that the values themselves ask for.
void try_estimates(Tries& tries);
void try_inputs(Tries& tries);
void try_weights(Tries& tries);
void try_attention_estimates(Tries& tries);
// Of a matrix or a table: single numbers that the values ask for.
void try_weight_numbers(Tries& tries, const Truth& truth);
// Of the values alone, whatever the op: copies, rows or heads in another place, a factor, a bias, some numbers of the weight.
void try_values(Tries& tries, const Truth& truth);
// Of swiglu.
void try_other_gate(Tries& tries, const Truth& truth);

}  // namespace explanation
}  // namespace assay
