// Messages about modules that no text can say: the parser refuses such text, or sets right what it says.
#include "gtest/gtest.h"
#include "ir/verify.h"
#include "parser/parser.h"

namespace hlo {
namespace {

using Strings = std::vector<std::string>;

/// The module of a text, to be broken.
class Broken {
 public:
  explicit Broken(llvm::StringRef text) {
    ParseResult parsed = ParseModule(text);
    for (const Diagnostic& d : parsed.diagnostics) ADD_FAILURE() << d.message;
    module_ = std::move(parsed.module);
    module_->config.entry_layout.reset();  // it would be broken as well
  }
  Module& module() { return *module_; }
  Instruction& operator[](llvm::StringRef name) {
    for (const auto& computation : module_->computations())
      for (Instruction* inst : computation->instructions())
        if (inst->name() == name) return *inst;
    llvm_unreachable("no such instruction");
  }
  Computation& computation(llvm::StringRef name) { return *module_->FindComputation(name); }
  template <class T>
  T& Attr(llvm::StringRef name) {
    return (*this)[name].mutable_attrs().Mutable<T>();
  }
  /// Messages of all errors, in order.
  [[nodiscard]] Strings Messages(const VerifyOptions& options = {}) const {
    Strings messages;
    for (const Diagnostic& d : Verify(*module_, options)) messages.push_back(d.message);
    return messages;
  }

 private:
  std::unique_ptr<Module> module_;
};

constexpr llvm::StringLiteral kAsync = R"(
  w { wp = f32[2] parameter(0)  ROOT wr = f32[2] negate(wp) }
  ENTRY e {
    x = f32[2] parameter(0)
    s = ((f32[2]), f32[2]) async-start(x), calls=w
    u = ((f32[2]), f32[2]) async-update(s)
    ROOT d = f32[2] async-done(u)
  })";

TEST(VerifyMessages, Async) {
  Broken shape(kAsync);
  shape["s"].set_shape(shape["x"].shape());
  EXPECT_EQ(shape.Messages(),
            Strings({"%s is declared f32[2], but async-start makes ((operands, ...), result, ...)",
                     "operand 0 of %u is f32[2], but must be ((operands, ...), result, ...)"}));
  Broken done(kAsync);
  done["d"].SetOperand(0, &done["x"]);
  EXPECT_EQ(done.Messages(),
            Strings({"%u has 0 users, but needs exactly one, an async-update or async-done",
                     "operand 0 of %d is %x, a parameter, but must be an async-start or async-update"}));
  Broken thread(kAsync);
  thread.computation("w").set_execution_thread("host");
  EXPECT_EQ(thread.Messages(), Strings({"%s starts on thread 'main', but %w runs on thread 'host'"}));
}

constexpr llvm::StringLiteral kCalls = R"(
  w { wp = f32[2] parameter(0)  ROOT wr = f32[2] negate(wp) }
  ENTRY e {
    x = f32[2] parameter(0)
    n = f32[2] negate(x)
    ROOT c = f32[2] call(n), to_apply=w
  })";

TEST(VerifyMessages, Callees) {
  Broken none(kCalls);
  none["c"].SetCallees({});
  EXPECT_EQ(none.Messages(), Strings({"%c calls 0 computations, but call needs at least 1"}));
  Broken rootless(kCalls);
  rootless.computation("w").set_root(nullptr);
  EXPECT_EQ(rootless.Messages(), Strings({"computation %w has no root of its own",
                                          "%c calls %w, which has no root or lacks a parameter"}));
  Broken other(kCalls);
  other["n"].SetCallees({&other.computation("w")});
  EXPECT_EQ(other.Messages(), Strings({"%n calls %w, but negate calls no computation"}));
  Broken module(kCalls);
  Broken owner(kCalls);
  module["c"].SetCallees({&owner.computation("w")});
  EXPECT_EQ(module.Messages(), Strings({"%c calls %w, which belongs to another module"}));
  module["c"].SetCallees({});
  Broken recursive(kCalls);
  Computation& w = recursive.computation("w");
  w.set_root(w.Add(OpKind::Call, recursive["x"].shape(), "again", {&recursive["wr"]}, CallAttrs(), {&w}));
  EXPECT_EQ(recursive.Messages(), Strings({"%again in computation %w calls %w, which calls %w in turn"}));
}

