# With ASSAY_FOLDERS the files of a folder are compiled as one, which instantiates the libraries' templates once instead of once a file.
# What lies within a folder of ARGN, by its path from the top, is one; the last that fits counts.
function(assay_one_by_folder target)
  if(NOT ASSAY_FOLDERS)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} ABSOLUTE)
    get_filename_component(folder ${folder} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    set(group ${folder})
    foreach(whole IN LISTS ARGN)
      if("${folder}/" MATCHES "^${whole}/")
        set(group ${whole})
      endif()
    endforeach()
    string(MAKE_C_IDENTIFIER ${group} group)
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# What most files of harness and tests read: compiled once a target.
set(ASSAY_HEADERS <fmt/format.h> <nlohmann/json.hpp> <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <fstream> <functional> <map>
  <memory> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <utility> <variant> <vector>)
