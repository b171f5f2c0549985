// What `assay order` prints: text, JSON, a drawing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harness/forensics/order/order.h"
#include "harness/reports/style.h"

namespace assay::order {

// The order of a sum that was found: "16 lanes, lanes joined pairwise, by halves".
std::string words_of(const SumOrder& sum);

// Of each kernel a line a shape: the order in words, the accumulator, fma or not, and how it stands to the canonical order.
std::string order_text(const OrderResult& result, const Style& style);

// Trees as joins: term t is t, and each join names two or more that were there before and is the next number itself.
nlohmann::ordered_json order_json(const OrderResult& result);

// Every tree that was found, a picture under the other: terms from left to right, sums above what they join.
std::string order_svg(const OrderResult& result);

}  // namespace assay::order
