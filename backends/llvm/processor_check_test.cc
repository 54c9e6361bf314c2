#include "backends/llvm/processor_check.h"

#include <gtest/gtest.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/TargetParser/Host.h"

namespace hlo::codegen {
namespace {

/// Families of features that need no intrinsics to be used.
bool IsUsedUnasked(llvm::StringRef feature) {
  constexpr llvm::StringRef kFamilies[] = {"sse",       "ssse",  "avx", "fma",  "f16c", "bmi",  "popcnt",
                                           "lzcnt",     "movbe", "xop", "tbm",  "cx16", "gfni", "egpr",
                                           "push2pop2", "ppx",   "ndd", "ccmp", "cf",   "nf",   "zu"};
  return llvm::any_of(kFamilies, [&](llvm::StringRef family) { return feature.starts_with(family); });
}

TEST(ProcessorCheck, KnowsWhatLlvmKnows) {
  const std::vector<llvm::StringRef> checked = FeaturesToCheck();
  const llvm::StringMap<bool> known = llvm::sys::getHostCPUFeatures();
  ASSERT_FALSE(known.empty());
  for (const llvm::StringRef feature : checked) EXPECT_TRUE(IsUsedUnasked(feature)) << feature.str();
  for (const llvm::StringRef feature : known.keys()) {
    // All x86-64 processors have the first two; the third is a name for others together.
    const bool exempt = feature == "sse" || feature == "sse2" || feature.starts_with("avx10");
    EXPECT_EQ(IsUsedUnasked(feature) && !exempt, llvm::is_contained(checked, feature)) << feature.str();
  }
}

}  // namespace
}  // namespace hlo::codegen