TEST(VerifyMessages, Structure) {
  Broken shapeless(kCalls);
  shapeless["n"].set_shape(Shape());
  EXPECT_EQ(shapeless.Messages(), Strings({"%n has no shape"}));
  Broken mixed(kCalls);
  mixed["n"].SetOperand(0, &mixed["wp"]);
  mixed["c"].AddControlPredecessor(&mixed["wr"]);
  EXPECT_EQ(mixed.Messages(), Strings({"operand %wp of %n lies in computation %w, not in %e",
                                       "control predecessor %wr of %c lies in computation %w, not in %e"}));
  Broken gap(kCalls);
  gap.Attr<ParameterAttrs>("x").number = 1;
  EXPECT_EQ(gap.Messages(), Strings({"%x is parameter 1, but stands as number 0 of %e"}));
  gap.Attr<ParameterAttrs>("x").number = -1;
  EXPECT_EQ(gap.Messages(), Strings({"%x is parameter -1, but stands as number 0 of %e",
                                     "%x is parameter -1, but numbers start at 0"}));
  Broken late(kCalls);
  ParameterAttrs third;
  third.number = 2;
  late.computation("e").Add(OpKind::Parameter, late["x"].shape(), "p2", {}, third);
  EXPECT_EQ(late.Messages(), Strings({"computation %e has parameters up to 2, but none with number 1"}));
  Broken cycle(kCalls);
  cycle["n"].SetOperand(0, &cycle["c"]);
  EXPECT_EQ(cycle.Messages(), Strings({"%c depends on itself through %n"}));
  Broken entry(kCalls);
  entry.module().set_entry(nullptr);
  EXPECT_EQ(entry.Messages(), Strings({"module module_e has no entry computation"}));
}

TEST(VerifyMessages, FusedEntry) {
  Broken b(R"(
    f { fp = f32[2] parameter(0)  ROOT fr = f32[2] negate(fp) }
    ENTRY e { x = f32[2] parameter(0)  ROOT r = f32[2] fusion(x), kind=kLoop, calls=f })");
  b.module().set_entry(&b.computation("f"));
  EXPECT_EQ(b.Messages(), Strings({"entry computation %f is also the body of fusion %r"}));
}

TEST(VerifyMessages, Names) {
  Broken b(kCalls);
  b["wr"].set_name("x");
  b.computation("w").set_name("e");
  EXPECT_EQ(b.Messages(), Strings({"computation %e has the name of another computation",
                                   "%x in computation %e has the name of another instruction"}));
}

TEST(VerifyMessages, Schedules) {
  Broken b(kCalls);
  b.module().config.is_scheduled = true;
  Computation& w = b.computation("w");
  Computation& e = b.computation("e");
  w.set_schedule({&b["wp"], &b["wr"]});
  EXPECT_EQ(b.Messages(), Strings({"the module has is_scheduled=true, but %e has no schedule"}));
  e.set_schedule({&b["x"]});
  EXPECT_EQ(b.Messages(), Strings({"the schedule of %e has 1 instructions, but the computation has 3"}));
  e.set_schedule({&b["x"], &b["c"], &b["n"]});
  EXPECT_EQ(b.Messages(), Strings({"%c is scheduled before %n, which it depends on"}));
  e.set_schedule({&b["x"], &b["n"], &b["x"]});
  EXPECT_EQ(b.Messages(), Strings({"%x stands in the schedule of %e twice"}));
  e.set_schedule({&b["x"], &b["n"], &b["wr"]});
  EXPECT_EQ(b.Messages(), Strings({"%wr stands in the schedule of %e but belongs to another computation"}));
}

