# GCC 12 forgets that a precompiled header was a system's and warns of std::string's insides (GCC bug 105329).
function(assay_precompiled_warnings target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# Headers of libraries, read once for a target instead of once a file. No header of the project is among them.
function(assay_precompile target)
  if(ASSAY_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    assay_precompiled_warnings(${target})
  endif()
endfunction()

# `target` uses what `other`, which is compiled with the same flags, has made.
function(assay_precompile_as target other)
  if(ASSAY_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
    assay_precompiled_warnings(${target})
  endif()
endfunction()

set(harness_precompiled <fmt/format.h> <nlohmann/json.hpp> <algorithm> <filesystem> <functional> <map> <optional> <string> <vector>)
