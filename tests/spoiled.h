// Kernels that are right but where a condition on the call holds, and the cases that are to see them.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "harness/verdict/cases.h"
#include "harness/verdict/check.h"
#include "harness/verdict/coverage.h"

namespace assay {

using Kernel = AssayStatus (*)(const void* args) noexcept;

inline Kernel right_kernel;

template <class Args, auto kWrong>
AssayStatus spoiled(const void* args) noexcept {
  const auto& a = *static_cast<const Args*>(args);
  const bool wrong = kWrong(a);
  const AssayStatus status = right_kernel(args);
  if (status == ASSAY_OK && wrong) a.y[0] += 1;
  return status;
}

// What the first of the op's cases that fails says; empty: none does.
inline std::string failure_of(const char* name, Kernel kernel, const std::vector<TestCase>& cases,
                              const Checks& checks = Checks::all()) {
  const Op& op = *find_op(name);
  right_kernel = op.kernels().back().run;
  InProcess executor(kernel);
  for (const TestCase& test : cases) {
    CaseCheck check(op, test, nullptr);
    const CaseResult result = check.check({.name = "spoiled", .selection = "", .executor = &executor}, checks);
    if (result.failure) return result.failure->message;
  }
  return "";
}
inline std::vector<TestCase> made(const char* op, const Params& shape) {
  return {generated_test_case(*find_op(op), {shape, "gauss", 1})};
}
inline std::vector<TestCase> covering_cases(const char* op) {
  std::vector<TestCase> cases;
  for (Params& params : covering_params(*find_op(op))) cases.push_back(shape_test_case(*find_op(op), std::move(params)));
  return cases;
}
inline void expect_seen(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

}  // namespace assay
