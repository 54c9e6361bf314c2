#include "hlo/computation.h"

#include <atomic>

#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parser.h"
#include "tools/common/gzip.h"
#include "tools/library/convert.h"
#include "tools/modules/graph_input.h"
#include "tools/modules/inputs.h"
#include "tools/proto/module_proto.h"
#include "tools/proto/read_module.h"
#include "tools/proto/text_form.h"

namespace hlo_toolkit {

struct XlaComputation::Rep {
  std::shared_ptr<const hlo::Module> module;
  std::vector<uint64_t> ids;
};

namespace internal {

XlaComputation ComputationAccess::Make(std::shared_ptr<const hlo::Module> module, std::vector<uint64_t> ids) {
  XlaComputation made;
  made.rep_ =
      std::make_shared<const XlaComputation::Rep>(XlaComputation::Rep{std::move(module), std::move(ids)});
  return made;
}
const hlo::Module* ComputationAccess::Module(const XlaComputation& computation) {
  return computation.rep_ ? computation.rep_->module.get() : nullptr;
}
std::shared_ptr<const hlo::Module> ComputationAccess::Share(const XlaComputation& computation) {
  return computation.rep_ ? computation.rep_->module : nullptr;
}
llvm::ArrayRef<uint64_t> ComputationAccess::Ids(const XlaComputation& computation) {
  return computation.rep_ ? llvm::ArrayRef<uint64_t>(computation.rep_->ids) : llvm::ArrayRef<uint64_t>();
}

uint64_t NextComputationId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace internal

namespace {

llvm::StringRef ToRef(std::string_view text) { return {text.data(), text.size()}; }

/// The computation of a module that was read, if it verifies.
StatusOr<XlaComputation> Verified(std::unique_ptr<hlo::Module> module) {
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < module->computations().size(); ++i) ids.push_back(internal::NextComputationId());
  XlaComputation made = internal::ComputationAccess::Make(std::move(module), std::move(ids));
  Status status = made.Verify();
  if (!status.ok()) return status;
  return made;
}

/// A module in any form that the tools read, which is found by the bytes alone.
hlo::Result<std::unique_ptr<hlo::Module>> ReadBytes(llvm::StringRef name, std::string bytes) {
  const auto source = [&](std::string text) {
    return std::make_shared<const hlo::SourceBuffer>(name.str(), std::move(text));
  };
  if (hlo::LooksLikeGzip(bytes)) {
    HLO_TRY(bytes, hlo::Gunzip(bytes));
  }
  const hlo::ProtoForm form = hlo::FindProtoForm("-", bytes, hlo::InputFormat::Auto);
  if (hlo::LooksLikeJson(bytes)) {
    HLO_TRY(bytes, hlo::GraphJsonToHlo(source(std::move(bytes))));
  } else if (form != hlo::ProtoForm::None) {
    if (form == hlo::ProtoForm::Text) {
      HLO_TRY(bytes, hlo::ProtoTextToBytes(source(std::move(bytes))));
    }
    HLO_TRY(hlo::ProtoFile file, hlo::ReadModuleProto(source(std::move(bytes))));
    return std::move(file.module);
  } else {
    std::vector<hlo::Diagnostic> warnings;
    HLO_CHECK_OK(hlo::CheckFormat("-", bytes, hlo::InputFormat::Auto, warnings));
  }
  hlo::ParseResult parsed = hlo::ParseModule(bytes, name);
  if (!parsed.module) return tl::unexpected(std::move(parsed.diagnostics.front()));
  return std::move(parsed.module);
}

}  // namespace

StatusOr<XlaComputation> XlaComputation::FromText(std::string_view text, std::string_view name) {
  hlo::ParseResult parsed = hlo::ParseModule(ToRef(text), ToRef(name));
  if (!parsed.module) return internal::ToStatus(parsed.diagnostics.front());
  return Verified(std::move(parsed.module));
}

StatusOr<XlaComputation> XlaComputation::FromBytes(std::string_view bytes, std::string_view name) {
  auto read = ReadBytes(ToRef(name), std::string(bytes));
  if (!read) return internal::ToStatus(read.error());
  return Verified(std::move(*read));
}

std::string XlaComputation::name() const { return rep_ ? rep_->module->name().str() : std::string(); }

StatusOr<ProgramShape> XlaComputation::GetProgramShape() const {
  if (!rep_) return Status(StatusCode::kInvalidArgument, "the computation is null");
  ProgramShape shape;
  const hlo::Computation& entry = *rep_->module->entry();
  for (const hlo::Instruction* parameter : entry.parameters()) {
    shape.parameters.push_back(internal::FromShape(parameter->shape()));
    shape.parameter_names.push_back(parameter->name().str());
  }
  shape.result = internal::FromShape(entry.root()->shape());
  return shape;
}

std::string XlaComputation::ToString() const {
  if (!rep_) return "";
  hlo::PrintOptions options = hlo::PrintOptions::ModuleDump();
  options.max_constant_elements = -1;
  return hlo::ToString(*rep_->module, options);
}

std::string XlaComputation::ToShortString(int64_t constant_elements) const {
  if (!rep_) return "";
  hlo::PrintOptions options = hlo::PrintOptions::ModuleDump();
  options.max_constant_elements = std::max<int64_t>(constant_elements, 0);
  return hlo::ToString(*rep_->module, options);
}

StatusOr<std::string> XlaComputation::ToProto() const {
  if (!rep_) return Status(StatusCode::kInvalidArgument, "the computation is null");
  auto bytes = hlo::ModuleProtoBytes(*rep_->module);
  if (!bytes) return internal::ToStatus(bytes.error());
  return *std::move(bytes);
}

Status XlaComputation::Verify() const {
  if (!rep_) return {StatusCode::kInvalidArgument, "the computation is null"};
  const std::vector<hlo::Diagnostic> errors = hlo::Verify(*rep_->module);
  return errors.empty() ? Status() : internal::ToStatus(errors.front());
}

}  // namespace hlo_toolkit
