// Loops of nests, and where they are cut.
#include <numeric>

#include "backends/kernel/lowering.h"

namespace hlo::kernel {
namespace {

/// Parts of one nest beyond which there are none.
constexpr int64_t kMostParts = 32;

int64_t Product(llvm::ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace

Address Lowering::MakeLoops(NestDimension dimension, int64_t extent, llvm::SmallVectorImpl<LoopId>& loops,
                            bool always) {
  Address index;
  if (extent == 1 && !always) return index;
  const auto split = plan_.splits.find(dimension);
  llvm::SmallVector<int64_t, 2> parts = {extent};
  if (split != plan_.splits.end()) {
    const auto& wanted = split->second;
    // Parts of a nest that leave out operands may number the nests below otherwise.
    if (Product(wanted) == extent)
      parts = wanted;
    else
      divides_cut_ = true;
  }
  int64_t factor = 1;
  llvm::SmallVector<LoopId, 2> made;
  for (size_t p = parts.size(); p-- > 0;) {
    const LoopId loop = builder_.NewLoop(parts[p]);
    origins_.push_back({dimension, p});
    index.AddLoop(loop, factor);
    factor *= parts[p];
    made.push_back(loop);
  }
  loops.append(made.rbegin(), made.rend());
  return index;
}

Status Lowering::InLoops(llvm::ArrayRef<int64_t> dims, llvm::function_ref<Status(const Indices&)> body,
                         bool ordered) {
  const int number = nests_++;
  if (!ordered) nest_dims_[number].assign(dims.begin(), dims.end());
  Indices at;
  return InDimension({number, dims, body, ordered}, at);
}

Status Lowering::InDimension(const Nest& nest, Indices& at) {
  const size_t d = at.size();
  if (d == nest.dims.size()) return nest.body(at);
  const NestDimension dimension(nest.number, static_cast<int64_t>(d));
  const auto cuts = plan_.cuts.find(dimension);
  llvm::SmallVector<int64_t, 4> ends;
  if (cuts != plan_.cuts.end() && *cuts->second.rbegin() < nest.dims[d])
    ends.append(cuts->second.begin(), cuts->second.end());
  ends.push_back(nest.dims[d]);
  const int inner = nests_;
  const bool shared = d == 0 && ends.size() > 1 && Product(nest.dims) >= target_.threads.shared_nest;
  int64_t begin = 0;
  for (const int64_t end : ends) {
    nests_ = inner;  // nests below have the same numbers in each part
    // Outermost loops of one iteration count like those beside them where pieces are cut. Small nests have
    // none, and share what they compute.
    llvm::SmallVector<LoopId, 2> loops;
    at.push_back(MakeLoops(dimension, end - begin, loops, shared));
    at.back().offset = begin;
    std::vector<std::unique_ptr<Region>> regions;
    for (const LoopId loop : loops) {
      regions.push_back(std::make_unique<Region>());
      builder_.Open(*regions.back(), loop);
      memo_.emplace_back();
    }
    HLO_CHECK_OK(InDimension(nest, at));
    for (size_t l = loops.size(); l-- > 0;) {
      builder_.Close();
      memo_.pop_back();
      Dimension loop{loops[l], builder_.Extent(loops[l])};
      loop.ordered = nest.ordered;
      builder_.Append(LoopStmt{loop, std::move(regions[l])});
    }
    at.pop_back();
    begin = end;
  }
  return {};
}

Status Lowering::InLoop(Dimension loop, llvm::function_ref<Status(const Address&)> body) {
  loop.id = builder_.NewLoop(loop.extent);
  origins_.push_back({NestDimension(nests_++, 0), 0});
  auto region = std::make_unique<Region>();
  builder_.Open(*region, loop.id);
  memo_.emplace_back();
  Address index;
  index.AddLoop(loop.id, 1);
  HLO_CHECK_OK(body(index));
  builder_.Close();
  memo_.pop_back();
  builder_.Append(LoopStmt{loop, std::move(region)});
  return {};
}

ValueId Lowering::LoadHere(BufferId buffer, const Address& address, ValueId mask) {
  const ElementType type = lowered_.kernel.buffers[static_cast<size_t>(buffer)].type;
  const ValueId otherwise = mask < 0 ? -1 : ZeroOf(type), result = builder_.NewValue(type);
  builder_.Append(LoadStmt{result, buffer, address, mask, otherwise});
  return result;
}

void Lowering::WantCuts(const Address& address, int64_t low, int64_t high) {
  if (!address.values.empty()) return;
  if (address.loops.size() > 1) return WantWindowCuts(address, low, high);
  if (address.loops.empty()) return;
  const auto [loop, factor] = address.loops[0];
  const NestDimension dimension = origins_[static_cast<size_t>(loop)].dimension;
  if (plan_.splits.contains(dimension)) return;
  if (short_reductions_.contains(dimension)) wanted_written_out_.insert(dimension);
  if (!nest_dims_.contains(dimension.first)) return;
  if (factor != 1 && factor != -1) return;
  for (const int64_t bound : {low, high}) {
    // The first iteration on the other side of the bound.
    const int64_t at = factor > 0 ? bound - address.offset : address.offset - bound + 1;
    if (at > 0 && at < builder_.Extent(loop)) wanted_cuts_[dimension].insert(at);
  }
}

void Lowering::WantWindowCuts(const Address& address, int64_t low, int64_t high) {
  const Address::Term<LoopId>* along = nullptr;
  int64_t first = address.offset, last = address.offset;  // of the window at iteration 0
  for (const auto& term : address.loops) {
    const NestDimension dimension = origins_[static_cast<size_t>(term.id)].dimension;
    if (plan_.splits.contains(dimension)) return;
    if (const auto nest = nest_dims_.find(dimension.first); nest != nest_dims_.end()) {
      // Other dimensions have one mask for all lanes.
      if (along != nullptr || term.factor <= 0 ||
          dimension.second + 1 != static_cast<int64_t>(nest->second.size()))
        return;
      along = &term;
    } else {
      const int64_t most = term.factor * (builder_.Extent(term.id) - 1);
      (most < 0 ? first : last) += most;
    }
  }
  if (along == nullptr) return;
  const auto& dimension = origins_[static_cast<size_t>(along->id)].dimension;
  // The first iterations whose window begins within the bounds, and ends beyond them.
  for (const int64_t distance : {low - first, high - last}) {
    const int64_t at = distance <= 0 ? 0 : (distance + along->factor - 1) / along->factor;
    if (at > 0 && at < builder_.Extent(along->id)) wanted_cuts_[dimension].insert(at);
  }
}

std::map<NestDimension, std::set<int64_t>> Lowering::WorthyCuts() const {
  std::map<NestDimension, std::set<int64_t>> worthy;
  std::map<int, int64_t> parts;  // by nest
  for (const auto& [dimension, cuts] : wanted_cuts_) {
    const auto& dims = nest_dims_.at(dimension.first);
    const auto count = static_cast<int64_t>(cuts.size()) + 1;
    const bool innermost =
        llvm::all_of(llvm::drop_begin(dims, dimension.second + 1), [](int64_t size) { return size == 1; });
    const int64_t size = dims[static_cast<size_t>(dimension.second)];
    // Short parts (on average) stay one loop with masks, which fill vectors better; but for nests too small
    // for vectors, and for dimensions that vanish as a loop.
    if (innermost && size < count * target_.vectors.least_part && size != count &&
        Product(dims) > target_.code.masked_nest)
      continue;
    // Where loops are bound to threads, parts within others would have a thread go through all of them,
    // across memory. Outermost ones become blocks side by side.
    const bool outermost =
        llvm::all_of(llvm::ArrayRef(dims).take_front(static_cast<size_t>(dimension.second)),
                     [](int64_t size) { return size == 1; });
    if (target_.blocks.lanes > 0 && !outermost && !(innermost && size == count)) continue;
    int64_t& of_nest = parts.try_emplace(dimension.first, 1).first->second;
    of_nest *= count;
    if (of_nest > kMostParts) return {};
    worthy[dimension] = cuts;
  }
  return worthy;
}

}  // namespace hlo::kernel
