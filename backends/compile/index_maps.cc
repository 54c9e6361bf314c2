#include "backends/compile/index_maps.h"

#include <utility>

#include "backends/compile/kernel_ops.h"
#include "ir/attrs.h"
#include "ir/op.h"
#include "passes/analysis/reshape_facts.h"

namespace hlo::compile {

/// More is as much, and sums of it are still numbers.
constexpr int64_t kMostTimes = int64_t{1} << 60;

int64_t LoopTable::TimesOf(const IndexMap& map) const {
  int64_t times = least_times_;
  for (const int32_t loop : map)
    if (IsLoop(loop)) times = std::max(times, times_[static_cast<size_t>(loop)]);
  return times;
}

bool LoopTable::IsInNest(const IndexMap& map) const {
  return llvm::any_of(map, [&](int32_t loop) { return IsLoop(loop) && in_nest_[static_cast<size_t>(loop)]; });
}

int32_t LoopTable::AddLoop(const IndexMap& map, int64_t times) {
  times_.push_back(times);
  in_nest_.push_back(IsInNest(map));
  return static_cast<int32_t>(times_.size()) - 1;
}

std::optional<std::vector<IndexMap>> LoopTable::NestLoops(const IndexMap& map) const {
  std::vector<IndexMap> loops;
  for (const int32_t index : map) {
    IndexMap& of_dimension = loops.emplace_back();
    if (!IsLoop(index)) {
      if (index != kNoLoop) return std::nullopt;
    } else if (llvm::is_contained(nest_, index)) {
      of_dimension.push_back(index);
    } else if (const auto found = reshaped_.find(index); found != reshaped_.end()) {
      of_dimension = found->second;
    } else {
      return std::nullopt;
    }
  }
  return loops;
}

std::vector<int64_t> LoopTable::RowOf(const IndexMap& map) const {
  std::vector<int64_t> row;
  for (const int32_t loop : map) row.push_back(IsLoop(loop) ? times_[static_cast<size_t>(loop)] : 0);
  return row;
}

IndexMap LoopTable::Append(const IndexMap& map, llvm::ArrayRef<int64_t> dims) {
  int64_t times = TimesOf(map);
  IndexMap loops;
  for (const int64_t extent : dims) {
    if (extent == 1) {
      loops.push_back(kNoLoop);
      continue;
    }
    times = llvm::SaturatingMultiply<uint64_t>(static_cast<uint64_t>(times), static_cast<uint64_t>(extent));
    times = std::min<int64_t>(times, kMostTimes);
    loops.push_back(AddLoop(map, times));
  }
  return loops;
}

int32_t LoopTable::Derived(int32_t loop) {
  return AddLoop({loop}, IsLoop(loop) ? times_[static_cast<size_t>(loop)] : 1);
}

IndexMap LoopTable::Mixed(const IndexMap& map, const Shape& shape) {
  IndexMap result(static_cast<size_t>(shape.rank()), kNoLoop);
  const int64_t times = TimesOf(map);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.dim(d) == 1) continue;
    result[static_cast<size_t>(d)] = AddLoop(map, times);
  }
  return result;
}

IndexMap LoopTable::Same(const Instruction& user, int64_t k, const IndexMap& map) {
  return user.operand(k)->shape().rank() == 0 ? IndexMap{} : map;
}

IndexMap LoopTable::Anywhere(const Instruction& user, int64_t k, const IndexMap& map) {
  return Mixed(map, user.operand(k)->shape());
}

/// Narrower elements are read or written along a dimension of their own.
IndexMap LoopTable::Bitcast(const Instruction& user, int64_t, const IndexMap& map) {
  const Shape& from = user.operand(0)->shape();
  if (from.rank() == user.shape().rank()) return map;
  if (from.rank() < user.shape().rank()) return IndexMap(map.begin(), map.end() - 1);
  IndexMap result = map;
  llvm::append_range(result, Append(map, {from.dims().back()}));
  return result;
}

IndexMap LoopTable::Broadcast(const Instruction& user, int64_t, const IndexMap& map) {
  IndexMap result;
  const Shape& shape = user.operand(0)->shape();
  const Dims& dims = user.attr<DimensionsAttrs>().dimensions;
  for (size_t i = 0; i < dims.size(); ++i)
    result.push_back(shape.dim(static_cast<int64_t>(i)) == 1 ? kNoLoop : map[static_cast<size_t>(dims[i])]);
  return result;
}

IndexMap LoopTable::Transpose(const Instruction& user, int64_t, const IndexMap& map) {
  const Dims& permutation = user.attr<DimensionsAttrs>().dimensions;
  IndexMap result(map.size(), kNoLoop);
  for (size_t i = 0; i < map.size(); ++i) result[static_cast<size_t>(permutation[i])] = map[i];
  return result;
}

IndexMap LoopTable::Reshape(const Instruction& user, int64_t, const IndexMap& map) {
  const Shape& from = user.operand(0)->shape();
  IndexMap result(static_cast<size_t>(from.rank()), kNoLoop);
  for (const ReshapeGroup& group : ReshapeGroups(from.dims(), user.shape().dims())) {
    if (group.IsOneToOne()) {
      result[static_cast<size_t>(group.from_begin)] = map[static_cast<size_t>(group.to_begin)];
      continue;
    }
    IndexMap part(map.begin() + group.to_begin, map.begin() + group.to_end);
    const int64_t times = TimesOf(part);
    IndexMap of_nest;
    const auto loops = NestLoops(part);
    for (const IndexMap& of_one : loops.value_or(std::vector<IndexMap>()))
      for (const int32_t loop : of_one)
        if (!llvm::is_contained(of_nest, loop)) of_nest.push_back(loop);
    for (int64_t d = group.from_begin; d < group.from_end; ++d) {
      if (from.dim(d) == 1) continue;
      const int32_t loop = AddLoop(part, times);
      result[static_cast<size_t>(d)] = loop;
      if (loops) reshaped_[loop] = of_nest;
    }
  }
  return result;
}

