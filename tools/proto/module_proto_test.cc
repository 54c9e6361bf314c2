#include "tools/proto/module_proto.h"

#include <gtest/gtest.h>

#include "parser/parser.h"

namespace hlo {
namespace {

std::string Bytes(llvm::StringRef text) {
  const ParseResult result = ParseModule(std::make_shared<SourceBuffer>("test.hlo", text.str()));
  auto bytes = ModuleProtoBytes(*result.module);
  return bytes ? *bytes : bytes.error().message;
}

TEST(ModuleProto, HoldsFieldsInTheirPlaces) {
  const std::string bytes = Bytes("HloModule m\nENTRY e { ROOT c = s4[2]{0} constant({-2, 1}) }");
  const llvm::StringRef all = bytes;
  EXPECT_TRUE(
      all.starts_with(llvm::StringRef("\x0a\x01m\x12\x01"
                                      "e\x1a",
                                      7)));
  // name, opcode, shape s4[2]{0}: element type 21, sizes, layout with tail padding alignment 1, no dynamic
  // sizes
  const llvm::StringRef shape("\x10\x15\x1a\x01\x02\x2a\x06\x0a\x01\x00\x80\x01\x01\x32\x01\x00", 16);
  EXPECT_TRUE(all.contains(("\x0a\x01"
                            "c\x12\x08"
                            "constant\x1a\x10" +
                            shape)
                               .str()));
  // literal: shape, then field 21 with one byte per element
  EXPECT_TRUE(all.contains((llvm::StringRef("\x42\x17\x0a\x10", 4) + shape + "\xaa\x01\x02\x0e\x01").str()));
}

TEST(ModuleProto, TellsWhatItCannotHold) {
  const std::string message = Bytes(
      "ENTRY e { p = f32[4] parameter(0)  ROOT c = f32[4] copy(p), sharding={mesh['a'=2], "
      "unreduced=max{'a'}} }");
  EXPECT_TRUE(llvm::StringRef(message).contains("unreduced maxima and minima over meshes have no form"))
      << message;
}

}  // namespace
}  // namespace hlo
