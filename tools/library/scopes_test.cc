#include "hlo/scopes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/computation_builder.h"
#include "tools/library/test_computation.h"

namespace hlo_toolkit {
namespace {

std::string Entry(XlaBuilder& builder) {
  const StatusOr<XlaComputation> made = builder.Build();
  if (!made.ok()) return Message(made.status());
  const std::string text = made->ToString();
  return text.substr(text.find("ENTRY"));
}

TEST(LibraryScopes, OperationsGetWhatIsSet) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(F32, {2}), "x");
  OpMetadata metadata;
  metadata.set_op_name("layer/neg");
  metadata.set_source_file("model.py");
  metadata.set_source_line(7);
  XlaOp y;
  {
    const XlaScopedOpMetadataAssignment named(&builder, metadata);
    const XlaScopedShardingAssignment sharded(&builder, OpSharding{"{devices=[2]<=[2]}"});
    const XlaScopedFrontendAttributesAssignment marked(&builder, {{"k", "v"}});
    y = Neg(x);
    const XlaScopedShardingAssignment none(&builder, std::nullopt);
    y = Abs(y);
  }
  metadata.set_op_name("once");
  builder.SetOneShotOpMetadata(metadata);
  y = Add(y, ConstantR0<float>(&builder, 1));
  y = Exp(y);
  EXPECT_TRUE(builder.SetInstructionFrontendAttribute(y, "a", "b").ok());
  EXPECT_EQ(
      Entry(builder),
      "ENTRY %b (x: f32[2]) -> f32[2] {\n"
      "  %x = f32[2]{0} parameter(0)\n"
      "  %negate = f32[2]{0} negate(%x), sharding={devices=[2]<=[2]}, frontend_attributes={k=\"v\"}, "
      "metadata={op_name=\"layer/neg\" source_file=\"model.py\" source_line=7}\n"
      "  %abs = f32[2]{0} abs(%negate), frontend_attributes={k=\"v\"}, "
      "metadata={op_name=\"layer/neg\" source_file=\"model.py\" source_line=7}\n"
      "  %constant = f32[] constant(1), metadata={op_name=\"once\" source_file=\"model.py\" source_line=7}\n"
      "  %broadcast = f32[2]{0} broadcast(%constant), dimensions={}\n"
      "  %add = f32[2]{0} add(%abs, %broadcast)\n"
      "  ROOT %exponential = f32[2]{0} exponential(%add), frontend_attributes={a=\"b\"}\n"
      "}\n\n");
}

TEST(LibraryScopes, ShardingGoesToResultsAlone) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(F32, {2, 2}), "x"),
              y = builder.Parameter(1, Shape(F32, {}), "y");
  builder.SetSharding({"{devices=[2,1]<=[2]}"});
  EXPECT_EQ(builder.sharding()->text, "{devices=[2,1]<=[2]}");
  Add(x, y);
  builder.ClearSharding();
  EXPECT_EQ(Text(builder),
            "x = f32[2,2] parameter(0)\n"
            "y = f32[] parameter(1)\n"
            "broadcast = f32[2,2] broadcast(y), dimensions={}\n"
            "ROOT add = f32[2,2] add(x, broadcast), sharding={devices=[2,1]<=[2]}\n");
  XlaBuilder wrong("b");
  wrong.SetSharding({"{nonsense}"});
  EXPECT_EQ(Message(wrong.first_error()), "'{nonsense}' is no sharding");
  XlaBuilder more("b");
  more.SetSharding({"{replicated} y = f32[] parameter(1)"});
  EXPECT_FALSE(more.first_error().ok());
}

TEST(LibraryScopes, NothingBehindAShardingIsTaken) {
  for (const char* text :
       {"{replicated}, metadata={op_name=\"x\"}", "{replicated} }", "{replicated}{}", ""}) {
    XlaBuilder builder("b");
    builder.SetSharding({text});
    EXPECT_EQ(Message(builder.first_error()), "'" + std::string(text) + "' is no sharding");
  }
  // What a sharding says itself stays, and as long as anybody has it.
  std::optional<XlaComputation> made;
  {
    XlaBuilder builder("b");
    builder.SetSharding({" {replicated metadata={op_name=\"a name of some length\"}} // all"});
    Neg(builder.Parameter(0, Shape(F32, {}), "x"));
    made = builder.Build().value();
  }
  EXPECT_NE(
      made->ToString().find("negate(%x), sharding={replicated metadata={op_name=\"a name of some length\"}}"),
      std::string::npos)
      << made->ToString();
}

