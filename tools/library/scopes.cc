// What operations get beside their operands while it is set: metadata, sharding, attributes of frontends.
#include "hlo/scopes.h"

#include "parser/parser.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::BuilderState;
using internal::Wrong;

namespace internal {
namespace {

/// The sharding that a text is, as the parser reads it of an instruction.
hlo::Result<hlo::ShardingPtr> ParseSharding(const std::string& text) {
  const hlo::ParseResult parsed =
      hlo::ParseModule("ENTRY e { ROOT x = f32[] parameter(0), sharding=" + text + " }");
  const hlo::Module* module = parsed.module.get();
  if (!module || module->InstructionCount() != 1 || !module->entry()->root()->extras().sharding)
    return Wrong("'{0}' is no sharding", text);
  return module->entry()->root()->extras().sharding;
}

}  // namespace

void BuilderState::set_metadata(std::optional<OpMetadata> metadata) {
  metadata_ = std::move(metadata);
  saved_metadata_ = nullptr;
}

hlo::Status BuilderState::SetSharding(const std::optional<OpSharding>& sharding) {
  hlo::ShardingPtr parsed;
  if (sharding) {
    HLO_TRY(parsed, ParseSharding(sharding->text));
  }
  sharding_ = sharding;
  parsed_sharding_ = std::move(parsed);
  return {};
}

const hlo::OpMetadata* BuilderState::SaveMetadata(const OpMetadata& metadata) {
  hlo::OpMetadata made;
  made.op_type = module_->Save(metadata.op_type());
  made.op_name = module_->Save(metadata.op_name());
  made.source_file = module_->Save(metadata.source_file());
  made.source_line = metadata.source_line();
  return module_->Save(made);
}

void BuilderState::Decorate(hlo::Instruction& added) {
  if (one_shot_metadata_) {
    added.set_metadata(SaveMetadata(*one_shot_metadata_));
  } else if (metadata_) {
    if (!saved_metadata_) saved_metadata_ = SaveMetadata(*metadata_);
    added.set_metadata(saved_metadata_);
  }
  for (const auto& [key, value] : frontend_attributes_) SetFrontendAttribute(added, key, value);
}

void BuilderState::DecorateResult(hlo::Instruction& result) {
  if (parsed_sharding_) result.MutableExtras().sharding = parsed_sharding_;
  one_shot_metadata_.reset();
}

}  // namespace internal

void XlaBuilder::SetOpMetadata(OpMetadata metadata) { state_->set_metadata(std::move(metadata)); }
void XlaBuilder::SetOneShotOpMetadata(OpMetadata metadata) {
  state_->set_one_shot_metadata(std::move(metadata));
}
void XlaBuilder::ClearOpMetadata() { state_->set_metadata(std::nullopt); }
std::optional<OpMetadata> XlaBuilder::metadata() const { return state_->metadata(); }

void XlaBuilder::SetSharding(const OpSharding& sharding, Location location) {
  const auto set = state_->SetSharding(sharding);
  if (!set) state_->Fail(internal::ToStatus(set.error()), location);
}
void XlaBuilder::ClearSharding() { (void)state_->SetSharding(std::nullopt); }
std::optional<OpSharding> XlaBuilder::sharding() const { return state_->sharding(); }

void XlaBuilder::SetFrontendAttributes(FrontendAttributes attributes) {
  state_->frontend_attributes() = std::move(attributes);
}
void XlaBuilder::ClearFrontendAttributes() { state_->frontend_attributes().clear(); }
const FrontendAttributes& XlaBuilder::frontend_attributes() const { return state_->frontend_attributes(); }

Status XlaBuilder::SetInstructionFrontendAttribute(XlaOp operand, const std::string& key,
                                                   const std::string& value, Location location) {
  if (!first_error().ok()) return first_error();
  const auto found = state_->Find(operand, "the operand");
  if (found)
    state_->SetFrontendAttribute(**found, key, value);
  else
    state_->Fail(internal::ToStatus(found.error()), location);
  return first_error();
}

XlaScopedShardingAssignment::XlaScopedShardingAssignment(XlaBuilder* builder,
                                                         const std::optional<OpSharding>& sharding,
                                                         Location location)
    : builder_(builder), before_(builder->sharding()) {
  if (sharding)
    builder->SetSharding(*sharding, location);
  else
    builder->ClearSharding();
}
XlaScopedShardingAssignment::~XlaScopedShardingAssignment() {
  if (before_)
    builder_->SetSharding(*before_);
  else
    builder_->ClearSharding();
}

XlaScopedFrontendAttributesAssignment::XlaScopedFrontendAttributesAssignment(XlaBuilder* builder,
                                                                             FrontendAttributes attributes)
    : builder_(builder), before_(builder->frontend_attributes()) {
  builder->SetFrontendAttributes(std::move(attributes));
}
XlaScopedFrontendAttributesAssignment::~XlaScopedFrontendAttributesAssignment() {
  builder_->SetFrontendAttributes(std::move(before_));
}

XlaScopedOpMetadataAssignment::XlaScopedOpMetadataAssignment(XlaBuilder* builder, OpMetadata metadata)
    : builder_(builder), before_(builder->metadata()) {
  builder->SetOpMetadata(std::move(metadata));
}
XlaScopedOpMetadataAssignment::~XlaScopedOpMetadataAssignment() {
  if (before_)
    builder_->SetOpMetadata(std::move(*before_));
  else
    builder_->ClearOpMetadata();
}

}  // namespace hlo_toolkit
