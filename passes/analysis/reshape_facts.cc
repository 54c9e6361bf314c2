#include "passes/analysis/reshape_facts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace hlo {
namespace {

/// Sizes by physical place, major first.
Dims MajorToMinor(const Shape& shape) {
  const Dims& minor_to_major = shape.layout().minor_to_major;
  return {minor_to_major.rbegin(), minor_to_major.rend()};
}

/// Layout properties allow to compare places element by element.
bool IsPlain(const Shape& shape) {
  if (!shape.IsArray() || !shape.has_layout() || shape.HasDynamicDimension()) return false;
  const Layout& layout = shape.layout();
  return layout.tiles.empty() && layout.tail_padding_alignment == 1 && layout.split_configs.empty() &&
         layout.dynamic_shape_metadata_prefix_bytes == 0;
}

/// Both plain, with elements of one width, in one memory space.
bool Comparable(const Shape& from, const Shape& to) {
  return IsPlain(from) && IsPlain(to) && from.ElementCount() == to.ElementCount() &&
         Info(from.element_type()).bits == Info(to.element_type()).bits &&
         from.layout().element_size_bits == to.layout().element_size_bits &&
         from.layout().memory_space == to.layout().memory_space;
}

/// `dims` with a physical order and the other properties of `like`.
Shape WithMajorToMinor(const Shape& like, llvm::ArrayRef<int64_t> dims,
                       llvm::ArrayRef<int64_t> major_to_minor) {
  Layout layout = like.layout();
  layout.minor_to_major.assign(major_to_minor.rbegin(), major_to_minor.rend());
  return Shape::Array(like.element_type(), dims).WithLayout(std::move(layout));
}

/// Equal physical orders, dimensions of size 1 left out.
bool SameOrder(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b, llvm::ArrayRef<int64_t> dims) {
  auto counts = [&](int64_t d) { return dims[static_cast<size_t>(d)] != 1; };
  return llvm::equal(llvm::make_filter_range(a, counts), llvm::make_filter_range(b, counts));
}

}  // namespace

bool IsIdentityPermutation(llvm::ArrayRef<int64_t> p) {
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] != static_cast<int64_t>(i)) return false;
  return true;
}

Dims InversePermutation(llvm::ArrayRef<int64_t> p) {
  Dims inverse(p.size());
  for (size_t i = 0; i < p.size(); ++i) inverse[static_cast<size_t>(p[i])] = static_cast<int64_t>(i);
  return inverse;
}

Dims Permuted(llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> p) {
  Dims permuted;
  for (const int64_t i : p) permuted.push_back(values[static_cast<size_t>(i)]);
  return permuted;
}

Dims ComposePermutations(llvm::ArrayRef<int64_t> first, llvm::ArrayRef<int64_t> second) {
  return Permuted(first, second);
}