TEST(LibraryScopes, KeysOfAttributesAreWords) {
  for (const char* key : {"", "a b", "a=", "\"", "{", "a\n"}) {
    const std::string message = "'" + std::string(key) + "' is no key of an attribute";
    XlaBuilder all("b");
    all.SetFrontendAttributes({{key, "v"}});
    EXPECT_EQ(Message(all.first_error()), message);
    XlaBuilder one("b");
    EXPECT_EQ(Message(one.SetInstructionFrontendAttribute(one.Parameter(0, Shape(F32, {}), "x"), key, "v")),
              message);
  }
}

TEST(LibraryScopes, WithoutABuilderTheyDoNothing) {
  const XlaScopedShardingAssignment sharded(nullptr, OpSharding{"{replicated}"});
  const XlaScopedFrontendAttributesAssignment marked(nullptr, {{"k", "v"}});
  const XlaScopedOpMetadataAssignment named(nullptr, OpMetadata());
}

TEST(LibraryConstants, WhatDependsOnNoParameterIsComputed) {
  XlaBuilder builder("b");
  XlaBuilder adder("add");
  const XlaOp p = adder.Parameter(0, Shape(S32, {}), "x");
  Add(p, adder.Parameter(1, Shape(S32, {}), "y"));
  const XlaComputation add = adder.Build().value();
  const XlaOp x = builder.Parameter(0, Shape(S32, {3}), "x"), iota = Iota(&builder, S32, 3);
  const XlaOp sum = Reduce(iota, ConstantR0<int>(&builder, 1), add, {0});
  const XlaOp zero = ConstantR0<float>(&builder, 0);
  EXPECT_TRUE(builder.IsConstant(sum).value());
  EXPECT_FALSE(builder.IsConstant(Add(x, iota)).value());
  EXPECT_FALSE(builder.IsConstant(RngUniform(zero, zero, Shape(F32, {}))).value());
  EXPECT_FALSE(builder.IsConstant(ReplicaId(&builder)).value());
  EXPECT_FALSE(builder.IsConstant(Call(&builder, add, {sum, sum})).value());
  EXPECT_EQ(builder.ComputeConstant(Mul(sum, sum))->ToString(), "s32[] 16");
  EXPECT_EQ(builder.ComputeConstant(Add(x, x)).status().message(), "%add.2 is no constant");
  const Layout layout = LayoutUtil::MakeLayout({0, 1});
  EXPECT_EQ(builder.ComputeConstant(ConstantR2<int>(&builder, {{1, 2}}), &layout)->shape().ToString(true),
            "s32[1,2]{0,1}");
  EXPECT_FALSE(builder.ComputeConstant(XlaOp()).ok());
  // Queries leave the builder as it was.
  EXPECT_TRUE(builder.Build().ok());
}

TEST(LibraryConstants, TheOldBuilderKeepsThemOnADevice) {
  for (Client* client : {static_cast<Client*>(nullptr), ClientLibrary::ClientLibraryOrDie()}) {
    ComputationBuilder builder(client, "b");
    const ComputationDataHandle two = builder.ConstantR2<int>({{1, 2}, {3, 4}});
    const Layout columns = LayoutUtil::MakeLayout({0, 1});
    const StatusOr<std::unique_ptr<GlobalData>> value = builder.ComputeConstant(two, &columns);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    EXPECT_EQ((*value)->shape().ToString(true), "s32[2,2]{0,1}");
    int elements[4];
    EXPECT_TRUE(ClientLibrary::ClientLibraryOrDie()->TransferInProcess(**value, elements).ok());
    EXPECT_THAT(elements, testing::ElementsAre(1, 3, 2, 4));
    EXPECT_FALSE(builder.ComputeConstant(builder.Parameter(0, Shape(S32, {}), "x")).ok());
  }
}

TEST(LibraryConstants, DynamicSizesCountAsTheirBounds) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(S32, {4}, {true}), "x");
  const XlaOp size = GetDimensionSize(x, 0);
  EXPECT_EQ(builder.ComputeConstant(Add(size, size))->ToString(), "s32[] 8");
}

TEST(LibraryConstants, ALongChainTakesNoStack) {
  XlaBuilder builder("b");
  XlaOp x = ConstantR0<int>(&builder, 1);
  for (int i = 0; i < 100001; ++i) x = Neg(x);
  EXPECT_EQ(builder.ComputeConstant(x)->ToString(), "s32[] -1");
}

}  // namespace
}  // namespace hlo_toolkit
