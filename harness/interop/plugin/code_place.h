// Where a kernel's machine code is, for who would name its source.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace assay {

struct CodePlace {
  std::string file;          // the program or library; empty: not on this machine
  std::uint64_t offset = 0;  // of the function from where the file is loaded
};

// Of a function in this process; nothing where the loader does not know it.
inline CodePlace code_place(const void* function) {
  Dl_info info{};
  if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) return {};
  return {info.dli_fname,
          static_cast<std::uint64_t>(static_cast<const char*>(function) - static_cast<const char*>(info.dli_fbase))};
}

}  // namespace assay