TEST(VerifyMessages, StackTables) {
  Broken b(kCalls);
  StackTables& tables = b.module().stack_tables;
  tables.locations.emplace_back().file = 1;
  tables.frames.emplace_back().location = 2;
  EXPECT_EQ(b.Messages(),
            Strings({"file location 1 names file 1 of 0 and function 0 of 0",
                     "stack frame 1 names location 2 of 1 and parent 0, which must stand before it"}));
}

TEST(VerifyMessages, Aliases) {
  Broken b(kCalls);
  b.module().config.input_output_alias.push_back({.output = {1}, .parameter = 0, .parameter_index = {}});
  EXPECT_EQ(b.Messages(),
            Strings({"'input_output_alias' names output {1}, but result f32[2] has no array there"}));
}

TEST(VerifyMessages, Accuracy) {
  Broken b("ENTRY e { x = f32[] parameter(0)  n = f32[] negate(x)  ROOT r = f32[] exponential(n) }");
  b["n"].MutableExtras().result_accuracy.highest = true;
  ResultAccuracy& accuracy = b["r"].MutableExtras().result_accuracy;
  accuracy.has_tolerance = true;
  accuracy.atol = -0.5;
  EXPECT_EQ(b.Messages(),
            Strings({"%n has 'result_accuracy', which negate does not take",
                     "'result_accuracy' of %r has atol=-0.50, rtol=0.00, ulps=0, but none may be negative"}));
}

TEST(VerifyMessages, Sizes) {
  Broken b("ENTRY e { x = f32[2] parameter(0)  ROOT r = f32[2] negate(x) }");
  b["x"].set_shape(Shape::Array(ElementType::F32, {-2}));
  b["r"].set_shape(b["x"].shape());
  EXPECT_EQ(b.Messages(), Strings({"%x has shape f32[-2] with the negative size -2",
                                   "%r has shape f32[-2] with the negative size -2"}));
}

TEST(VerifyMessages, LayoutSensitive) {
  VerifyOptions options;
  options.layout_sensitive = true;
  Broken bitcast("ENTRY e { x = f32[4]{0} parameter(0)  ROOT r = f32[2]{0:S(1)} bitcast(x) }");
  EXPECT_EQ(bitcast.Messages(options),
            Strings({"%r is declared f32[2]{0:S(1)}, but its operand f32[4]{0} lies in another memory space",
                     "%r is declared f32[2]{0:S(1)} of 8 bytes, but its operand f32[4]{0} has 16"}));
  Broken copy("ENTRY e { x = f32[2,3]{1,0:S(5)} parameter(0)  ROOT r = f32[2,3]{0,1} copy(x) }");
  EXPECT_EQ(
      copy.Messages(options),
      Strings({"%r copies f32[2,3]{1,0:S(5)} from host memory as f32[2,3]{0,1}, but must keep its shape "
               "and layout"}));
  Broken width("ENTRY e { x = s4[2]{0:E(4)} parameter(0)  ROOT r = s4[2]{0} copy(x) }");
  EXPECT_EQ(width.Messages(options),
            Strings({"%r copies s4[2]{0:E(4)} as s4[2]{0}, whose elements take another number of bits"}));
}

TEST(VerifyMessages, SendsAndCustomCalls) {
  Broken send(R"(ENTRY e {
    x = f32[2] parameter(0)
    t = token[] after-all()
    s = (f32[2], u32[], token[]) send(x, t), channel_id=1
    ROOT d = token[] send-done(s), channel_id=1 })");
  send.Attr<SendRecvAttrs>("d").channel_id = 2;
  EXPECT_EQ(send.Messages(), Strings({"%d has channel_id=2, but %s has channel_id=1"}));
  Broken call(R"(ENTRY e { x = f32[2] parameter(0)
    ROOT c = f32[2] custom-call(x), custom_call_target="t", operand_layout_constraints={f32[2]{0}} })");
  auto& attrs = call.Attr<CustomCallAttrs>("c");
  attrs.api_version = ApiVersion::Unspecified;
  attrs.operand_layout_constraints->at(0) = Shape::ArrayWithDefaultLayout(ElementType::S32, {2});
  EXPECT_EQ(call.Messages(),
            Strings({"'api_version' of %c is API_VERSION_UNSPECIFIED",
                     "'operand_layout_constraints' of %c has s32[2] for operand 0, which is f32[2]"}));
  attrs.api_version = ApiVersion::Original;
  attrs.operand_layout_constraints->push_back(attrs.operand_layout_constraints->at(0));
  EXPECT_EQ(call.Messages(),
            Strings({"'operand_layout_constraints' of %c has 2 shapes, but there are 1 operands"}));
}

