// Our declarations of the driver against those of CUDA, where its header is.
#include "backends/gpu/driver/driver.h"
#include "gtest/gtest.h"

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#if defined(CUDA_VERSION) && CUDA_VERSION >= 12080

namespace hlo::gpu {
namespace {

#define CU_ERROR(Kind, code, name, lost, text) static_assert(static_cast<int>(CuResult::Kind) == code);
#include "backends/gpu/driver/errors.def"

static_assert(static_cast<int>(CuResult::IllegalAddress) == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(static_cast<int>(CuResult::MisalignedAddress) == CUDA_ERROR_MISALIGNED_ADDRESS);
static_assert(static_cast<int>(CuResult::IllegalInstruction) == CUDA_ERROR_ILLEGAL_INSTRUCTION);
static_assert(static_cast<int>(CuResult::LaunchFailed) == CUDA_ERROR_LAUNCH_FAILED);
static_assert(static_cast<int>(CuResult::LaunchTimeout) == CUDA_ERROR_LAUNCH_TIMEOUT);
static_assert(static_cast<int>(CuResult::LaunchOutOfResources) == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
static_assert(static_cast<int>(CuResult::InvalidPtx) == CUDA_ERROR_INVALID_PTX);
static_assert(static_cast<int>(CuResult::UnsupportedPtxVersion) == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
static_assert(static_cast<int>(CuResult::NoBinaryForGpu) == CUDA_ERROR_NO_BINARY_FOR_GPU);
static_assert(static_cast<int>(CuResult::InvalidHandle) == CUDA_ERROR_INVALID_HANDLE);
static_assert(static_cast<int>(CuResult::NotFound) == CUDA_ERROR_NOT_FOUND);
static_assert(static_cast<int>(CuResult::NotReady) == CUDA_ERROR_NOT_READY);
static_assert(static_cast<int>(CuResult::NotSupported) == CUDA_ERROR_NOT_SUPPORTED);
static_assert(static_cast<int>(CuResult::NoDevice) == CUDA_ERROR_NO_DEVICE);
static_assert(static_cast<int>(CuResult::InvalidContext) == CUDA_ERROR_INVALID_CONTEXT);

using A = CuAttribute;
static_assert(int{A::MaxThreadsPerBlock} == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(int{A::MaxBlockDimX} == CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
static_assert(int{A::MaxGridDimX} == CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
static_assert(int{A::MaxSharedMemoryPerBlock} == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
static_assert(int{A::WarpSize} == CU_DEVICE_ATTRIBUTE_WARP_SIZE);
static_assert(int{A::MaxRegistersPerBlock} == CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
static_assert(int{A::ClockRate} == CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
static_assert(int{A::MultiprocessorCount} == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(int{A::MemoryClockRate} == CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
static_assert(int{A::GlobalMemoryBusWidth} == CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
static_assert(int{A::L2CacheSize} == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(int{A::MaxThreadsPerMultiprocessor} == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
static_assert(int{A::ComputeCapabilityMajor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(int{A::ComputeCapabilityMinor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(int{A::MaxSharedMemoryPerMultiprocessor} ==
              CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
static_assert(int{A::MaxSharedMemoryPerBlockOptin} == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(int{A::FunctionMaxThreadsPerBlock} == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
static_assert(int{A::FunctionSharedBytes} == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
static_assert(int{A::FunctionLocalBytes} == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
static_assert(int{A::FunctionRegisters} == CU_FUNC_ATTRIBUTE_NUM_REGS);
static_assert(int{A::FunctionMaxDynamicSharedBytes} == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(int{A::InfoLogBuffer} == CU_JIT_INFO_LOG_BUFFER);
static_assert(int{A::InfoLogBytes} == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
static_assert(int{A::ErrorLogBuffer} == CU_JIT_ERROR_LOG_BUFFER);
static_assert(int{A::ErrorLogBytes} == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

using Node = CuConditionalNode;
static_assert(sizeof(Node) == sizeof(CUgraphNodeParams) && Node::kKind == CU_GRAPH_NODE_TYPE_CONDITIONAL);
static_assert(int{Node::If} == CU_GRAPH_COND_TYPE_IF && int{Node::While} == CU_GRAPH_COND_TYPE_WHILE &&
              int{Node::Switch} == CU_GRAPH_COND_TYPE_SWITCH);
constexpr size_t kParams = offsetof(CUgraphNodeParams, conditional);
static_assert(offsetof(Node, condition) == kParams + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, handle));
static_assert(offsetof(Node, type) == kParams + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, type));
static_assert(offsetof(Node, count) == kParams + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, size));
static_assert(offsetof(Node, bodies) == kParams + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out));
static_assert(offsetof(Node, context) == kParams + offsetof(CUDA_CONDITIONAL_NODE_PARAMS, ctx));
static_assert(int{CuGraphFlags::ThisThread} == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(unsigned{CuGraphFlags::Replace} == CU_STREAM_SET_CAPTURE_DEPENDENCIES);

/// Parameters of the same number and sizes.
template <class R, class... X, class S, class... Y>
constexpr bool IsAlike(R (*)(X...), S (*)(Y...)) {
  if constexpr (sizeof...(X) != sizeof...(Y))
    return false;
  else
    // NOLINTNEXTLINE(bugprone-sizeof-expression): pointers are compared as such.
    return sizeof(R) == sizeof(S) && ((sizeof(X) == sizeof(Y)) && ...);
}
#define CU_FUNCTION(name, symbol, version, parameters) \
  static_assert(IsAlike(decltype(DriverApi::name)(nullptr), decltype (&::symbol)(nullptr)));
#include "backends/gpu/driver/functions.def"

TEST(DriverAbi, IsThatOfCuda) { EXPECT_FALSE(DriverFunctions().empty()); }

}  // namespace
}  // namespace hlo::gpu
#else
TEST(DriverAbi, IsThatOfCuda) { GTEST_SKIP() << "cuda.h is not installed, or older than CUDA 12.8"; }
#endif
