// Telling input formats apart, and dump directories (tools.md §1.2).
#include <sys/stat.h>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "tools/common/dump_directory.h"
#include "tools/modules/inputs.h"

namespace hlo {
namespace {

/// What a text or an extension suggests.
enum class Content : uint8_t {
  Empty,
  HloText,
  Binary,
  ProtoText,
  Json,
  Mlir,
  MlirBytecode,
  Jaxpr,
  Npy,
  Zip,
  Gzip
};

// Most who give something else than HLO have a JAX program.
#define HLO_FROM_JAX                                                                                         \
  "in JAX, jax.jit(f).lower(x).as_text('hlo') is a program as HLO, and .compile().as_text() what XLA makes " \
  "of it"

struct ContentInfo {
  llvm::StringLiteral name;
  llvm::StringLiteral hint;
};
// In the order of Content.
constexpr ContentInfo kContents[] = {
    {"nothing", ""},
    {"HLO text", ""},
    {"a binary protocol buffer", "print the module as HLO text first"},
    {"a protocol buffer in text form", "print the module as HLO text first"},
    {"JSON", "print the module as HLO text first"},
    {"MLIR (StableHLO or MHLO) text",
     HLO_FROM_JAX "; files are converted by XLA's 'xla-translate --mlir-hlo-to-hlo-text'"},
    {"MLIR bytecode", HLO_FROM_JAX "; files are converted by XLA's 'xla-translate --mlir-hlo-to-hlo-text'"},
    {"a jaxpr", HLO_FROM_JAX},
    {"a NumPy array", "arrays are arguments: --input=@FILE, or --expected=@FILE; " HLO_FROM_JAX},
    {"a NumPy archive or another zip file",
     "arrays are arguments: --inputs=@FILE, or --expected=@FILE; " HLO_FROM_JAX},
    {"gzip-compressed data in gzip-compressed data", "decompress it first"},
};

#undef HLO_FROM_JAX

/// What a file begins with.
struct MagicRow {
  llvm::StringLiteral bytes;
  Content content;
};
constexpr MagicRow kMagic[] = {
    {"\x1f\x8b", Content::Gzip},  {"ML\xefR", Content::MlirBytecode}, {"\x93NUMPY", Content::Npy},
    {"PK\x03\x04", Content::Zip}, {"PK\x05\x06", Content::Zip},  // the second is an empty one
};

struct ExtensionRow {
  llvm::StringLiteral extension;
  Content content;
};
constexpr ExtensionRow kExtensions[] = {
    {".hlo", Content::HloText},         {".txt", Content::HloText},
    {".pb", Content::Binary},           {".pbtxt", Content::ProtoText},
    {".textproto", Content::ProtoText}, {".json", Content::Json},
    {".mlir", Content::Mlir},           {".gz", Content::Gzip},
};

/// The text after blanks, comments and log prefixes' line starts.
llvm::StringRef SkipBlanks(llvm::StringRef text) {
  for (;;) {
    text = text.ltrim(" \t\r\n");
    if (text.starts_with("//")) {
      text = text.drop_front(std::min(text.find('\n'), text.size()));
    } else if (text.starts_with("/*")) {
      const size_t end = text.find("*/", 2);
      if (end == llvm::StringRef::npos) return text;
      text = text.drop_front(end + 2);
    } else {
      return text;
    }
  }
}

llvm::StringRef FirstWord(llvm::StringRef text) {
  return text.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; });
}

/// MLIR modules begin with `module @name`, `module {`, `module attributes`, `func.func`, `"builtin.module"`
/// or an attribute alias `#loc = `.
bool LooksLikeMlir(llvm::StringRef text) {
  const llvm::StringRef word = FirstWord(text), rest = text.drop_front(word.size()).ltrim();
  if (word == "module")
    return rest.starts_with("@") || rest.starts_with("{") || rest.starts_with("attributes");
  return word == "func.func" || word == "builtin.module" || text.starts_with("\"builtin.module\"") ||
         text.starts_with("#loc");
}

/// Text of a proto message begins with `field {` or `field: value`.
bool LooksLikeProtoText(llvm::StringRef text) {
  const llvm::StringRef word = FirstWord(text), rest = text.drop_front(word.size()).ltrim(" ");
  constexpr llvm::StringLiteral kFields[] = {"hlo_module", "hlo", "name", "entry_computation_name",
                                             "computations"};
  return llvm::is_contained(kFields, word) && (rest.starts_with("{") || rest.starts_with(":"));
}

/// The binary modules begin with field 1: HloModuleProto with its name (followed by field 2, the name of the
/// entry computation), HloProto and HloSnapshot with a nested message that begins so.
bool LooksLikeProto(llvm::StringRef text) {
  for (int depth = 0; depth < 3 && text.consume_front("\n"); ++depth) {
    uint64_t length = 0;
    size_t bytes = 0;
    bool more = true;
    for (; more && bytes < std::min<size_t>(text.size(), 5); ++bytes) {
      const auto byte = static_cast<unsigned char>(text[bytes]);
      length |= static_cast<uint64_t>(byte & 0x7f) << (7 * bytes);
      more = (byte & 0x80) != 0;
    }
    if (more || bytes == 0) return false;
    text = text.drop_front(bytes);
    const llvm::StringRef name = text.take_front(length);
    if (name.size() == length && llvm::all_of(name, llvm::isPrint) &&
        text.drop_front(length).starts_with("\x12"))
      return true;
  }
  return false;
}

