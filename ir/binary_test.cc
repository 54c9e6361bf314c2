#include "ir/binary.h"

#include <gtest/gtest.h>

#include "ir/print.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "parser/parser.h"

namespace hlo {
namespace {

constexpr llvm::StringLiteral kModule = R"(
HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }, frontend_attributes={a="b"}, replica_count=2
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  p = f32[4,6]{0,1:T(2,128)S(5)} parameter(0), sharding={devices=[2,1]0,1}, frontend_attributes={k="v"}
  c = s4[3] constant({1, -2, 3}), metadata={op_name="c" source_file="f.py" source_line=7}
  z = f32[] constant(0), metadata={op_name="c" source_file="f.py" source_line=7}
  r = f32[4] reduce(p, z), dimensions={1}, to_apply=add, metadata={op_name="r" profile_type={1,2}}
  a = f32[4] all-reduce(r), replica_groups=[1,2]<=[2], to_apply=add, channel_id=3
  n = s32[] constant(2)
  d = f32[<=4] set-dimension-size(a, n), dimensions={0}, control-predecessors={c}
  w = f32[4,3] reduce-window(p, z), window={size=1x2 stride=1x2}, to_apply=add, backend_config="x y"
  l = (f32[2], (pred[], u8[2])) constant(({1, 2}, (true, {3, 4})))
  ROOT t = (f32[4,6], f32[<=4]) tuple(p, d), statistics={visualizing_index=1,s=2.5}, origin={({"q" {1}}, {})}
}
)";

/// Everything that the printer knows, constants in full.
std::string TextOf(const Module& module) {
  PrintOptions options;
  options.max_constant_elements = -1;
  return ToString(module, options);
}

ParseResult Parse(llvm::StringRef text) { return ParseModule(text, "m.hlo"); }

/// The bytes and what the printer shows survive.
void ExpectExact(const Module& module, llvm::StringRef what) {
  const std::string bytes = ToBinary(module);
  const auto again = FromBinary(bytes, module.sources());
  ASSERT_TRUE(again) << what.str();
  EXPECT_TRUE(ToBinary(*again) == bytes) << what.str();
  EXPECT_EQ(TextOf(*again), TextOf(module)) << what.str();
}

void CollectModules(llvm::StringRef folder, std::vector<std::string>& files) {
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (llvm::StringRef(at->path()).ends_with(".hlo")) files.push_back(at->path());
}

TEST(Binary, KeepsEverything) {
  const ParseResult parsed = Parse(kModule);
  ASSERT_TRUE(parsed.module);
  ExpectExact(*parsed.module, "the module above");
  const auto again = FromBinary(ToBinary(*parsed.module), parsed.module->sources());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->entry()->root()->loc().begin, parsed.module->entry()->root()->loc().begin);
  EXPECT_EQ(again->entry()->root()->loc().source, parsed.module->sources()[0].get());
  EXPECT_EQ(again->UniqueInstructionName("p"), parsed.module->UniqueInstructionName("p"));
}

/// The conformance suite, whole models, and $HLO_CORPUS.
TEST(Binary, IsExactForAllModules) {
  std::vector<std::string> files;
  CollectModules(HLO_SOURCE_DIR "/testdata/conformance/cases", files);
  CollectModules(HLO_SOURCE_DIR "/testdata/models", files);
  if (const char* corpus = std::getenv("HLO_CORPUS")) CollectModules(corpus, files);
  EXPECT_GT(files.size(), 1000u);
  for (const std::string& file : files) {
    const auto text = llvm::MemoryBuffer::getFile(file);
    ASSERT_TRUE(text) << file;
    const ParseResult parsed = Parse((*text)->getBuffer());
    if (parsed.module) ExpectExact(*parsed.module, file);
  }
}

TEST(Binary, LeavesOutLiteralsThatTheReaderHas) {
  const ParseResult parsed = Parse("ENTRY e { ROOT c = f32[4] constant({1, 2, 3, 4}) }");
  ASSERT_TRUE(parsed.module);
  const LiteralPtr known = parsed.module->entry()->root()->attr<ConstantAttrs>().literal;
  const BinaryLiterals literals{
      [&](const LiteralPtr& l) { return l == known ? std::optional<uint64_t>(5) : std::nullopt; },
      [&](uint64_t number) { return number == 5 ? known : nullptr; }};
  const std::string bytes = ToBinary(*parsed.module, &literals);
  EXPECT_LT(bytes.size() + 15, ToBinary(*parsed.module).size());
  EXPECT_FALSE(FromBinary(bytes, parsed.module->sources()));
  const auto again = FromBinary(bytes, parsed.module->sources(), &literals);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->entry()->root()->attr<ConstantAttrs>().literal, known);
}

TEST(Binary, DamagedBytesDoNoHarm) {
  const ParseResult parsed = Parse(kModule);
  ASSERT_TRUE(parsed.module);
  const std::string bytes = ToBinary(*parsed.module);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(FromBinary(llvm::StringRef(bytes).take_front(size), parsed.module->sources())) << size;
  EXPECT_FALSE(FromBinary(bytes + "x", parsed.module->sources()));
  size_t read = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const int change : {1, 2, 16, 128, 255}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      if (const auto module = FromBinary(damaged, parsed.module->sources())) read += !TextOf(*module).empty();
    }
  EXPECT_GT(read, 0u);  // of names and the like
}

}  // namespace
}  // namespace hlo
