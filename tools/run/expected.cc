#include "tools/run/expected.h"

#include "llvm/ADT/DenseSet.h"

namespace hlo {
namespace {

using llvm::StringRef;

constexpr StringRef kIgnored = "(ignored)";

/// `out0_1` of an output.
std::string MemberName(const OutputLeaf& leaf) {
  std::string name = "out" + std::to_string(leaf.index.empty() ? 0 : leaf.index[0]);
  for (size_t i = 1; i < leaf.index.size(); ++i) name += "_" + std::to_string(leaf.index[i]);
  return name;
}

/// Splits `_r0_p1` off a member's name.
bool TakeDevice(StringRef& name, std::optional<int64_t>& replica, std::optional<int64_t>& partition) {
  const size_t at = name.rfind("_r");
  if (at == StringRef::npos) return false;
  const auto [r, p] = name.drop_front(at + 2).split("_p");
  int64_t rn = 0, pn = 0;
  if (r.getAsInteger(10, rn) || p.getAsInteger(10, pn)) return false;
  replica = rn;
  partition = pn;
  name = name.take_front(at);
  return true;
}

}  // namespace

const Literal& PartAt(const Literal& value, const ShapeIndex& index) {
  const Literal* at = &value;
  for (const int64_t i : index) at = &at->element(i);
  return *at;
}

bool DependsOnParameters(const Module& module, ShapeIndex index) {
  const Instruction* from = module.entry()->root();
  for (; from->kind() == OpKind::Tuple && !index.empty(); index.erase(index.begin()))
    from = from->operand(index[0]);
  std::vector<const Instruction*> stack = {from};
  llvm::DenseSet<const Instruction*> seen = {from};
  while (!stack.empty()) {
    const Instruction* inst = stack.back();
    stack.pop_back();
    if (inst->kind() == OpKind::Parameter && inst->shape().LeafCount() > 0) return true;
    for (const Instruction* operand : inst->operands())
      if (seen.insert(operand).second) stack.push_back(operand);
  }
  return false;
}

std::vector<OutputLeaf> OutputLeaves(const Module& module) {
  std::vector<OutputLeaf> leaves;
  const Instruction* root = module.entry()->root();
  ForEachLeaf(root->shape(), [&](const ShapeIndex& index, const Shape& shape) {
    if (!shape.IsArray()) return;
    const Instruction* maker = root;
    for (const int64_t i : index) {
      if (maker->kind() != OpKind::Tuple) break;
      maker = maker->operand(i);
    }
    leaves.push_back({index, shape, maker->name().str()});
  });
  return leaves;
}

Status ExpectedSource::AddArchive(const ArrayFile& file, llvm::ArrayRef<OutputLeaf> leaves) {
  llvm::StringMap<size_t> by_name;
  for (size_t i = 0; i < leaves.size(); ++i) by_name[MemberName(leaves[i])] = i;
  // numpy.savez calls arrays without names arr_0, arr_1, …
  const bool numbered =
      llvm::any_of(file.arrays, [](const auto& array) { return StringRef(array.first) == "arr_0"; });
  for (size_t i = 0; numbered && i < leaves.size(); ++i) by_name["arr_" + std::to_string(i)] = i;
  if (leaves.size() == 1 && file.arrays.size() == 1) by_name[file.arrays.front().first] = 0;
  Diagnostic error;
  error.id = "input-array";
  error.file = file.path;
  for (const auto& [name, array] : file.arrays) {
    Entry entry;
    StringRef base = name;
    auto it = by_name.find(base);
    if (it == by_name.end() && TakeDevice(base, entry.replica, entry.partition)) it = by_name.find(base);
    // Files of mismatches hold more than outputs.
    if (it == by_name.end() && !base.starts_with("out") && !base.starts_with("arr_")) continue;
    if (it == by_name.end()) {
      error.message =
          llvm::formatv("member '{0}' is no output; the result has {1}", name, leaves.size()).str();
      error.Note("members are " + MembersOf(file));
      return Error(std::move(error));
    }
    auto value = std::make_unique<Value>();
    value->text = name;
    value->file = file.path + "#" + name;
    value->what = array;
    entry.value = value.get();
    values_.push_back(std::move(value));
    entries_[it->second].push_back(std::move(entry));
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!entries_[i].empty()) continue;
    error.message = llvm::formatv("no member '{0}' for {1}", MemberName(leaves[i]), leaves[i].Label()).str();
    error.Note("members are " + MembersOf(file));
    return Error(std::move(error));
  }
  return {};
}

