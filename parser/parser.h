// Reading HLO text (hlo-text §1–§6, §8; errata-text).
#pragma once
#include <memory>
#include <vector>

#include "ir/literal.h"
#include "ir/module.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"

namespace hlo {

enum class UnknownAttributes : uint8_t { Error, Warn, Keep };

struct ParseOptions {
  unsigned max_errors = 20;  // 0 = unlimited
  UnknownAttributes unknown_attributes = UnknownAttributes::Error;
  bool fill_missing_layouts = true;
  bool keep_module_auto_layouts = false;
};

/// A module, or why there is none. `diagnostics` may hold warnings beside a module.
struct ParseResult {
  std::unique_ptr<Module> module;  // null iff there was an error
  std::vector<Diagnostic> diagnostics;
  SourcePtr source;  // the text that the diagnostics point into
};

/// Parses one module (with header, header-less, or a single instruction) from source->text()
/// [begin, end). Positions are those of the whole buffer. Log prefixes must have been blanked out
/// (BlankLogPrefixes). Does not verify.
ParseResult ParseModule(const SourcePtr& source, const ParseOptions& options = {}, size_t begin = 0,
                        size_t end = SIZE_MAX);
/// Convenience for text made in code.
ParseResult ParseModule(llvm::StringRef text, llvm::StringRef name = "<string>",
                        const ParseOptions& options = {});

/// Byte ranges of the chunks between `// -----` lines that are not blank or all comment; warnings for
/// near misses of the marker.
struct Chunk {
  size_t begin, end;
};
std::vector<Chunk> SplitChunks(const SourceBuffer& source, std::vector<Diagnostic>& warnings);
/// Replaces `I0521 12:04:45.883483 1509 file.cc:186] ` prefixes by blanks, so that columns stay.
std::string BlankLogPrefixes(std::string text);

/// Stand-alone values, for command lines and literal files.
Result<Shape> ParseShape(llvm::StringRef text);
/// `{{1,2},{3,4}}` for a known shape.
Result<Literal> ParseLiteral(llvm::StringRef text, const Shape& shape);
/// `f32[2] {1,2}` or `(f32[] 1, s32[2] {1,2})`.
Result<Literal> ParseLiteralWithShape(llvm::StringRef text);

}  // namespace hlo
