// The assay-runner beside this program, started within its isolation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/interop/remote/child_process.h"
#include "harness/interop/remote/isolation.h"

namespace assay {

class OwnRunner {
 public:
  // For a runner that is to load these. Throws std::runtime_error: there is none.
  OwnRunner(const std::vector<std::string>& plugins, const IsolationRequest& request);

  // Starts it with `shared` (ChildProcess); `state` is told what holds it in. Throws std::runtime_error.
  std::unique_ptr<ChildProcess> start(int shared, IsolationState& state);

 private:
  std::vector<std::string> words_;
  std::unique_ptr<Isolation> isolation_;  // null: none
};

}  // namespace assay
