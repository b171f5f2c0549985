// What an evaluation found, as text for people and JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "harness/forensics/eval/text_eval.h"
#include "harness/forensics/eval/trace_eval.h"
#include "harness/reports/style.h"

namespace assay {

class Tokenizer;

// Who is who in a report: files as the person gave them.
struct EvalNames {
  std::string model;
  std::string against;  // empty: nothing
  std::string beside;   // empty: nothing
  std::string text;     // empty: the trace's prompts
};

// `tokenizer` spells tokens; null: ids alone.
std::string text_report(const TextEvaluation& evaluation, const EvalNames& names, const Tokenizer* tokenizer, const Style& style);
std::string trace_report(std::span<const PromptEvaluation> prompts, const EvalNames& names, const Tokenizer* tokenizer,
                         const Style& style);

nlohmann::ordered_json text_json(const TextEvaluation& evaluation, const EvalNames& names);
nlohmann::ordered_json trace_json(std::span<const PromptEvaluation> prompts, const EvalNames& names);

}  // namespace assay
