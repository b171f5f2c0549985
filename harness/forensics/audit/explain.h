// Known ways to be wrong, tried one by one: a change of the definition with which a site's values are right explains them.
#pragma once

#include <string>
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

// Every change that explains the values; several where the values cannot tell them apart.
std::vector<std::string> explain(const WrongSite& site);

namespace explanation {

// What the tries share: they differ in what they change.
class Tries {
 public:
  explicit Tries(const WrongSite& site) : site_(site), value_(site.rows.site(site.wiring.site)) {}

  const WrongSite& site() const { return site_; }
  const RowMatrix& value() const { return value_; }
  const std::vector<std::string>& found() const { return found_; }
  void add(std::string what) { found_.push_back(std::move(what)); }

  bool fits(const SiteCall& call) const { return fits(call, site_.recipe); }
  bool fits(const SiteCall& call, const Recipe& recipe) const;
  // Notes `what` if the values are right with the change.
  template <class Change>
  bool attempt(const std::string& what, const Change& change) {
    SiteCall call = site_.call;
    change(call);
    const bool right = fits(call);
    if (right) add(what);
    return right;
  }
  // The definition's values with a change; throws std::invalid_argument where shapes do not fit.
  template <class Change>
  Truth truth_with(const Change& change) const {
    SiteCall call = site_.call;
    change(call);
    return evaluate(call, site_.recipe, site_.team);
  }

 private:
  const WrongSite& site_;
  const RowMatrix& value_;
  std::vector<std::string> found_;
};

void try_settings(Tries& tries);
// Of theta and eps, round numbers that the values themselves ask for.
void try_estimates(Tries& tries);
void try_inputs(Tries& tries);
void try_weights(Tries& tries);
// Of the values alone, whatever the op: copies, rows or heads in another place, a factor, a bias, some numbers of the weight.
void try_values(Tries& tries, const Truth& truth);

}  // namespace explanation
}  // namespace assay