/// A value for the next output; a tuple literal covers all its leaves.
Status ExpectedSource::AddWhole(const Value& value, llvm::ArrayRef<OutputLeaf> leaves, size_t& next) {
  const auto own = OwnShape(value);
  if (own && own->IsTuple()) {
    // The whole root tuple, or a nested one.
    const ShapeIndex first = next < leaves.size() ? leaves[next].index : ShapeIndex{};
    size_t arrays = 0;
    ForEachLeaf(*own, [&](const ShapeIndex&, const Shape& leaf) { arrays += leaf.IsArray(); });
    const size_t depth = next == 0 && arrays == leaves.size() ? 0 : 1;
    const ShapeIndex prefix(first.begin(),
                            first.begin() + static_cast<ptrdiff_t>(std::min(depth, first.size())));
    Status status;
    ForEachLeaf(*own, [&](const ShapeIndex& index, const Shape& leaf) {
      if (!status || !leaf.IsArray()) return;
      ShapeIndex wanted = prefix;
      wanted.append(index.begin(), index.end());
      if (next >= leaves.size() || leaves[next].index != wanted)
        status =
            Error("input-shape", {}, "the result has no element {0}, value is {1}", ToString(wanted), *own);
      else
        entries_[next++].push_back({&value, index, {}, {}});
    });
    return status;
  }
  if (next >= leaves.size())
    return Error("usage-option", {}, "option '--expected': no output left for '{0}'; the result has {1}",
                 value.text, leaves.size());
  entries_[next++].push_back({&value, {}, {}, {}});
  return {};
}

Status ExpectedSource::Read(llvm::ArrayRef<std::string> texts, const Shape& root,
                            llvm::ArrayRef<OutputLeaf> leaves, DeviceCount devices, bool narrow) {
  leaves_.assign(leaves.begin(), leaves.end());
  entries_.resize(leaves.size());
  devices_ = devices;
  size_t next = 0;
  bool archive = false;
  for (const std::string& text : texts) {
    if (text == kIgnored) {
      ++next;
      continue;
    }
    HLO_TRY(auto values, ReadValue(text, "--expected"));
    // A lone tuple without shapes is the whole result.
    if (texts.size() == 1 && root.IsTuple() && StringRef(text).ltrim().starts_with("("))
      if (auto whole = ParseLiteral(text, root)) values.front()->what = whole->Unpack();
    for (auto& owned : values) {
      const Value& value = *owned;
      values_.push_back(std::move(owned));
      const auto* file = std::get_if<ArrayFile>(&value.what);
      archive |= file != nullptr && file->kind == ArrayFile::Kind::Npz;
      if (file != nullptr && file->kind == ArrayFile::Kind::Npz) {
        HLO_CHECK_OK(AddArchive(*file, leaves));
      } else if (file != nullptr && leaves.size() > 1) {
        // Raw bytes of all outputs, one after another.
        size_t offset = 0;
        for (size_t i = next; i < leaves.size(); ++i) {
          ArrayFile part = *file;
          const auto size = static_cast<size_t>(ByteSize(leaves[i].shape));
          part.bytes = file->bytes.substr(offset, size);
          offset += size;
          auto cut = std::make_unique<Value>();
          cut->text = text;
          cut->file = part.path;
          cut->what = std::move(part);
          entries_[i].push_back({cut.get(), {}, {}, {}});
          values_.push_back(std::move(cut));
        }
        if (offset != file->bytes.size())
          return Error("input-shape", {}, "the outputs have {0} bytes, '{1}' has {2}", offset, file->path,
                       file->bytes.size());
        next = leaves.size();
      } else {
        HLO_CHECK_OK(AddWhole(value, leaves, next));
      }
    }
  }
  for (const auto& value : values_) value->narrow = narrow;
  if (next > leaves.size())
    return Error("usage-option", {}, "option '--expected': found {0} values, the result has {1} outputs",
                 next, leaves.size());
  if (!archive && next < leaves.size())
    return Error("usage-option", {},
                 "option '--expected': {0} of {1} outputs have a value; '(ignored)' skips one", next,
                 leaves.size());
  return {};
}

bool ExpectedSource::Typed(size_t leaf) const {
  return llvm::any_of(entries_[leaf], [](const Entry& entry) {
    return entry.value->file.empty() && !std::holds_alternative<ValueRule>(entry.value->what);
  });
}

Result<std::optional<Literal>> ExpectedSource::For(size_t leaf, int64_t device) const {
  const int64_t r = device / devices_.partitions, p = device % devices_.partitions;
  for (const Entry& entry : entries_[leaf]) {
    if ((entry.replica && *entry.replica != r) || (entry.partition && *entry.partition != p)) continue;
    const std::string what = leaves_[leaf].Label() + ": result";
    if (!entry.part.empty()) {
      const Literal& part = PartAt(std::get<Literal>(entry.value->what), entry.part);
      Value value;
      value.file = entry.value->file;
      value.what = part;
      HLO_TRY(Literal literal, MakeLiteral(value, leaves_[leaf].shape, what, {}));
      return std::optional<Literal>(std::move(literal));
    }
    HLO_TRY(Literal literal, MakeLiteral(*entry.value, leaves_[leaf].shape, what, {}));
    return std::optional<Literal>(std::move(literal));
  }
  return std::optional<Literal>();
}

}  // namespace hlo
