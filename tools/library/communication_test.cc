#include <gtest/gtest.h>

#include "tools/library/test_computation.h"

namespace hlo_toolkit {
namespace {

/// The number of the replica, as s32[1].
XlaOp Own(XlaBuilder* builder) { return Reshape(ConvertElementType(ReplicaId(builder), S32), {1}); }

TEST(LibraryCommunication, ReplicasAddGatherAndPass) {
  XlaBuilder adder("add");
  const XlaOp p = adder.Parameter(0, Shape(S32, {}), "x"), q = adder.Parameter(1, Shape(S32, {}), "y");
  Add(p, q);
  const XlaComputation add = adder.Build().value();
  XlaBuilder builder("b");
  const XlaOp own = Own(&builder);
  const XlaOp pair = Add(Mul(Iota(&builder, S32, 2), ConstantR0<int>(&builder, 10)), own, {0});
  Tuple(&builder, {CrossReplicaSum(own), AllReduce(own, add), AllGather(own, 0, 2),
                   ReduceScatter(pair, add, 0, 2), AllToAll(pair, 0, 0, 2), CollectivePermute(own, {{0, 1}}),
                   CrossReplicaSum(Tuple(&builder, {own, pair}))});
  EXPECT_EQ(Value(builder, {}, 2),
            "( {1}, {1}, {0, 1}, {1}, {0, 1}, {0}, ( {1}, {1, 21} ) )\n"
            "( {1}, {1}, {0, 1}, {21}, {10, 11}, {0}, ( {1}, {1, 21} ) )");
}

TEST(LibraryCommunication, GroupsKeepToThemselves) {
  XlaBuilder builder("b");
  ReplicaGroup even, odd;
  even.set_replica_ids({0, 2});
  odd.set_replica_ids({1, 3});
  const XlaOp own = Own(&builder);
  Tuple(&builder,
        {CrossReplicaSum(own, {even, odd}), builder.CrossReplicaSum(own, Span<const int64_t>({0, 1, 0, 1})),
         CollectiveBroadcast(own, {even, odd})});
  EXPECT_EQ(Value(builder, {}, 4),
            "( {2}, {2}, {0} )\n( {4}, {4}, {1} )\n( {2}, {2}, {0} )\n( {4}, {4}, {1} )");
}

TEST(LibraryCommunication, BlocksGoToAnotherDimension) {
  XlaBuilder builder("alltoall");
  auto x = Parameter(&builder, 0, ShapeUtil::MakeShape(F32, {4, 16}), "x");
  AllToAll(x, /*split_dimension=*/1, /*concat_dimension=*/0, /*split_count=*/4);
  EXPECT_EQ(builder.Build()->GetProgramShape()->result.ToString(), "f32[16,4]");
  XlaBuilder values("b");
  const XlaOp rows = Add(ConstantR2<int>(&values, {{0, 1}, {2, 3}}),
                         Mul(Reshape(Own(&values), {}), ConstantR0<int>(&values, 100)));
  AllToAll(rows, 1, 0, 2);
  EXPECT_EQ(Value(values, {}, 2), "{ {0}, {2}, {100}, {102} }\n{ {1}, {3}, {101}, {103} }");
}

TEST(LibraryCommunication, TransfersHaveTokens) {
  XlaBuilder builder("b");
  const XlaOp data = Infeed(&builder, Shape(F32, {2}));
  Infeed(&builder, Shape(F32, {2}));
  ChannelHandle channel;
  channel.set_handle(3);
  builder.Send(data, channel);
  builder.Recv(Shape(F32, {2}), channel);
  const XlaOp token = CreateToken(&builder);
  const XlaOp send = builder.CreateSend(data, token, 4), recv = builder.CreateRecv(token, Shape(F32, {2}), 4);
  AfterAll(&builder, {builder.CreateSendDone(send), GetTupleElement(builder.CreateRecvDone(recv), 1)});
  Outfeed(data, Shape(F32, {2}));
  EXPECT_EQ(
      Text(builder),
      "after-all = token[] after-all()\n"
      "infeed = (f32[2], token[]) infeed(after-all)\n"
      "get-tuple-element = token[] get-tuple-element(infeed), index=1\n"
      "get-tuple-element.1 = f32[2] get-tuple-element(infeed), index=0\n"
      "infeed.1 = (f32[2], token[]) infeed(get-tuple-element)\n"
      "get-tuple-element.2 = token[] get-tuple-element(infeed.1), index=1\n"
      "get-tuple-element.3 = f32[2] get-tuple-element(infeed.1), index=0\n"
      "after-all.1 = token[] after-all()\n"
      "send = (f32[2], u32[], token[]) send(get-tuple-element.1, after-all.1), channel_id=3\n"
      "send-done = token[] send-done(send), channel_id=3\n"
      "after-all.2 = token[] after-all()\n"
      "recv = (f32[2], u32[], token[]) recv(after-all.2), channel_id=3\n"
      "recv-done = (f32[2], token[]) recv-done(recv), channel_id=3\n"
      "get-tuple-element.4 = f32[2] get-tuple-element(recv-done), index=0\n"
      "after-all.3 = token[] after-all()\n"
      "send.1 = (f32[2], u32[], token[]) send(get-tuple-element.1, after-all.3), channel_id=4\n"
      "recv.1 = (f32[2], u32[], token[]) recv(after-all.3), channel_id=4\n"
      "send-done.1 = token[] send-done(send.1), channel_id=4\n"
      "recv-done.1 = (f32[2], token[]) recv-done(recv.1), channel_id=4\n"
      "get-tuple-element.5 = token[] get-tuple-element(recv-done.1), index=1\n"
      "after-all.4 = token[] after-all(send-done.1, get-tuple-element.5)\n"
      "ROOT outfeed = token[] outfeed(get-tuple-element.1, get-tuple-element.2), outfeed_shape=f32[2]\n");
}

TEST(LibraryCommunication, CustomCallsCarryTargetAndOpaque) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(F32, {2}), "x");
  builder.CustomCall("myfunc", {x, x}, Shape(F32, {3, 3}), "opaque");
  builder.CustomCallOp("old", {x}, Shape(F32, {}));
  EXPECT_EQ(
      Text(builder),
      "x = f32[2] parameter(0)\n"
      "custom-call = f32[3,3] custom-call(x, x), custom_call_target=\"myfunc\", backend_config=\"opaque\"\n"
      "ROOT custom-call.1 = f32[] custom-call(x), custom_call_target=\"old\"\n");
}

