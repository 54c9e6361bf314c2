#include "backends/llvm/code_image.h"

#include "gtest/gtest.h"

namespace hlo::codegen {
namespace {

TEST(CodeImage, MissingFunctionsAreNamed) {
  CodeImage image{std::string(16, '\0'), {{8, "no_such_function"}}, {}};
  const auto loaded = LoadedCode::Load(image);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "LLVM: function 'no_such_function' is missing");
}

TEST(CodeImage, WhatIsNoObjectIsRefused) {
  llvm::StringMap<uint64_t> functions;
  EXPECT_FALSE(LinkObjects({"garbage"}, functions));
}

}  // namespace
}  // namespace hlo::codegen
