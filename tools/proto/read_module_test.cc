#include "tools/proto/read_module.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "ir/support/stack.h"
#include "ir/verify.h"
#include "parser/parser.h"
#include "tools/proto/message.h"
#include "tools/proto/module_proto.h"
#include "tools/proto/values.h"
#include "tools/proto/wire.h"

namespace hlo {
namespace {

constexpr llvm::StringLiteral kProgram =
    R"(HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }

FileNames
1 "f.py"

FunctionNames
1 "g"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}


sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  p = f32[4] parameter(0), sharding={devices=[2]<=[2]}, metadata={op_name="x" stack_frame_id=1}
  k = s4[4] constant({-8, 7, 1, 0})
  s = f32[4] convert(k)
  r = f32[4] all-reduce(p), replica_groups={{0}}, to_apply=sum, frontend_attributes={k="v"}
  ROOT n = f32[4] add(r, s), control-predecessors={p}, backend_config="x"
})";

std::string Bytes(llvm::StringRef text) {
  const ParseResult result = ParseModule(std::make_shared<SourceBuffer>("test.hlo", text.str()));
  auto bytes = ModuleProtoBytes(*result.module);
  return bytes ? *bytes : bytes.error().message;
}

/// Reads and verifies; the text of the module, or the first error with its context.
std::string Read(std::string bytes) {
  auto file = ReadModuleProto(std::make_shared<SourceBuffer>("test.pb", std::move(bytes)));
  if (!file) return file.error().message + (file.error().context.empty() ? "" : " " + file.error().context);
  const std::vector<Diagnostic> violations = Verify(*file->module);
  if (!violations.empty()) return "verifier: " + violations.front().message;
  for (const Literal& argument : file->arguments) EXPECT_TRUE(argument.valid());
  return ToString(*file->module, PrintOptions::ModuleDump());
}

std::string Field(int number, llvm::StringRef bytes) {
  ProtoWriter out;
  out.BytesAlways(number, bytes);
  return out.bytes();
}

std::string Replaced(std::string bytes, llvm::StringRef from, llvm::StringRef to) {
  const size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from.str();
  return bytes.replace(at, from.size(), to);
}

TEST(ReadModuleProto, GivesWhatWasWritten) {
  const std::string bytes = Bytes(kProgram);
  const ParseResult parsed = ParseModule(kProgram, "test.hlo");
  ASSERT_TRUE(parsed.module);
  const std::string text = ToString(*parsed.module, PrintOptions::ModuleDump());
  EXPECT_EQ(Read(bytes), text);
  EXPECT_EQ(Read(Field(1, bytes)), text);            // HloProto
  EXPECT_EQ(Read(Field(1, Field(1, bytes))), text);  // HloSnapshot
  auto file = ReadModuleProto(std::make_shared<SourceBuffer>("test.pb", bytes));
  ASSERT_TRUE(file);
  EXPECT_EQ(*ModuleProtoBytes(*file->module), bytes);
}

TEST(ReadModuleProto, NamesWhatIsWrong) {
  const std::string bytes = Bytes(kProgram);
  EXPECT_EQ(Read(Replaced(bytes, "convert", "konvert")),
            "found opcode 'konvert', which is none in %s of computation %e");
  EXPECT_EQ(Read(bytes.substr(0, 60)), "HloModuleProto: malformed field at byte 6 of 60");
  EXPECT_EQ(Read(""), "found entry computation id 0, which none has");
  EXPECT_EQ(Read("\x0a"), "HloModuleProto: malformed field at byte 0 of 1");
  // The literal of s4[4] with two elements, and a field that literals do not have.
  const llvm::StringRef four("\xaa\x01\x04\x08\x07\x01\x00", 7), two("\xaa\x01\x02\x08\x07\x78\x00", 7);
  EXPECT_EQ(Read(Replaced(bytes, four, two)),
            "found 2 bytes for a literal of shape s4[4], expected 4 in %k of computation %e");
}

