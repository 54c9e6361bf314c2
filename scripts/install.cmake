# The shared library, what is installed, and Debian packages. Components: `tools`, `cross` (code ahead of time for other
# machines), `library` (with headers); `wheel` has what the Python package takes along.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# All tools and the interfaces for programs. Its own symbols are bound when it is linked, LLVM's are nobody else's.
set(exports ${PROJECT_SOURCE_DIR}/tools/library/exports.map)
add_library(hlo_shared SHARED tools/program.cc)
target_link_libraries(hlo_shared PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,hlo_library_api>" hlo_diff)
target_include_directories(hlo_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/tools/library/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(hlo_shared INTERFACE cxx_std_20)
target_link_options(hlo_shared PRIVATE "LINKER:--gc-sections,-Bsymbolic,--no-undefined,--version-script=${exports}"
                    "LINKER:-z,pack-relative-relocs,-z,relro" -static-libgcc)
if(HLO_LINKER_ORDERS_SYMBOLS)
  target_link_options(hlo_shared PRIVATE "LINKER:-T,${deferred_llvm}")
endif()
hlo_pch(hlo_shared)
set_target_properties(hlo_shared PROPERTIES HLO_SHARED ON OUTPUT_NAME hlo EXPORT_NAME hlo VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR} LINK_DEPENDS "${exports};${deferred_llvm}"
                      INSTALL_RPATH "$ORIGIN" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
# The tools on the library: for packages that have it anyway.
add_executable(hlo_linked tools/main.cc)
target_link_libraries(hlo_linked PRIVATE hlo_shared)
target_include_directories(hlo_linked PRIVATE ${PROJECT_SOURCE_DIR})
set_target_properties(hlo_linked PROPERTIES OUTPUT_NAME hlo RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/linked
                      INSTALL_RPATH "$ORIGIN/..")

# Manual pages and completions, as the tools' tables of options make them. Names for zsh and fish are as these want them.
set(documents ${PROJECT_BINARY_DIR}/documents)
set(made)
foreach(tool opt run diff viz)
  foreach(form man bash zsh fish)
    set(file ${documents}/${form}/hlo-${tool})
    if(form STREQUAL man)
      string(APPEND file .1.gz)
      set(command ${bin}/hlo-${tool} --help-as=man | gzip -9n > ${file})
    else()
      if(form STREQUAL zsh)
        set(file ${documents}/zsh/_hlo-${tool})
      elseif(form STREQUAL fish)
        string(APPEND file .fish)
      endif()
      set(command ${bin}/hlo-${tool} --help-as=${form} > ${file})
    endif()
    add_custom_command(OUTPUT ${file} DEPENDS hlo ${bin}/hlo-${tool} COMMAND ${CMAKE_COMMAND} -E make_directory ${documents}/${form}
                       COMMAND ${command})
    list(APPEND made ${file})
  endforeach()
endforeach()
add_custom_target(hlo_documents ALL DEPENDS ${made})

# The program lies where what it loads may lie beside it; on the path are its names.
set(programs ${CMAKE_INSTALL_LIBDIR}/hlo)
install(TARGETS hlo RUNTIME DESTINATION ${programs} COMPONENT tools)
if(TARGET hlo_mpi)
  install(TARGETS hlo_mpi LIBRARY DESTINATION ${programs} COMPONENT tools)
endif()
if(TARGET hlo_cross)
  install(TARGETS hlo_cross RUNTIME DESTINATION ${programs} COMPONENT cross)
endif()
if(TARGET hlo_cross_archive)
  install(FILES ${cross_archive} DESTINATION lib/${cross} COMPONENT cross)
endif()
file(RELATIVE_PATH to_programs /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${programs})
foreach(tool opt run diff viz)
  install(CODE "
    set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/hlo-${tool}\")
    file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    file(REMOVE \"\${link}\")
    file(CREATE_LINK ${to_programs}/hlo \"\${link}\" SYMBOLIC)
    message(STATUS \"Installing: \${link}\")" COMPONENT tools)
endforeach()
install(DIRECTORY ${documents}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
install(DIRECTORY ${documents}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
install(DIRECTORY ${documents}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tools)
install(DIRECTORY ${documents}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)

install(TARGETS hlo_shared EXPORT hlo LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY tools/library/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/hlo)
install(EXPORT hlo NAMESPACE hlo:: FILE hlo-config.cmake DESTINATION ${package} COMPONENT library)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hlo-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hlo-config-version.cmake DESTINATION ${package} COMPONENT library)
# Paths are those of the file itself: the folder may be moved.
file(RELATIVE_PATH to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
file(WRITE ${PROJECT_BINARY_DIR}/hlo.pc "prefix=\${pcfiledir}/${to_prefix}
libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: hlo
Description: HLO modules built, compiled, run, compared and drawn
Version: ${PROJECT_VERSION}
Cflags: -I\${includedir}
Libs: -L\${libdir} -lhlo
")
install(FILES ${PROJECT_BINARY_DIR}/hlo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
# What objects of `hlo-opt --aot` are linked with.
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/library/examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hlo-toolkit-dev/examples COMPONENT library)
install(FILES ${PROJECT_SOURCE_DIR}/tools/library/guide.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/hlo-toolkit-dev COMPONENT library)

# All that is installed.
add_custom_target(hlo_packaged)
foreach(target hlo hlo_mpi hlo_cross hlo_archive hlo_cross_archive hlo_shared hlo_linked hlo_documents)
  if(TARGET ${target})
    add_dependencies(hlo_packaged ${target})
  endif()
endforeach()

install(TARGETS hlo_shared LIBRARY DESTINATION . COMPONENT wheel EXCLUDE_FROM_ALL NAMELINK_SKIP)
install(TARGETS hlo_linked RUNTIME DESTINATION bin COMPONENT wheel EXCLUDE_FROM_ALL)
if(TARGET hlo_mpi)
  install(TARGETS hlo_mpi LIBRARY DESTINATION . COMPONENT wheel EXCLUDE_FROM_ALL)
endif()

# --- Debian packages: `cpack` in the build folder ---
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hlo-toolkit)
set(CPACK_PACKAGE_VENDOR "The HLO toolkit's maintainers")
set(CPACK_PACKAGE_CONTACT "The HLO toolkit's maintainers <hlo-toolkit@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "HLO modules: checked, optimised, run, compared and drawn")
set(CPACK_PACKAGE_DESCRIPTION "Reads and prints the textual HLO of XLA, optimises it, runs it and compares results.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tools library)
if(TARGET hlo_cross)
  list(APPEND CPACK_COMPONENTS_ALL cross)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
# Packs in seconds, to little more than xz does in a minute.
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/installed_size.cmake)
set(CPACK_THREADS 0)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME hlo-toolkit)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "hlo-opt, hlo-run, hlo-diff and hlo-viz read and print the textual HLO of XLA,
optimise it, run it on CPUs and GPUs, compare results and graphs, and draw them.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
# What is loaded when it is asked for can be missing.
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libc6 (>= 2.36)")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "libopenblas0, libgvc6")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "libdnnl2, openmpi-bin, bash-completion")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME hlo-toolkit-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libc6 (>= 2.36), libstdc++6 (>= 12), libre2-9")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "libopenblas0, libgvc6")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "libdnnl2, cmake, pkg-config")
set(CPACK_DEBIAN_CROSS_PACKAGE_NAME hlo-toolkit-cross)
set(CPACK_DEBIAN_CROSS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_CROSS_PACKAGE_DEPENDS "hlo-toolkit (= ${PROJECT_VERSION}), libc6 (>= 2.36)")
set(CPACK_DEBIAN_CROSS_DESCRIPTION "Code ahead of time for other machines: what hlo-opt --aot --target=aarch64-linux-gnu needs, and the archive that its
objects are linked with.")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Headers and library for C++ and C: builds, compiles, runs, compares and draws HLO modules in programs; with a guide
and examples, and the archive that objects of hlo-opt --aot are linked with.")
include(CPack)