/// Slices, pads, concatenations, reversals: dimensions that stay whole keep their loops.
IndexMap LoopTable::Shifted(const Instruction& user, int64_t k, const IndexMap& map) {
  const Shape& from = user.operand(k)->shape();
  if (from.rank() != user.shape().rank()) return Mixed(map, from);  // scalars: start indices, padding values
  IndexMap result;
  for (int64_t d = 0; d < from.rank(); ++d) {
    const bool whole = from.dim(d) == user.shape().dim(d) && user.kind() != OpKind::Reverse;
    const int32_t index = map[static_cast<size_t>(d)];
    if (from.dim(d) == 1)
      result.push_back(kNoLoop);
    else
      result.push_back(whole ? index : Derived(index));
  }
  return result;
}

/// A slice of a single place reads a single place, known beforehand.
IndexMap LoopTable::Sliced(const Instruction& user, int64_t k, const IndexMap& map) {
  IndexMap result = Shifted(user, k, map);
  for (size_t d = 0; d < map.size(); ++d) {
    const SliceRange& slice = user.attr<SliceAttrs>().slice[d];
    if (!IsLoop(map[d])) result[d] = AtPosition(slice.start + PositionOf(map[d]) * slice.stride);
  }
  return result;
}

IndexMap LoopTable::Reduce(const Instruction& user, int64_t k, const IndexMap& map) {
  if (2 * k >= user.operand_count()) return {};
  if (k > 0) return OperandMap(user, 0, map);  // the same loops
  const Shape& from = user.operand(0)->shape();
  const Dims& reduced = user.attr<ReduceAttrs>().dimensions;
  Dims extents;
  for (int64_t d = 0; d < from.rank(); ++d)
    if (llvm::is_contained(reduced, d)) extents.push_back(from.dim(d));
  const IndexMap inner = Append(map, extents);
  IndexMap result;
  size_t kept = 0, next = 0;
  for (int64_t d = 0; d < from.rank(); ++d)
    result.push_back(llvm::is_contained(reduced, d) ? inner[next++] : map[kept++]);
  return result;
}

/// Windows and products read an operand's elements several times, scans once.
IndexMap LoopTable::Repeated(const Instruction& user, int64_t k, const IndexMap& map) {
  if (k == 0 && IsScanOfBlocks(user, *machine_)) return map;
  const int64_t per_element =
      std::max<int64_t>(CostPerElement(user, *machine_) / machine_->kernels.ops.plain.operations, 2);
  return Mixed(Append(map, {per_element}), user.operand(k)->shape());
}

/// The root's nest does not go over its result but over what is written into it.
IndexMap LoopTable::Own(const Instruction& user, int64_t k, const IndexMap& map) {
  const Shape& shape = user.operand(k)->shape();
  if (user.kind() == OpKind::DynamicUpdateSlice && k == 1) return nest_;
  if (user.kind() == OpKind::Scatter) {
    const int64_t least = std::exchange(least_times_, 1);
    const IndexMap loops = Append({}, shape.dims());
    for (const int32_t loop : loops)
      if (IsLoop(loop)) in_nest_[static_cast<size_t>(loop)] = true;
    // Threads make all of an update by themselves, whatever others have made.
    least_times_ = least;
    if (machine_->gpu.block > 0) least_times_ = std::max(least, TimesOf(loops));
    return loops;
  }
  return Mixed(map, shape);
}

LoopTable::MapOf LoopTable::FindRule(OpKind kind) {
  struct Row {
    OpKind kind;
    MapOf rule;
  };
  static constexpr Row kRows[] = {
      {OpKind::Broadcast, &LoopTable::Broadcast}, {OpKind::Transpose, &LoopTable::Transpose},
      {OpKind::Reshape, &LoopTable::Reshape},     {OpKind::Slice, &LoopTable::Sliced},
      {OpKind::Reverse, &LoopTable::Shifted},     {OpKind::Pad, &LoopTable::Shifted},
      {OpKind::Concatenate, &LoopTable::Shifted}, {OpKind::DynamicSlice, &LoopTable::Shifted},
      {OpKind::Reduce, &LoopTable::Reduce},       {OpKind::ReduceWindow, &LoopTable::Repeated},
      {OpKind::Dot, &LoopTable::Repeated},        {OpKind::Convolution, &LoopTable::Repeated},
      {OpKind::Gather, &LoopTable::Anywhere},     {OpKind::DynamicUpdateSlice, &LoopTable::Own},
      {OpKind::Scatter, &LoopTable::Own},         {OpKind::BitcastConvert, &LoopTable::Bitcast},
  };
  for (const Row& row : kRows)
    if (row.kind == kind) return row.rule;
  return &LoopTable::Same;
}

const IndexMap& LoopTable::OperandMap(const Instruction& user, int64_t k, const IndexMap& map) {
  const std::tuple key(&user, k, map);
  if (const auto it = known_.find(key); it != known_.end()) return it->second;
  IndexMap result = (this->*FindRule(user.kind()))(user, k, map);
  return known_.emplace(key, std::move(result)).first->second;
}

}  // namespace hlo::compile
