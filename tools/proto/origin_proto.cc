#include "tools/proto/origin_proto.h"

#include <tuple>

namespace hlo {
namespace {

void WriteArray(ProtoWriter& out, int field, llvm::StringRef name, const ShapeIndex& index) {
  out.Message(field, [&](ProtoWriter& array) {
    array.Text(1, name);
    array.Packed(2, index);
  });
}

void ReadArray(ProtoMessage& in, int field, llvm::StringRef& name, ShapeIndex& index) {
  if (ProtoMessage* array = in.Message(field, "OriginalArrayProto")) {
    name = array->Text(1);
    array->Numbers(2, index);
  }
}

}  // namespace

void WriteOrigin(ProtoWriter& out, const Origin& origin) {
  struct Place {
    const Origin* origin;
    ShapeIndex index;
  };
  std::vector<Place> left = {{&origin, {}}};
  while (!left.empty()) {
    const Place place = std::move(left.back());
    left.pop_back();
    const Origin& at = *place.origin;
    if (at.synthetic_call) return out.Number(2, 1);
    for (size_t i = at.elements.size(); i-- > 0;) {
      left.push_back({&at.elements[i], place.index});
      left.back().index.push_back(static_cast<int64_t>(i));
    }
    if (at.is_tuple) continue;
    out.Message(1, [&](ProtoWriter& leaf) {
      leaf.Packed(1, place.index);
      if (at.has_name) WriteArray(leaf, 2, at.name, at.index);
    });
  }
}

Origin ReadOrigin(ProtoMessage& in, const Shape& shape) {
  Origin root;
  root.synthetic_call = in.Number(2) != 0;
  bool any = false;
  in.ForEach(1, "OriginalValueElementProto", [&](ProtoMessage& leaf) {
    ShapeIndex index;
    leaf.Numbers(1, index);
    Origin* at = &root;
    const Shape* part = &shape;
    for (const int64_t i : index) {
      if (!part->IsTuple() || i < 0 || i >= part->tuple_size())
        return in.problems().Fail("found the origin of element {0}, which {1} lacks", ToString(index), shape);
      part = &part->tuple_shape(i);
      at->is_tuple = true;
      if (static_cast<int64_t>(at->elements.size()) <= i) at->elements.resize(static_cast<size_t>(i) + 1);
      at = &at->elements[static_cast<size_t>(i)];
    }
    any = true;
    at->has_name = leaf.Has(2);
    ReadArray(leaf, 2, at->name, at->index);
  });
  if (!any) root.is_tuple = true;
  return root;
}

Status WriteRecoveryTable(ProtoWriter& out, const Module& module) {
  for (const OriginRecovery& entry : module.config.origin_recovery_table) {
    if (entry.recovery)
      return Error("unavailable-feature", {},
                   "modules of origin_recovery_table have no form as protocol buffer yet");
    out.Message(1, [&](ProtoWriter& e) {
      WriteArray(e, 1, entry.old_name, entry.old_index);
      WriteArray(e, 2, entry.new_name, entry.new_index);
    });
  }
  return {};
}

void ReadRecoveryTable(ProtoMessage& in, Module& module) {
  auto& table = module.config.origin_recovery_table;
  in.ForEach(1, "Entry", [&](ProtoMessage& entry) {
    OriginRecovery& recovery = table.emplace_back();
    ReadArray(entry, 1, recovery.old_name, recovery.old_index);
    ReadArray(entry, 2, recovery.new_name, recovery.new_index);
  });
  const auto key = [](const OriginRecovery& r) { return std::tie(r.old_name, r.old_index); };
  // Equal keys in the order of the message: std::stable_sort would ask for memory by a deprecated way.
  std::vector<size_t> order(table.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  llvm::sort(order, [&](size_t a, size_t b) {
    return key(table[a]) != key(table[b]) ? key(table[a]) < key(table[b]) : a < b;
  });
  std::vector<OriginRecovery> sorted;
  for (const size_t i : order) sorted.push_back(std::move(table[i]));
  table = std::move(sorted);
  table.erase(
      std::unique(table.begin(), table.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
      table.end());
}

}  // namespace hlo