TEST(VerifyMessages, Shardings) {
  Broken b("ENTRY e { x = f32[2] parameter(0)  ROOT r = f32[2] negate(x), sharding={devices=[2]0,1} }");
  Sharding sharding = *b["r"].extras().sharding;
  sharding.tile_dims = {1};
  sharding.device_list = {{0}};
  b["r"].MutableExtras().sharding = std::make_shared<const Sharding>(sharding);
  EXPECT_EQ(b.Messages(),
            Strings({"'sharding' of %r has tiles {1}, a single one; for that there is {replicated}"}));
}

TEST(RuleMessages, Control) {
  constexpr llvm::StringLiteral kText = R"(
    w { wp = f32[2] parameter(0)  ROOT wr = f32[2] negate(wp) }
    ENTRY e {
      p = pred[] parameter(0)
      x = f32[2] parameter(1)
      ROOT c = f32[2] conditional(p, x, x), true_computation=w, false_computation=w
    })";
  Broken selector(kText);
  selector["p"].set_shape(Shape::ArrayWithDefaultLayout(ElementType::F32, {}));
  EXPECT_EQ(selector.Messages(), Strings({"selector of %c is f32[], but must be pred[] or s32[]"}));
  Broken branches(kText);
  branches["c"].SetCallees({&branches.computation("w")});
  EXPECT_EQ(branches.Messages(), Strings({"%c has 1 branches, but selector pred[] needs 2"}));
  Broken operands(kText);
  operands["c"].SetOperands({&operands["p"], &operands["x"]});
  EXPECT_EQ(operands.Messages(),
            Strings({"%c has 2 operands, but needs a selector and one for each of 2 branches"}));
}

TEST(RuleMessages, Convolution) {
  Broken b(R"(ENTRY e {
    x = f32[1,1,4,4] parameter(0)
    k = f32[1,1,2,2] parameter(1)
    ROOT c = f32[1,1,3,3] convolution(x, k), window={size=2x2}, dim_labels=bf01_oi01->bf01 })");
  b.Attr<ConvolutionAttrs>("c").dim_labels->kernel_spatial.pop_back();
  EXPECT_EQ(b.Messages(), Strings({"'dim_labels' of %c name 2 spatial dimensions of the input, 1 of the "
                                   "kernel and 2 of the output"}));
  b.Attr<ConvolutionAttrs>("c").dim_labels.reset();
  EXPECT_EQ(b.Messages(), Strings({"%c has no 'dim_labels'"}));
}

TEST(RuleMessages, Movement) {
  Broken slice(R"(ENTRY e {
    x = f32[4,4] parameter(0)
    i = s32[] parameter(1)
    ROOT r = f32[1,1] dynamic-slice(x, i, i), dynamic_slice_sizes={1,1} })");
  slice["r"].SetOperands({&slice["x"], &slice["i"]});
  EXPECT_EQ(slice.Messages(), Strings({"%r has 1 start indices, but its operand f32[4,4] has rank 2"}));
  Broken pad(
      "ENTRY e { x = f32[4] parameter(0)  z = f32[] parameter(1)  ROOT r = f32[4] pad(x, z), padding=0_0 }");
  pad.Attr<PadAttrs>("r").padding[0].interior = -1;
  EXPECT_EQ(pad.Messages(),
            Strings({"'padding' of %r has interior -1 in dimension 0, but must not be negative"}));
  Broken constant("ENTRY e { ROOT c = f32[2] constant({1, 2}) }");
  constant["c"].set_shape(Shape::ArrayWithDefaultLayout(ElementType::F32, {3}));
  EXPECT_EQ(constant.Messages(), Strings({"%c is declared f32[3], but its literal is f32[2]"}));
  Broken partial("ENTRY e { ROOT c = (f32[2], f32[2]) constant(({...}, {1, 2})) }");
  partial["c"].set_shape(Shape::MakeTuple({}));
  EXPECT_EQ(partial.Messages(), Strings({"%c is declared (), but its literal is (f32[2], f32[2])"}));
  Broken replication("ENTRY e { ROOT x = f32[2] parameter(0), parameter_replication={true} }");
  replication.Attr<ParameterAttrs>("x").parameter_replication.push_back(false);
  EXPECT_EQ(replication.Messages(),
            Strings({"'parameter_replication' of %x has 2 flags, but f32[2] has 1 leaf buffers"}));
}

