#include "harness/bench/gate.h"

#include <map>
#include <memory>

#include "harness/suite.h"

namespace assay::bench {
namespace {

// Empty if the variant passes.
std::string failure_of(const Adapter& adapter, const Variant& variant) {
  CheckRequest request;
  request.ops = {std::string(adapter.op())};
  request.isa = variant.isa;
  try {
    if (run_suite(request).passed()) return {};
  } catch (const std::exception& error) {
    return error.what();
  }
  return "see `assay check " + request.ops[0] + " --isa " + std::string(isa_name(variant.isa)) + "`";
}

}  // namespace

Gate parity_gate() {
  const auto known = std::make_shared<std::map<std::string, std::string>>();
  return [known](const Adapter& adapter, const Variant& variant, std::string& why) {
    auto entry = known->find(variant.name);
    if (entry == known->end()) entry = known->emplace(variant.name, failure_of(adapter, variant)).first;
    why = entry->second;
    return why.empty();
  };
}

}  // namespace assay::bench
