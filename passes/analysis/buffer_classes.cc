// Which values must share a buffer, and whether they can.
#include "passes/analysis/buffer_assignment.h"

namespace hlo {

std::vector<std::vector<Place>> BufferClasses(const Dataflow& flow, const Timeline& timeline) {
  std::vector<std::vector<Place>> classes;
  llvm::DenseMap<Place, size_t> index;
  for (Place p = 0; p < static_cast<Place>(flow.place_count()); ++p) {
    if (!flow.Defines(p) || !(flow.shape(p).IsArray() || flow.shape(p).IsBuffer())) continue;
    const auto [it, fresh] = index.try_emplace(flow.Buffer(p), classes.size());
    if (fresh) classes.emplace_back();
    classes[it->second].push_back(p);
  }
  for (std::vector<Place>& values : classes)
    if (values.size() > 1)
      llvm::sort(values, [&](Place a, Place b) {
        return std::pair(timeline.Definition(flow, a), a) < std::pair(timeline.Definition(flow, b), b);
      });
  return classes;
}

bool IsReadOnly(const Dataflow& flow, Place value) {
  const Instruction& inst = flow.instruction(value);
  if (inst.kind() == OpKind::Constant) return true;
  return inst.kind() == OpKind::Parameter && inst.parent()->IsEntry() && !flow.IsAliasedInput(value);
}

std::optional<BufferConflict> FindConflict(const Ordering& ordering,
                                           llvm::ArrayRef<std::vector<Place>> classes) {
  for (const std::vector<Place>& values : classes) {
    if (values.size() < 2) continue;
    for (size_t i = 0; i < values.size(); ++i) {
      if (IsReadOnly(ordering.flow(), values[i]))
        return BufferConflict{values[i], values[i == 0 ? 1 : 0], true};
      // The order of definition is a legal one, so that comparing neighbours suffices.
      if (i > 0 && !ordering.Before(values[i - 1], values[i]))
        return BufferConflict{values[i - 1], values[i], false};
    }
  }
  return std::nullopt;
}

}  // namespace hlo
