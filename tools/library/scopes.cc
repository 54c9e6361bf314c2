// What operations get beside their operands while it is set: metadata, sharding, attributes of frontends.
#include "hlo/scopes.h"

#include "parser/values.h"
#include "tools/library/builder_state.h"

namespace hlo_toolkit {

using internal::BuilderState;
using internal::Wrong;

namespace internal {
namespace {

/// A sharding with what it points to.
struct ReadSharding {
  explicit ReadSharding(const std::string& text) : source("<sharding>", text) {}
  hlo::SourceBuffer source;
  hlo::Module names{""};
  hlo::Sharding sharding;
};

/// The sharding that a text is, with nothing behind it.
hlo::Result<hlo::ShardingPtr> ReadText(const std::string& text) {
  const auto read = std::make_shared<ReadSharding>(text);
  const hlo::ParseOptions options{.max_errors = 1};
  hlo::Cursor c(read->source, 0, text.size(), options, &read->names);
  if (!hlo::ParseSharding(c, read->sharding) || !c.Is(hlo::TokenKind::Eof))
    return Wrong("'{0}' is no sharding", text);
  return hlo::ShardingPtr(read, &read->sharding);
}

/// What HLO text can have in front of an attribute's `=`.
hlo::Status CheckKey(const std::string& key) {
  const std::string text = key + "=";
  hlo::Lexer lexer(text, 0, text.size());
  hlo::Token token;
  lexer.Lex(token);
  if (token.kind == hlo::TokenKind::AttrName && token.text == key && token.end == text.size()) return {};
  return Wrong("'{0}' is no key of an attribute", key);
}

}  // namespace

hlo::Status BuilderState::SetFrontendAttributes(FrontendAttributes attributes) {
  for (const auto& [key, value] : attributes) HLO_CHECK_OK(CheckKey(key));
  frontend_attributes_ = std::move(attributes);
  return {};
}

void BuilderState::set_metadata(std::optional<OpMetadata> metadata) {
  metadata_ = std::move(metadata);
  saved_metadata_ = nullptr;
}

hlo::Status BuilderState::SetSharding(const std::optional<OpSharding>& sharding) {
  hlo::ShardingPtr parsed;
  if (sharding) {
    HLO_TRY(parsed, ReadText(sharding->text));
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
  places_.try_emplace(&added, place_);
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

void XlaBuilder::SetFrontendAttributes(FrontendAttributes attributes, Location location) {
  const auto set = state_->SetFrontendAttributes(std::move(attributes));
  if (!set) state_->Fail(internal::ToStatus(set.error()), location);
}
void XlaBuilder::ClearFrontendAttributes() { (void)state_->SetFrontendAttributes({}); }
const FrontendAttributes& XlaBuilder::frontend_attributes() const { return state_->frontend_attributes(); }

Status XlaBuilder::SetInstructionFrontendAttribute(XlaOp operand, const std::string& key,
                                                   const std::string& value, Location location) {
  if (!first_error().ok()) return first_error();
  const auto found = state_->Find(operand, "the operand");
  const auto is_key = internal::CheckKey(key);
  if (!found || !is_key)
    state_->Fail(internal::ToStatus(found ? is_key.error() : found.error()), location);
  else
    state_->SetFrontendAttribute(**found, key, value);
  return first_error();
}

// Without a builder scopes do nothing.
XlaScopedShardingAssignment::XlaScopedShardingAssignment(XlaBuilder* builder,
                                                         const std::optional<OpSharding>& sharding,
                                                         Location location)
    : builder_(builder) {
  if (!builder_) return;
  before_ = builder_->sharding();
  if (sharding)
    builder_->SetSharding(*sharding, location);
  else
    builder_->ClearSharding();
}
XlaScopedShardingAssignment::~XlaScopedShardingAssignment() {
  if (!builder_) return;
  if (before_)
    builder_->SetSharding(*before_);
  else
    builder_->ClearSharding();
}

XlaScopedFrontendAttributesAssignment::XlaScopedFrontendAttributesAssignment(XlaBuilder* builder,
                                                                             FrontendAttributes attributes,
                                                                             Location location)
    : builder_(builder) {
  if (!builder_) return;
  before_ = builder_->frontend_attributes();
  builder_->SetFrontendAttributes(std::move(attributes), location);
}
XlaScopedFrontendAttributesAssignment::~XlaScopedFrontendAttributesAssignment() {
  if (builder_) builder_->SetFrontendAttributes(std::move(before_));
}

XlaScopedOpMetadataAssignment::XlaScopedOpMetadataAssignment(XlaBuilder* builder, OpMetadata metadata)
    : builder_(builder) {
  if (!builder_) return;
  before_ = builder_->metadata();
  builder_->SetOpMetadata(std::move(metadata));
}
XlaScopedOpMetadataAssignment::~XlaScopedOpMetadataAssignment() {
  if (!builder_) return;
  if (before_)
    builder_->SetOpMetadata(std::move(*before_));
  else
    builder_->ClearOpMetadata();
}

}  // namespace hlo_toolkit
