#include "tools/common/instruction_filter.h"

#include <gtest/gtest.h>

#include "parser/parser.h"

namespace hlo {
namespace {

constexpr llvm::StringLiteral kText = R"(HloModule m
ENTRY main {
  p = f32[8,16]{1,0} parameter(0)
  add.1 = f32[8,16]{1,0} add(p, p), metadata={op_name="jit(f)/layer_3/add" source_file="f.py" source_line=7}
  ROOT d = f32[8,8]{1,0} dot(add.1, add.1), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
)";

/// The names that an expression chooses, or its error.
std::string Chosen(llvm::StringRef expression) {
  auto parsed = ParseModule(std::make_shared<SourceBuffer>("m", kText.str()), {});
  auto filter = InstructionFilter::Parse(expression, "--find");
  if (!filter) return filter.error().message;
  std::string names;
  for (const Instruction* inst : parsed.module->entry()->instructions())
    if (filter->Matches(*inst)) names += inst->name().str() + " ";
  return names;
}

TEST(InstructionFilter, BareWordsAreOpcodesOrNames) {
  EXPECT_EQ(Chosen("dot"), "d ");
  EXPECT_EQ(Chosen("^add\\."), "add.1 ");
  EXPECT_EQ(Chosen("%add.1"), "add.1 ");
  EXPECT_EQ(Chosen(""), "p add.1 d ");
}

TEST(InstructionFilter, TermsMustAllHold) {
  EXPECT_EQ(Chosen("opcode=add|dot"), "add.1 d ");
  EXPECT_EQ(Chosen("opcode=ad"), "");
  EXPECT_EQ(Chosen("opcode=add|dot,shape=8,8"), "d ");
  EXPECT_EQ(Chosen("shape=f32\\[8,16,name=^p"), "p ");
  EXPECT_EQ(Chosen("op_name=layer_3/"), "add.1 ");
  EXPECT_EQ(Chosen("source=f.py:7"), "add.1 ");
  EXPECT_EQ(Chosen("computation=^main$,opcode=parameter"), "p ");
}

TEST(InstructionFilter, Errors) {
  EXPECT_EQ(
      Chosen("opcde=add"),
      "option '--find': unknown key 'opcde', expected opcode, name, shape, computation, op_name, source; "
      "did you mean 'opcode'?");
  EXPECT_NE(Chosen("name=(").find("regular expression"), std::string::npos);
}

}  // namespace
}  // namespace hlo
