# What `cmake --install` and `cpack` put where. Everything is found from the program's or the package file's own place,
# so that a tree may be moved as a whole.
include(CMakePackageConfigHelpers)

# The kernels, as assay::kernels, with their families' headers, which specify them, all of them in `#include "kernels/kernels.h"`: C11
# and C++20. The choice among an op's variants besides, in C++. What the kernels are made of (simd/ and the like) stays at home.
set_target_properties(kernels PROPERTIES OUTPUT_NAME assay_kernels)
install(TARGETS kernels EXPORT assay ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
file(STRINGS kernels/kernels.h c_headers REGEX "^#include \"kernels/")
list(TRANSFORM c_headers REPLACE "#include \"(.*)\"" "\\1")
list(APPEND c_headers kernels/kernels.h kernels/kv_view.h kernels/sizes.h kernels/formats/blocks.h kernels/formats/packed.h harness/plugin/assay_plugin.h)
foreach(header IN LISTS c_headers ITEMS kernels/isa.h kernels/isa.inc kernels/op_tables.h)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay/${folder})
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/generated/kernels/op_tables.inc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/assay/kernels)

# For who builds without CMake: `pkg-config --cflags --libs assay`.
configure_file(cmake/assay.pc.in ${CMAKE_BINARY_DIR}/generated/assay.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/assay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# What a plugin is written against, as assay::plugin: the ops' argument structs and `#include "harness/plugin/assay_plugin.h"`.
install(TARGETS plugin EXPORT assay)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
install(EXPORT assay NAMESPACE assay:: FILE assay-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/assay-config.cmake.in ${CMAKE_BINARY_DIR}/generated/assay-config.cmake
                              INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
# SemVer: before 1.0 a minor version may break.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/assay-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/assay-config.cmake ${CMAKE_BINARY_DIR}/generated/assay-config-version.cmake
        cmake/assay-parity-test.cmake DESTINATION ${package_dir})

# The program and its data.
install(TARGETS assay assay-runner RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY golden/ops DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/golden FILES_MATCHING PATTERN "*.h5")
# The embedded model and what it is held to: `assay run` without a model, `assay eval --against`.
install(DIRECTORY golden/models golden/traces golden/texts DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/golden)
install(FILES golden/MANIFEST.json golden/SCHEMA.md golden/LICENSES.md DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/golden)
install(FILES golden/ledger.json DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/golden OPTIONAL)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES action.yml DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples templates DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN "__pycache__" EXCLUDE)
# What made the goldens, for who would record their own or make ours again.
install(DIRECTORY golden/record DESTINATION ${CMAKE_INSTALL_DATADIR}/assay/golden PATTERN "__pycache__" EXCLUDE)

# Completions and the man page, printed when they are installed by the program that was built: it need not have been all that was built.
if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
  function(assay_print what file destination)
    set(output ${CMAKE_BINARY_DIR}/generated/${what}/${file})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/${what})
    # Whole at every moment: two installations of one build may run at the same time.
    install(CODE "string(RANDOM LENGTH 8 part)
      execute_process(COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} \"$<TARGET_FILE:assay>\" completion ${what}
        OUTPUT_FILE \"${output}.\${part}\" COMMAND_ERROR_IS_FATAL ANY)
      file(RENAME \"${output}.\${part}\" \"${output}\")")
    install(FILES ${output} DESTINATION ${destination})
  endfunction()
  assay_print(bash assay ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  assay_print(zsh _assay ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  assay_print(fish assay.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  assay_print(man assay.1 ${CMAKE_INSTALL_MANDIR}/man1)
endif()

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR "The Assay authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME assay-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Assay authors <assay@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
