// Our declarations of NCCL against those of NVIDIA, where its header is, and against the library, where it
// is.
#include "backends/gpu/libraries/abi.h"
#include "backends/gpu/libraries/load.h"
#include "backends/gpu/libraries/nccl.h"
#include "gtest/gtest.h"

#if __has_include(<nccl.h>)
#include <nccl.h>

namespace hlo::gpu {
namespace {

using S = NcclStatus;
static_assert(kSame<S::Success, ncclSuccess>);
static_assert(kSame<S::UnhandledCudaError, ncclUnhandledCudaError>);
static_assert(kSame<S::SystemError, ncclSystemError>);
static_assert(kSame<S::InternalError, ncclInternalError>);
static_assert(kSame<S::InvalidArgument, ncclInvalidArgument>);
static_assert(kSame<S::InvalidUsage, ncclInvalidUsage>);
static_assert(kSame<S::RemoteError, ncclRemoteError>);
using T = NcclType;
static_assert(kSame<T::S8, ncclInt8> && kSame<T::U8, ncclUint8> && kSame<T::S32, ncclInt32>);
static_assert(kSame<T::U32, ncclUint32> && kSame<T::S64, ncclInt64> && kSame<T::U64, ncclUint64>);
static_assert(kSame<T::F16, ncclFloat16> && kSame<T::F32, ncclFloat32> && kSame<T::F64, ncclFloat64>);
static_assert(kSame<T::BF16, ncclBfloat16>);
using R = NcclReduction;
static_assert(kSame<R::Sum, ncclSum> && kSame<R::Product, ncclProd>);
static_assert(kSame<R::Max, ncclMax> && kSame<R::Min, ncclMin>);

#define NCCL_FUNCTION(name, symbol, parameters) \
  static_assert(IsAlike(decltype(NcclApi::name)(nullptr), decltype (&::symbol)(nullptr)));
#include "backends/gpu/libraries/nccl_functions.def"

}  // namespace
}  // namespace hlo::gpu

TEST(NcclAbi, IsThatOfNvidia) {}
#else
TEST(NcclAbi, IsThatOfNvidia) { GTEST_SKIP() << "nccl.h is not installed"; }
#endif

TEST(NcclLibrary, HasTheFunctions) {
  const auto library = hlo::gpu::OpenLibrary({"libnccl.so.2"}, {});
  if (!library) GTEST_SKIP() << library.error().message;
  const auto api = hlo::gpu::ReadNccl(*library);
  EXPECT_TRUE(api) << api.error().message;
}