TEST(RuleMessages, Reductions) {
  Broken scatter(R"(
    w { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
    ENTRY e {
      x = f32[4] parameter(0)
      i = s32[1] parameter(1)
      u = f32[] parameter(2)
      ROOT r = f32[4] scatter(x, i, u), to_apply=w, update_window_dims={}, inserted_window_dims={0},
        scatter_dims_to_operand_dims={0}, index_vector_dim=0
    })");
  scatter["r"].SetOperands({&scatter["x"], &scatter["i"], &scatter["u"], &scatter["u"]});
  EXPECT_EQ(scatter.Messages(),
            Strings({"%r has 4 operands, but scatter takes N inputs, indices and N updates"}));
  Broken reduce(R"(
    w { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
    ENTRY e {
      x = f32[4] parameter(0)
      z = f32[] parameter(1)
      ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=w
    })");
  reduce["r"].SetOperands({&reduce["x"], &reduce["x"], &reduce["z"]});
  EXPECT_EQ(reduce.Messages(),
            Strings({"%r has 3 operands, but reduce takes as many initial values as arrays"}));
  Broken sort(R"(
    w { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = pred[] compare(a, b), direction=LT }
    ENTRY e { x = f32[4,4] parameter(0)  ROOT r = f32[4,4] sort(x), dimensions={0}, to_apply=w })");
  sort.Attr<SortAttrs>("r").dimensions = {0, 1};
  EXPECT_EQ(sort.Messages(), Strings({"'dimensions' of %r is {0,1}, but sort needs exactly one dimension"}));
}

TEST(RuleMessages, Scan) {
  Broken b(R"(
    w { a = f32[] parameter(0)  b = f32[] parameter(1)  s = f32[] add(a, b)  ROOT t = (f32[], f32[]) tuple(s, s) }
    ENTRY e {
      x = f32[4] parameter(0)
      z = f32[] parameter(1)
      ROOT r = (f32[4], f32[]) scan(x, z), dimensions={0}, num_carries=1, to_apply=w
    })");
  b["r"].SetOperands({&b["x"], &b["x"], &b["z"]});
  EXPECT_EQ(b.Messages(), Strings({"%r has 3 operands, but its step %w has 2 parameters"}));
  b.Attr<ScanAttrs>("r").num_carries = 4;
  EXPECT_EQ(b.Messages(), Strings({"'num_carries' of %r is 4, but it has 3 operands"}));
  b.Attr<ScanAttrs>("r").dimensions = {0, 0};
  EXPECT_EQ(b.Messages(), Strings({"'dimensions' of %r is {0,0}, but scan needs exactly one dimension"}));
}

TEST(RuleMessages, PermuteInPlace) {
  Broken b(R"(ENTRY e {
    x = f32[2] parameter(0)
    i = s32[] parameter(1)
    ROOT r = f32[2] collective-permute(x, x, i, i), source_target_pairs={{0,1}}, slice_sizes={{1}} })");
  b["r"].SetOperands({&b["x"], &b["x"]});
  EXPECT_EQ(b.Messages(), Strings({"%r has 2 operands, but collective-permute with 'slice_sizes' takes 4"}));
}

}  // namespace
}  // namespace hlo
