// Our declarations of cuFFT against those of CUDA, where its headers are, and against the library, where it
// is.
#include "backends/gpu/libraries/abi.h"
#include "backends/gpu/libraries/cufft.h"
#include "backends/gpu/libraries/load.h"
#include "gtest/gtest.h"

#if __has_include(<cufft.h>)
#include <cufft.h>

namespace hlo::gpu {
namespace {

using S = CufftStatus;
static_assert(kSame<S::Success, CUFFT_SUCCESS>);
static_assert(kSame<S::InvalidPlan, CUFFT_INVALID_PLAN>);
static_assert(kSame<S::AllocFailed, CUFFT_ALLOC_FAILED>);
static_assert(kSame<S::InvalidType, CUFFT_INVALID_TYPE>);
static_assert(kSame<S::InvalidValue, CUFFT_INVALID_VALUE>);
static_assert(kSame<S::InternalError, CUFFT_INTERNAL_ERROR>);
static_assert(kSame<S::ExecFailed, CUFFT_EXEC_FAILED>);
static_assert(kSame<S::SetupFailed, CUFFT_SETUP_FAILED>);
static_assert(kSame<S::InvalidSize, CUFFT_INVALID_SIZE>);
static_assert(kSame<S::UnalignedData, CUFFT_UNALIGNED_DATA>);
static_assert(kSame<S::InvalidDevice, CUFFT_INVALID_DEVICE>);
static_assert(kSame<S::NoWorkspace, CUFFT_NO_WORKSPACE>);
static_assert(kSame<S::NotImplemented, CUFFT_NOT_IMPLEMENTED>);
static_assert(kSame<S::NotSupported, CUFFT_NOT_SUPPORTED>);
using T = CufftType;
static_assert(kSame<T::R2C, CUFFT_R2C> && kSame<T::C2R, CUFFT_C2R> && kSame<T::C2C, CUFFT_C2C>);
static_assert(kSame<T::D2Z, CUFFT_D2Z> && kSame<T::Z2D, CUFFT_Z2D> && kSame<T::Z2Z, CUFFT_Z2Z>);
static_assert(kCufftForward == CUFFT_FORWARD && kCufftInverse == CUFFT_INVERSE);

#define CUFFT_FUNCTION(name, symbol, parameters) \
  static_assert(IsAlike(decltype(CufftApi::name)(nullptr), decltype (&::symbol)(nullptr)));
#include "backends/gpu/libraries/cufft_functions.def"

}  // namespace
}  // namespace hlo::gpu

TEST(CufftAbi, IsThatOfCuda) {}
#else
TEST(CufftAbi, IsThatOfCuda) { GTEST_SKIP() << "cufft.h is not installed"; }
#endif

TEST(CufftLibrary, HasTheFunctions) {
  const auto library = hlo::gpu::OpenLibrary({"libcufft.so.12", "libcufft.so.11"}, {});
  if (!library) GTEST_SKIP() << library.error().message;
  const auto api = hlo::gpu::ReadCufft(*library);
  EXPECT_TRUE(api) << api.error().message;
}