TEST(ReadModuleProto, NeedsOperandsAndCalledComputations) {
  const std::string copy = Bytes("ENTRY e { p = f32[4] parameter(0)  ROOT r = f32[4] tanh(p) }");
  EXPECT_EQ(Read(Replaced(copy, "tanh", "call")),
            "call calls 0 computations, but needs one more as to_apply in %r of computation %e");
  const std::string divide = Bytes("ENTRY e { p = f32[4] parameter(0)  ROOT r = f32[4] negate(p) }");
  EXPECT_EQ(Read(Replaced(divide, "negate", "divide")),
            "divide expects 2 operands, but has 1 in %r of computation %e");
}

TEST(ReadModuleProto, RemarksWhatIsLeftOut) {
  const std::string bytes = Bytes(kProgram) + Field(250, "") + Field(250, "x") + Field(251, "");
  auto file = ReadModuleProto(std::make_shared<SourceBuffer>("test.pb", bytes));
  ASSERT_TRUE(file);
  ASSERT_EQ(file->remarks.size(), 1U);
  EXPECT_EQ(file->remarks[0].id.text(), "proto-fields");
  EXPECT_EQ(file->remarks[0].message,
            "fields that are not read are left out: HloModuleProto.250 (2 times), HloModuleProto.251");
}

TEST(ReadModuleProto, SnapshotsHoldArgumentsAndResult) {
  ProtoWriter out;
  auto module = HloProtoBytes(
      *ParseModule("HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT r = negate(x) }", "m").module);
  ASSERT_TRUE(module);
  out.BytesAlways(1, *module);
  const auto literal = ParseLiteralWithShape("f32[2] {1, 2}");
  ASSERT_TRUE(literal);
  for (const int field : {2, 3})
    ASSERT_TRUE(out.TryMessage(field, [&](ProtoWriter& inner) { return WriteProto(inner, *literal); }));
  out.Text(4, "cpu");
  auto file = ReadModuleProto(std::make_shared<SourceBuffer>("test.pb", out.bytes()));
  ASSERT_TRUE(file);
  ASSERT_EQ(file->arguments.size(), 1U);
  EXPECT_EQ(file->arguments[0], *literal);
  EXPECT_EQ(file->result, *literal);
  EXPECT_TRUE(file->remarks.empty());
}

TEST(ReadModuleProto, UnoptimizedSnapshotsHoldArgumentsOfPartitions) {
  const auto module = ModuleProtoBytes(
      *ParseModule("HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT r = negate(x) }", "m").module);
  const auto literal = ParseLiteralWithShape("f32[2] {1, 2}");
  ASSERT_TRUE(module && literal);
  ProtoWriter out;
  out.BytesAlways(1, *module);
  out.Number(3, 1);
  const auto partition = [&](ProtoWriter& inputs) {
    return inputs.TryMessage(1, [&](ProtoWriter& inner) { return WriteProto(inner, *literal); });
  };
  ASSERT_TRUE(out.TryMessage(2, partition));
  auto file = ReadModuleProto(std::make_shared<SourceBuffer>("test.pb", out.bytes()));
  ASSERT_TRUE(file);
  ASSERT_EQ(file->arguments.size(), 1U);
  EXPECT_EQ(file->arguments[0], *literal);
  EXPECT_TRUE(file->remarks.empty());
  // Of several partitions they are parts, which the module as it is has no use for.
  ASSERT_TRUE(out.TryMessage(2, partition));
  file = ReadModuleProto(std::make_shared<SourceBuffer>("test.pb", out.bytes()));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->arguments.empty());
  ASSERT_EQ(file->remarks.size(), 1U);
  EXPECT_EQ(file->remarks[0].message,
            "arguments of 2 partitions are left out: they are parts of those of the module");
}