bool MovesOnlySizeOne(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> p) {
  int64_t last = -1;
  for (const int64_t d : p) {
    if (dims[static_cast<size_t>(d)] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

llvm::SmallVector<ReshapeGroup, 6> ReshapeGroups(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  const auto from_rank = static_cast<int64_t>(from.size()), to_rank = static_cast<int64_t>(to.size());
  if (llvm::is_contained(from, 0)) return {{0, from_rank, 0, to_rank}};
  auto from_size = [&](int64_t i) { return from[static_cast<size_t>(i)]; };
  auto to_size = [&](int64_t j) { return to[static_cast<size_t>(j)]; };
  llvm::SmallVector<ReshapeGroup, 6> groups;
  int64_t i = 0, j = 0;
  while (i < from_rank || j < to_rank) {
    const ReshapeGroup start = {i, i, j, j};
    const bool from_one = i < from_rank && from_size(i) == 1, to_one = j < to_rank && to_size(j) == 1;
    if (from_one || to_one) {
      i += from_one;
      j += to_one;
    } else {
      int64_t from_product = from_size(i++), to_product = to_size(j++);
      while (from_product != to_product) {
        if (from_product < to_product)
          from_product *= from_size(i++);
        else
          to_product *= to_size(j++);
      }
    }
    groups.push_back({start.from_begin, i, start.to_begin, j});
  }
  return groups;
}

Dims UnmodifiedTargets(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  Dims targets(from.size(), -1);
  for (const ReshapeGroup& group : ReshapeGroups(from, to))
    if (group.IsOneToOne() && from[static_cast<size_t>(group.from_begin)] != 0)
      targets[static_cast<size_t>(group.from_begin)] = group.to_begin;
  return targets;
}

std::optional<DegenerateReshape> AsDegenerateReshape(llvm::ArrayRef<int64_t> from,
                                                     llvm::ArrayRef<int64_t> to) {
  if (WithoutSizeOne(from) != WithoutSizeOne(to)) return std::nullopt;
  DegenerateReshape result;
  if (llvm::is_contained(from, 0)) {
    // The groups say nothing here; dimensions of size 1 pair up in order.
    for (size_t i = 0, j = 0; i < from.size() || j < to.size();) {
      const bool from_one = i < from.size() && from[i] == 1, to_one = j < to.size() && to[j] == 1;
      if (from_one && !to_one) result.deleted.push_back(static_cast<int64_t>(i));
      if (to_one && !from_one) result.inserted.push_back(static_cast<int64_t>(j));
      i += from_one || !to_one;
      j += to_one || !from_one;
    }
    return result;
  }
  for (const ReshapeGroup& group : ReshapeGroups(from, to)) {
    if (group.to_begin == group.to_end) result.deleted.push_back(group.from_begin);
    if (group.from_begin == group.from_end) result.inserted.push_back(group.to_begin);
  }
  return result;
}

Dims WithoutSizeOne(llvm::ArrayRef<int64_t> dims) {
  Dims rest;
  for (const int64_t size : dims)
    if (size != 1) rest.push_back(size);
  return rest;
}

std::optional<Shape> BitcastReshapeShape(const Shape& from, llvm::ArrayRef<int64_t> to) {
  if (!IsPlain(from)) return std::nullopt;
  if (from.ElementCount() == 0)
    return WithMajorToMinor(from, to,
                            llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(to.size()))));
  const Dims order = MajorToMinor(from);
  const Dims place = InversePermutation(order);
  // The groups by the place of their first dimension that counts; each must lie together, in order.
  llvm::SmallVector<std::pair<int64_t, ReshapeGroup>, 6> placed;
  int64_t last_place = 0;
  for (const ReshapeGroup& group : ReshapeGroups(from.dims(), to)) {
    llvm::SmallVector<int64_t, 4> places;
    for (int64_t d = group.from_begin; d < group.from_end; ++d)
      if (from.dim(d) != 1) places.push_back(place[static_cast<size_t>(d)]);
    for (size_t k = 1; k < places.size(); ++k) {
      if (places[k] < places[k - 1]) return std::nullopt;
      for (int64_t p = places[k - 1] + 1; p < places[k]; ++p)
        if (from.dim(order[static_cast<size_t>(p)]) != 1) return std::nullopt;
    }
    // Dimensions of size 1 follow what stands before them.
    if (!places.empty()) last_place = places.front();
    placed.emplace_back(last_place, group);
  }
  llvm::sort(placed, [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second.to_begin) < std::pair(b.first, b.second.to_begin);
  });
  Dims major_to_minor;
  for (const auto& [unused, group] : placed)
    for (int64_t d = group.to_begin; d < group.to_end; ++d) major_to_minor.push_back(d);
  return WithMajorToMinor(from, to, major_to_minor);
}

bool ReshapeIsBitcast(const Shape& from, const Shape& to) {
  if (!Comparable(from, to)) return false;
  if (from.ElementCount() <= 1) return true;
  const std::optional<Shape> wanted = BitcastReshapeShape(from, to.dims());
  return wanted && SameOrder(MajorToMinor(*wanted), MajorToMinor(to), to.dims());
}

Shape BitcastTransposeShape(const Shape& from, llvm::ArrayRef<int64_t> permutation) {
  const Dims inverse = InversePermutation(permutation);
  return WithMajorToMinor(from, Permuted(from.dims(), permutation), Permuted(inverse, MajorToMinor(from)));
}

bool TransposeIsBitcast(const Shape& from, const Shape& to, llvm::ArrayRef<int64_t> permutation) {
  if (!Comparable(from, to)) return false;
  return SameOrder(MajorToMinor(BitcastTransposeShape(from, permutation)), MajorToMinor(to), to.dims());
}

std::optional<Dims> BitcastAsTranspose(const Shape& from, const Shape& to) {
  if (!Comparable(from, to) || from.rank() != to.rank()) return std::nullopt;
  const Dims from_order = MajorToMinor(from), to_order = MajorToMinor(to);
  if (Permuted(from.dims(), from_order) != Permuted(to.dims(), to_order)) return std::nullopt;
  return Permuted(from_order, InversePermutation(to_order));
}

}  // namespace hlo