bool IsBinaryByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x7f || (byte < 0x20 && !llvm::isSpace(c));
}

/// Whether stray bytes leave the beginning recognisable as text; where they are few, the parser names them.
/// Of a remnant too short to judge that is up to its file's name.
bool IsMostlyText(llvm::StringRef text, bool named_text) {
  constexpr size_t kRemnant = 32;
  const llvm::StringRef head = text.take_front(1024);
  return (named_text && head.size() < kRemnant) ||
         llvm::count_if(head, IsBinaryByte) * 8 <= static_cast<std::ptrdiff_t>(head.size());
}

/// `named_text`: the name of the file says that it is HLO text.
Content DetectContent(llvm::StringRef text, bool named_text) {
  for (const MagicRow& row : kMagic)
    if (text.starts_with(row.bytes)) return row.content;
  const llvm::StringRef start = SkipBlanks(text);
  if (start.empty()) return text.trim().empty() ? Content::Empty : Content::HloText;
  const bool text_start = llvm::isAlpha(start.front()) || start.starts_with("%") || start.starts_with("_");
  if (LooksLikeProto(text) || (!IsMostlyText(text, named_text) && !(named_text && text_start)))
    return Content::Binary;
  if (LooksLikeMlir(start)) return Content::Mlir;
  if (llvm::StringRef rest = start; rest.consume_front("{") && FirstWord(rest.ltrim()) == "lambda")
    return Content::Jaxpr;
  if (LooksLikeProtoText(start)) return Content::ProtoText;
  if (start.starts_with("{") && !named_text) return Content::Json;
  return Content::HloText;
}

bool IsNamedText(llvm::StringRef file) {
  const llvm::StringRef extension = llvm::sys::path::extension(file);
  return llvm::any_of(kExtensions, [&](const ExtensionRow& row) {
    return row.content == Content::HloText && row.extension == extension;
  });
}

tl::unexpected<Diagnostic> Refuse(Content content) {
  const ContentInfo& info = kContents[static_cast<size_t>(content)];
  Diagnostic error = MakeError("input-format", {}, "found {0}, expected HLO text", info.name);
  error.Note(info.hint.str());
  return Error(std::move(error));
}

}  // namespace

ProtoForm FindProtoForm(llvm::StringRef file, llvm::StringRef text, InputFormat wanted) {
  if (wanted == InputFormat::Auto) {
    const Content content = DetectContent(text, IsNamedText(file));
    return content == Content::Binary      ? ProtoForm::Binary
           : content == Content::ProtoText ? ProtoForm::Text
                                           : ProtoForm::None;
  }
  if (wanted == InputFormat::Pbtxt) return ProtoForm::Text;
  return wanted == InputFormat::Pb || wanted == InputFormat::Snapshot ? ProtoForm::Binary : ProtoForm::None;
}

Status CheckFormat(llvm::StringRef file, llvm::StringRef text, InputFormat wanted,
                   std::vector<Diagnostic>& warnings) {
  if (wanted == InputFormat::Refused)
    return Error("input-format", {}, "this input format is not supported; convert the module to HLO text");
  if (wanted != InputFormat::Auto && wanted != InputFormat::Hlo)
    return Error("input-format", {},
                 "this kind of protocol buffer is not read; convert the module to HLO text");
  const Content found = DetectContent(text, IsNamedText(file));
  if (found == Content::Empty) return Error("input-empty", {}, "no HLO module in input");
  if (found != Content::HloText && wanted == InputFormat::Auto) return Refuse(found);
  if (found == Content::HloText && wanted == InputFormat::Auto && file != "-") {
    const llvm::StringRef extension = llvm::sys::path::extension(file);
    for (const ExtensionRow& row : kExtensions) {
      if (row.content == Content::Gzip) continue;
      if (row.extension != extension || row.content == Content::HloText) continue;
      Diagnostic warning =
          MakeError("format-mismatch", {}, "extension '{0}' suggests {1}, but the content is HLO text",
                    extension, kContents[static_cast<size_t>(row.content)].name);
      warning.severity = Severity::Warning;
      warning.file = file.str();
      warnings.push_back(std::move(warning));
    }
  }
  return {};
}

Result<std::vector<std::string>> ListDumps(llvm::StringRef directory, llvm::StringRef stage) {
  Regex pass;
  if (stage.empty()) stage = "before";
  llvm::StringRef word = stage;
  if (word.consume_front("pass:")) {
    HLO_TRY(pass, Regex::Compile(word));
    word = "pass";
  }
  if (!llvm::is_contained({"before", "after", "pass", "all"}, word))
    return Error("usage-option", {},
                 "option '--stage-in': found '{0}', expected before, after, pass:RE or all", stage);
  HLO_TRY(const std::vector<DumpFile> dumps, ReadDumpDirectory(directory));
  std::vector<std::string> paths;
  for (const DumpFile& dump : dumps) {
    const bool wanted =
        word == "all" || (word == "before" && dump.stage == DumpStage::Before) ||
        (word == "after" && dump.stage == DumpStage::After) ||
        (word == "pass" && dump.stage == DumpStage::Pass &&
         pass.Matches("after_" + dump.pass + (dump.next.empty() ? "" : ".before_" + dump.next)));
    if (wanted) paths.push_back(dump.path);
  }
  if (paths.empty()) return Error(NoDumps(directory, dumps.size(), stage));
  return paths;
}

}  // namespace hlo
