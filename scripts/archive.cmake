# What objects of --aot call (libhlo-rt.a): our loops with all that they need of other libraries, as one object; for this
# kind of machine, and for AArch64 where a C++ library for it is installed.
file(GLOB archive_sources CONFIGURE_DEPENDS backends/cpu/runtime/*.cc)
add_library(hlo_archive_start OBJECT ${archive_sources})
target_link_libraries(hlo_archive_start PRIVATE hlo_flags)
hlo_pch(hlo_archive_start)
set(archive ${PROJECT_BINARY_DIR}/lib/libhlo-rt.a)
set(archive_libraries hlo_cpu hlo_compile hlo_kernel hlo_structured hlo_gemm hlo_eval hlo_infer hlo_ir hlo_numeric hlo_support)
list(TRANSFORM archive_libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archive_files)
add_custom_command(OUTPUT ${archive} VERBATIM COMMAND_EXPAND_LISTS
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/link_archive ${archive} $<TARGET_OBJECTS:hlo_archive_start> -- ${archive_files}
          $<TARGET_FILE:LLVMTargetParser> $<TARGET_FILE:LLVMSupport> $<TARGET_FILE:LLVMDemangle>
  DEPENDS scripts/link_archive hlo_archive_start $<TARGET_OBJECTS:hlo_archive_start> ${archive_libraries})
add_custom_target(hlo_archive ALL DEPENDS ${archive})

# The same for AArch64, from its sources. One configuration is enough.
set(cross aarch64-linux-gnu)
set(cross_flags --target=${cross} -fsigned-char -mno-outline-atomics -ffunction-sections -fdata-sections)
if(NOT CMAKE_BUILD_TYPE STREQUAL Release OR NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  return()
endif()
find_program(HLO_CROSS_LINKER ${cross}-ld)
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS --target=${cross})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
check_cxx_source_compiles("#include <vector>\n#include <xxhash.h>\n#ifndef __aarch64__\n#error\n#endif" HLO_CROSS_LIBRARY)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT HLO_CROSS_LINKER OR NOT HLO_CROSS_LIBRARY)
  message(STATUS "no libhlo-rt.a for ${cross}: scripts/packages names what it takes (then cmake --fresh)")
  return()
endif()
# Of LLVM it takes headers alone; what it calls of the library is backends/cpu/runtime/llvm.
file(GLOB cross_sources CONFIGURE_DEPENDS backends/products/*.cc backends/products/*/*.cc
     backends/structured/*.cc ir/eval/*.cc ir/numeric/*.cc)
list(FILTER cross_sources EXCLUDE REGEX "(_test|[_/]main|(kernels_avx|amx_kernels|bf16_kernels|int8_kernels|depthwise_nchw|depthwise_nhwc_staged)[a-z0-9_]*|/scratch|/lapack_library)\\.cc$")
foreach(source backends/cpu/chain_runner backends/cpu/convolution_problem backends/cpu/dot_problem
        backends/cpu/eval_step backends/cpu/host_steps backends/cpu/product_runner backends/cpu/routine_builder
        backends/cpu/structured_runner ir/attrs ir/binary ir/computation ir/custom_call ir/custom_call_rules
        ir/custom_call_signature ir/findings ir/instruction ir/layout ir/literal ir/module ir/op ir/print_shape
        ir/shape ir/sharding ir/transfer_pairs ir/types ir/window ir/support/cpu_features ir/support/diagnostic
        ir/support/guarded_memory ir/support/interrupt ir/support/json ir/support/json_reader ir/support/library_use)
  list(APPEND cross_sources ${source}.cc)
endforeach()
add_library(hlo_cross_code STATIC ${cross_sources})
target_precompile_headers(hlo_cross_code PRIVATE ${precompiled})
add_library(hlo_cross_start OBJECT ${archive_sources})
target_precompile_headers(hlo_cross_start REUSE_FROM hlo_cross_code)
file(GLOB cross_llvm CONFIGURE_DEPENDS backends/cpu/runtime/llvm/*.cc)
add_library(hlo_cross_llvm STATIC ${cross_llvm})
target_precompile_headers(hlo_cross_llvm REUSE_FROM hlo_cross_code)
foreach(part hlo_cross_code hlo_cross_start hlo_cross_llvm)
  target_link_libraries(${part} PRIVATE hlo_flags nlohmann_json::nlohmann_json)
  target_compile_options(${part} PRIVATE ${cross_flags})
  set_target_properties(${part} PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cross)
endforeach()
# Static checks look at other files as they are compiled for this machine.
set_target_properties(hlo_cross_code hlo_cross_start PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
set(cross_archive ${PROJECT_BINARY_DIR}/lib/${cross}/libhlo-rt.a)
add_custom_command(OUTPUT ${cross_archive} VERBATIM COMMAND_EXPAND_LISTS
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/link_archive --target ${cross} ${cross_archive} $<TARGET_OBJECTS:hlo_cross_start> --
          $<TARGET_FILE:hlo_cross_code> $<TARGET_FILE:hlo_cross_llvm>
  DEPENDS scripts/link_archive hlo_cross_start $<TARGET_OBJECTS:hlo_cross_start> hlo_cross_code hlo_cross_llvm)
add_custom_target(hlo_cross_archive ALL DEPENDS ${cross_archive})
