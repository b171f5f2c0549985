// Explanations as text and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/forensics/explain/explain.h"
#include "harness/reports/style.h"

namespace assay::why {

std::string explain_text(const ExplainResult& result, const Style& style);
nlohmann::ordered_json explain_json(const ExplainResult& result);

}  // namespace assay::why
