// The function of model.c that runs a pass: a site for each step, and under it the calls of kernels.
#pragma once

#include <string>

#include "harness/plan_c/recorded_calls.h"

namespace assay {

// `decode` or `prefill`, without the functions around them. `input_site`: of a part of a model, whose rows the input are; else empty.
// `shared`: threads share the steps.
std::string emit_pass(CallRecorder& recorder, const Plan& plan, bool decode, const std::string& input_site, bool shared);

}  // namespace assay
