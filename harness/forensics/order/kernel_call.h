// A kernel called again and again with data of one's choice, in one layout.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/verdict/call.h"

namespace assay::order {

// A call that did not end as a call must: refused, crashed, or it touched what is not its own.
struct CallFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class KernelCall {
 public:
  // `page`: of the machine with the largest pages that takes part. Throws std::invalid_argument for parameters that make no sense.
  // `watch` is told of each call.
  using Watch = std::function<void(std::int64_t calls)>;
  KernelCall(const Op& op, const Params& params, Executor& executor, std::size_t page, Watch watch = {});

  const Call& call() const { return call_; }
  // An input by its name, to be filled; zero bytes at first.
  Array& input(std::string_view name);
  // The first output of the call with these inputs. Throws CallFailed.
  Array run();
  std::int64_t calls() const { return calls_; }

  // What the bits of outputs of random data depend on beside the data: placements, and cuts among threads; a line each. Leaves those data.
  std::vector<std::string> dependences();

 private:
  Array output_of(const Outcome& outcome) const;

  Call call_;
  Executor& executor_;
  std::vector<Array> inputs_;
  std::int64_t calls_ = 0;
  Watch watch_;
};

// Sets element `index` of floats (f32, f16 or bf16), which holds `value` exactly.
void set_number(Array& array, std::int64_t index, double value);

}  // namespace assay::order
