#include "tests/malformed/malformed.h"

#include "tests/malformed/folder_image.h"
#include "tests/malformed/gguf_image.h"

namespace assay::malformed {

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_gguf_header_cases(cases);
  add_gguf_metadata_cases(cases);
  add_gguf_tensor_cases(cases);
  add_gguf_model_cases(cases);
  add_gguf_vocabulary_cases(cases);
  add_safetensors_cases(cases);
  add_index_cases(cases);
  add_config_cases(cases);
  return cases;
}

std::vector<Case> right_files() {
  return {{"right-gguf", "", {{"model.gguf", right_gguf().build()}}, Fault::unreadable, "", ""},
          {"right-folder", "", right_folder(), Fault::unreadable, "", ""},
          {"right-shards", "", right_shards(), Fault::unreadable, "", ""}};
}

}  // namespace assay::malformed