TEST(ReadModuleProto, MeshesAndOriginsAreChecked) {
  const auto sharding = [](const std::string& mesh, const std::string& rest) {
    return Read(
        Field(3, Field(1, "e") + Field(2, Field(1, "p") + Field(2, "parameter") + Field(3, "\x10\x0b") +
                                              Field(40, Field(14, Field(2, mesh) + rest)))));
  };
  const std::string x = Field(1, Field(1, "x") + "\x10\x08");
  EXPECT_NE(sharding(x + x, "").find("found mesh axis 'x' twice"), std::string::npos) << sharding(x + x, "");
  EXPECT_NE(sharding(x + Field(2, "\x01\x01"), "").find("no permutation of its devices"), std::string::npos);
  EXPECT_NE(sharding(x + Field(3, Field(1, "\x08")), "").find("does not fit its dimensions"),
            std::string::npos);
  EXPECT_NE(sharding(x, Field(4, "\x08\x01")).find("found axis 1 of a mesh"), std::string::npos);
  const std::string third = Field(2, std::string("\x08\x01\x10\x03"));
  EXPECT_NE(sharding(x, Field(4, third)).find("found axis 0 of a mesh"), std::string::npos);
}

TEST(ReadLiteralProto, EveryElementType) {
  Layout layout = Layout::Default(2);
  layout.minor_to_major = {0, 1};
  for (const TypeInfo& type : kTypeTable) {
    if (!IsArrayType(type.type) || type.bits == 6) continue;  // f6 types have no field
    Literal literal = Literal::Zeros(Shape::Array(type.type, {2, 3}).WithLayout(layout));
    if (!IsComplex(type.type))
      for (int64_t i = 0; i < 6; ++i) literal.SetBits(i, i % 2);
    ProtoWriter out;
    ASSERT_TRUE(WriteProto(out, literal));
    auto read = ReadLiteralProto(out.bytes());
    ASSERT_TRUE(read) << type.text.str() << ": " << read.error().message;
    EXPECT_EQ(*read, literal) << type.text.str();
    EXPECT_FALSE(ReadLiteralProto(out.bytes() + "\x0a"));
  }
}

TEST(ReadModuleProto, OrderOfIdsCountsNotThatOfFields) {
  // Messages of computations in the other order: the entry, which calls the other, first.
  const std::string bytes = Bytes(
      "HloModule m\nf { x = f32[] parameter(0)  ROOT r = f32[] negate(x) }\n"
      "ENTRY e { y = f32[] parameter(0)  ROOT c = f32[] call(y), to_apply=f }");
  llvm::StringRef rest = bytes;
  std::string head, tail;
  std::vector<std::string> found;
  while (!rest.empty()) {
    const char tag = rest.front();
    llvm::StringRef left = rest.drop_front();
    uint64_t length = 0;
    ASSERT_TRUE(TakeVarint(left, length));
    const bool bytes_follow = (tag & 7) == kProtoBytes;
    const size_t size = rest.size() - left.size() + (bytes_follow ? length : 0);
    (tag == '\x1a' ? found.emplace_back() : found.empty() ? head : tail) += rest.take_front(size);
    rest = rest.drop_front(size);
  }
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(Read(head + found[1] + found[0] + tail), Read(bytes));
}

TEST(ReadModuleProto, SurvivesWhateverTheBytesAre) {
  const std::string bytes = Field(1, Field(1, Bytes(kProgram)));
  size_t read = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    EXPECT_NE(Read(bytes.substr(0, at)), "");
    for (const int change : {1, 2, 4, 8, 16, 32, 64, 128, 0xff, 0x7f}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ change);
      read += llvm::StringRef(Read(changed)).starts_with("HloModule");
    }
  }
  EXPECT_GT(read, 0U);
}

TEST(ReadModuleProto, NestingIsLimited) {
  std::string shape("\x10\x0d", 2);
  for (int i = 0; i < 10000; ++i) shape = Field(4, shape) + "\x10\x0d";
  const std::string inst = Field(1, "p") + Field(2, "parameter") + Field(3, shape);
  const std::string module = Field(1, "m") + Field(2, "e") + Field(3, Field(1, "e") + Field(2, inst));
  std::string said;
  StartThread([&] { said = Read(module); }).join();
  EXPECT_EQ(said, "messages within each other are more than 8192 levels deep in %p of computation %e");
}

}  // namespace
}  // namespace hlo
