#include "passes/rewrite/op_names.h"

namespace hlo {

constexpr size_t kMaxOpName = 1024;

const OpMetadata* MetadataPrefix::Of(const Instruction& inner) {
  const OpMetadata* metadata = inner.metadata();
  if (!call_ || !metadata) return call_ ? call_ : metadata;
  const OpMetadata*& renamed = renamed_[metadata];
  if (!renamed) renamed = Renamed(metadata);
  return renamed;
}

const OpMetadata* MetadataPrefix::Renamed(const OpMetadata* metadata) {
  const llvm::StringRef prefix = call_->op_name;
  if (prefix.empty() || metadata->op_name.starts_with(prefix)) return metadata;
  const size_t length = prefix.size() + 1 + metadata->op_name.size();
  if (length > kMaxOpName) return metadata;
  OpMetadata copy = *metadata;
  const std::string name =
      metadata->op_name.empty() ? prefix.str() : (prefix + "/" + metadata->op_name).str();
  copy.op_name = module_.Save(name);
  return module_.Save(copy);
}

}  // namespace hlo