TEST(LibraryCommunication, WrongShardsAreSaid) {
  XlaBuilder builder("b");
  AllGather(builder.Parameter(0, Shape(F32, {2}), "x"), 1, 2);
  EXPECT_EQ(Text(builder), "f32[2] has no dimension 1");
  XlaBuilder odd("b");
  AllToAll(odd.Parameter(0, Shape(F32, {3}), "x"), 0, 0, 2);
  EXPECT_EQ(Text(odd), "dimension 0 of f32[3] is no multiple of 2 shards");
  XlaBuilder half("b");
  half.CreateSendDone(half.Parameter(0, Shape(F32, {3}), "x"));
  EXPECT_EQ(Text(half), "%x is no send");
}

TEST(LibraryCommunication, DynamicSizesStay) {
  XlaBuilder adder("add");
  const XlaOp p = adder.Parameter(0, Shape(F32, {}), "x");
  Add(p, adder.Parameter(1, Shape(F32, {}), "y"));
  const XlaComputation add = adder.Build().value();
  const Shape shape(F32, {4, 6}, {true, false});
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, shape, "x");
  EXPECT_EQ(builder.GetShape(AllGather(x, 1, 2))->ToString(), "f32[<=4,12]");
  EXPECT_EQ(builder.GetShape(ReduceScatter(x, add, 1, 2))->ToString(), "f32[<=4,3]");
  EXPECT_TRUE(builder.Build().ok());
  XlaBuilder gather("b");
  AllGather(gather.Parameter(0, shape, "x"), 0, 2);
  EXPECT_EQ(Text(gather), "shards of dimension 0 of f32[<=4,6], which is dynamic");
  XlaBuilder scatter("b");
  ReduceScatter(scatter.Parameter(0, shape, "x"), add, 0, 2);
  EXPECT_EQ(Text(scatter), "shards of dimension 0 of f32[<=4,6], which is dynamic");
  XlaBuilder blocks("b");
  AllToAll(blocks.Parameter(0, Shape(F32, {2, 2, 3}, {false, false, true}), "x"), 0, 1, 2);
  EXPECT_EQ(Text(blocks), "moving blocks of f32[2,2,<=3], which has dynamic dimensions");
}

TEST(LibraryCommunication, GroupsOfSumsHaveBothForms) {
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(F32, {}), "x");
  ReplicaGroup all;
  all.set_replica_ids({0, 1});
  CrossReplicaSum(x, {});
  CrossReplicaSum(x, {0, 1});
  CrossReplicaSum(x, {0, 0});
  builder.CrossReplicaSum(x, {all});
  CrossReplicaSum(x, {{1, 0}});
  EXPECT_EQ(Text(builder),
            "x = f32[] parameter(0)\n"
            "all-reduce = f32[] all-reduce(x), replica_groups={}, to_apply=add\n"
            "all-reduce.1 = f32[] all-reduce(x), replica_groups={{0},{1}}, to_apply=add\n"
            "all-reduce.2 = f32[] all-reduce(x), replica_groups={{0,1}}, to_apply=add\n"
            "all-reduce.3 = f32[] all-reduce(x), replica_groups={{0,1}}, to_apply=add\n"
            "ROOT all-reduce.4 = f32[] all-reduce(x), replica_groups={{1,0}}, to_apply=add\n");
}

TEST(LibraryCommunication, GroupsAndChannelsAreListsAndNumbers) {
  XlaBuilder adder("add");
  Add(adder.Parameter(0, Shape(F32, {}), "x"), adder.Parameter(1, Shape(F32, {}), "y"));
  const XlaComputation add = adder.Build().value();
  XlaBuilder builder("b");
  const XlaOp x = builder.Parameter(0, Shape(F32, {4}), "x");
  AllReduce(x, add, {{0, 2}, {1, 3}}, 1);
  AllGather(x, 0, 2, {{0, 2}, {1, 3}}, 2, true);
  AllToAll(x, 0, 0, 2, {{1, 0}});
  Send(x, 3);
  const std::string text = Text(builder);
  for (const char* part : {"channel_id=1, replica_groups={{0,2},{1,3}}", "replica_groups={{1,0}}",
                           "channel_id=2, replica_groups={{0,2},{1,3}}", "send(x, after-all), channel_id=3"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

}  // namespace
}  // namespace hlo_toolkit
