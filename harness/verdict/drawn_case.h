// The parts of which cases without a file are made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/verdict/cases.h"
#include "harness/verdict/draw.h"

namespace assay {

// In the order of the signature; of a tensor that `data` does not name, `fallback` (distribution_for). `repeated`: long tensors begin again and
// again, which costs little; a golden's and the bias case's do not.
std::vector<Array> generate_inputs(const Signature& signature, const std::map<std::string, Distribution>& data,
                                   const std::string& fallback, std::uint64_t seed, bool repeated = false);

// Inputs in memory as the signature says, and memory for outputs. Throws std::invalid_argument where an input is of another size.
class LaidInputs {
 public:
  LaidInputs(const Signature& signature, const std::vector<Array>& inputs);
  std::span<void* const> tensors() const { return tensors_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<void*> tensors_;
};

// What a kernel must return, which may depend on the values of inputs: laid out as the signature says.
AssayStatus status_for(const Op& op, const Params& params, const Signature& signature, const std::vector<Array>& inputs);

// Gives the inputs of a call coincidences (harness/verdict/coincidences.h), each from its number in `next` on, which becomes the one after.
void add_coincidences(const Op& op, const Signature& signature, std::vector<std::size_t>& next, Draws& draws,
                      std::vector<Array>& inputs);

// Rows that inputs are to have: so many, each of so many numbers, in a call of that work.
struct WantedRows {
  std::int64_t rows;
  std::int64_t length;
  double work;
};
// Of so many draws the one whose inputs have most of them.
Params most_rows_of(const Op& op, Draws& draws, int tries, const WantedRows& wanted);

// Of parameters that nobody chose: the rest follows from the seed. It has no name yet. `data`: a distribution, or kCoincidences.
TestCase drawn_case(const Op& op, Params params, const std::string& data, std::uint64_t seed);

}  // namespace assay
