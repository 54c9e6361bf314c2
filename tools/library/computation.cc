#include "hlo/computation.h"

#include <atomic>

#include "ir/print.h"
#include "ir/verify.h"
#include "parser/parser.h"
#include "tools/library/convert.h"

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

StatusOr<XlaComputation> XlaComputation::FromText(std::string_view text, std::string_view name) {
  hlo::ParseResult parsed =
      hlo::ParseModule(llvm::StringRef(text.data(), text.size()), llvm::StringRef(name.data(), name.size()));
  if (!parsed.module) return internal::ToStatus(parsed.diagnostics.front());
  std::vector<uint64_t> ids;
  for (size_t i = 0; i < parsed.module->computations().size(); ++i)
    ids.push_back(internal::NextComputationId());
  XlaComputation made = internal::ComputationAccess::Make(std::move(parsed.module), std::move(ids));
  Status status = made.Verify();
  if (!status.ok()) return status;
  return made;
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

Status XlaComputation::Verify() const {
  if (!rep_) return {StatusCode::kInvalidArgument, "the computation is null"};
  const std::vector<hlo::Diagnostic> errors = hlo::Verify(*rep_->module);
  return errors.empty() ? Status() : internal::ToStatus(errors.front());
}

}  // namespace hlo_toolkit
