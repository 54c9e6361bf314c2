#include "ir/support/cpu_features.h"

#include <gtest/gtest.h>

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace hlo {
namespace {

TEST(CpuFeatures, AreThoseThatLlvmFinds) {
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  EXPECT_FALSE(KnownCpuFeatures().empty());
  for (const llvm::StringRef feature : KnownCpuFeatures()) {
    ASSERT_TRUE(host.contains(feature)) << feature.str();
    EXPECT_EQ(HasCpuFeatures({feature}), host.lookup(feature)) << feature.str();
  }
}

TEST(CpuFeatures, AllMustBeThere) {
  EXPECT_TRUE(HasCpuFeatures({"sse", "sse2"}));
  EXPECT_FALSE(HasCpuFeatures({"sse2", "no-such-feature"}));
}

}  // namespace
}  // namespace hlo
