// Programs as bytes.
#include "ir/print.h"
#include "ir/support/binary.h"
#include "ir/verify.h"
#include "llvm/Support/xxhash.h"
#include "parser/parser.h"
#include "tools/library/client_state.h"

namespace hlo_toolkit::internal {
namespace {

// Versions of the form count up.
constexpr llvm::StringLiteral kMagic = "hlo-executable 1\n";

struct Stored {
  std::string text;  // of the module, from which its code was compiled
  CompileOptions options;
  std::string code;  // an entry of hlo::compile::ProgramStore; counts where it fits
};

/// How a module is written, so that what is read again is the same.
hlo::PrintOptions TextOptions() {
  hlo::PrintOptions options = hlo::PrintOptions::ModuleDump();
  options.max_constant_elements = -1;
  return options;
}

void Write(hlo::BinaryWriter& to, const Stored& stored) {
  to.Text(stored.text);
  to.Number(static_cast<uint64_t>(stored.options.replica_count));
  to.Number(static_cast<uint64_t>(stored.options.partition_count));
  to.Number(stored.options.device_assignment.size());
  for (const int device : stored.options.device_assignment) to.Number(static_cast<uint64_t>(device));
  to.Number(static_cast<uint64_t>(stored.options.optimization_level));
  to.Text(stored.code);
}

Stored Read(hlo::BinaryReader& from) {
  Stored stored;
  stored.text = from.Text().str();
  stored.options.replica_count = static_cast<int64_t>(from.Number());
  stored.options.partition_count = static_cast<int64_t>(from.Number());
  for (uint64_t left = from.Number(); left != 0 && !from.failed(); --left)
    stored.options.device_assignment.push_back(static_cast<int>(from.Number()));
  stored.options.optimization_level = static_cast<int>(from.Number());
  stored.code = from.Text().str();
  return stored;
}

std::string Checksum(llvm::StringRef bytes) {
  const llvm::XXH128_hash_t sum = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bytes));
  hlo::BinaryWriter text;
  text.Bytes(&sum, sizeof sum);
  return std::move(text).Take();
}

/// The module of a text, with what the text leaves out.
hlo::Result<std::shared_ptr<const hlo::Module>> ModuleOf(const std::string& text) {
  hlo::ParseResult parsed = hlo::ParseModule(llvm::StringRef(text), "<executable>");
  if (!parsed.module) return tl::unexpected(parsed.diagnostics.front());
  if (std::vector<hlo::Diagnostic> errors = hlo::Verify(*parsed.module); !errors.empty())
    return tl::unexpected(std::move(errors.front()));
  return std::shared_ptr<const hlo::Module>(std::move(parsed.module));
}

}  // namespace

StatusOr<std::string> ToBytes(const ExecutableState& executable) {
  Stored stored{hlo::ToString(*executable.module, TextOptions()), executable.how, ""};
  // The code is that of the module that will be read.
  auto module = ModuleOf(stored.text);
  if (!module) return ToStatus(module.error());
  const auto again =
      ExecutableState::Make(executable.client, std::move(*module), stored.options, &stored.code);
  if (!again) return ToStatus(again.error());
  hlo::BinaryWriter body;
  Write(body, stored);
  const std::string bytes = std::move(body).Take();
  return kMagic.str() + Checksum(bytes) + bytes;
}

hlo::Result<std::shared_ptr<const ExecutableState>> FromBytes(std::shared_ptr<ClientState> client,
                                                              std::string_view bytes) {
  llvm::StringRef body(bytes.data(), bytes.size());
  if (!body.consume_front(kMagic)) return Wrong("the bytes are no executable of this version");
  const size_t size = Checksum("").size();
  if (body.size() < size || body.take_front(size) != Checksum(body.drop_front(size)))
    return Wrong("the executable is damaged");
  hlo::BinaryReader reader(body.drop_front(size));
  Stored stored = Read(reader);
  if (reader.failed() || !reader.at_end()) return Wrong("the executable is damaged");
  HLO_TRY(auto module, ModuleOf(stored.text));
  return ExecutableState::Make(std::move(client), std::move(module), stored.options, &stored.code);
}

}  // namespace hlo_toolkit::internal
