#include "passes/analysis/dataflow.h"

#include <algorithm>
#include <cassert>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "passes/analysis/dataflow_builder.h"

namespace hlo {

/// Places for all parts of a shape, in depth-first order.
Place DataflowBuilder::AddTree(const Instruction& inst) {
  struct Part {
    const Shape* shape;
    Place parent;
    int32_t ordinal;
  };
  auto& nodes = flow_.nodes_;
  const auto whole = static_cast<Place>(nodes.size());
  llvm::SmallVector<Part, 8> todo = {{&inst.shape(), kNoPlace, 0}};
  while (!todo.empty()) {
    const Part part = todo.pop_back_val();
    const Place place = AddPlace(inst, *part.shape);
    Dataflow::PlaceNode& node = nodes.back();
    if (part.parent != kNoPlace) {
      node.parent = part.parent;
      node.ordinal = part.ordinal;
      node.depth = flow_.Node(part.parent).depth + 1;
      flow_.children_[static_cast<size_t>(flow_.Node(part.parent).first_child + part.ordinal)] = place;
    }
    if (!part.shape->IsTuple()) continue;
    for (auto i = static_cast<int32_t>(part.shape->tuple_size()); i-- > 0;)
      todo.push_back({&part.shape->tuple_shape(i), place, i});
  }
  for (auto place = static_cast<Place>(nodes.size()); --place > whole;)
    nodes[static_cast<size_t>(flow_.Node(place).parent)].parts += flow_.Node(place).parts;
  return whole;
}

/// A place without parent, and, for a tuple, without children yet.
Place DataflowBuilder::AddPlace(const Instruction& inst, const Shape& shape) {
  const auto place = static_cast<Place>(flow_.nodes_.size());
  const auto first_child = static_cast<int32_t>(flow_.children_.size());
  flow_.nodes_.push_back({&inst, &shape, 1, kNoPlace, first_child, 0, 0});
  if (shape.IsTuple())
    flow_.children_.resize(flow_.children_.size() + static_cast<size_t>(shape.tuple_size()));
  return place;
}

/// A table above what the operands give.
Place DataflowBuilder::AddTable(const Instruction& inst) {
  const Place place = AddPlace(inst, inst.shape());
  Dataflow::PlaceNode& node = flow_.nodes_.back();
  for (int64_t i = 0; i < inst.operand_count(); ++i) {
    const Place child = flow_.Of(*inst.operand(i));
    flow_.children_[static_cast<size_t>(node.first_child + i)] = child;
    if (llvm::AddOverflow(node.parts, flow_.PartCount(child), node.parts)) node.parts = INT64_MAX;
  }
  return place;
}

/// Where the instruction only names what is elsewhere, that place.
Place DataflowBuilder::Named(const Instruction& inst) const {
  if (inst.operand_count() == 0) return kNoPlace;
  const Place operand = flow_.Of(*inst.operand(0));
  if (inst.kind() == OpKind::GetTupleElement) {
    const int64_t index = inst.attr<GetTupleElementAttrs>().index;
    return !IsLeaf(operand) && index >= 0 && index < flow_.shape(operand).tuple_size()
               ? flow_.Child(operand, index)
               : kNoPlace;
  }
  const bool same = inst.shape().IsTuple() && inst.shape() == inst.operand(0)->shape() &&
                    RuleOf(inst.kind()) == &DataflowBuilder::HoldOperand;
  return same ? operand : kNoPlace;
}

void DataflowBuilder::AddPlaces(const Instruction& inst) {
  const auto begin = static_cast<Place>(flow_.nodes_.size());
  Place whole = Named(inst);
  if (whole == kNoPlace) {
    const bool table = inst.kind() == OpKind::Tuple && inst.shape().tuple_size() == inst.operand_count();
    whole = table ? AddTable(inst) : AddTree(inst);
  }
  flow_.places_[&inst] = {whole, begin, static_cast<Place>(flow_.nodes_.size())};
}

bool DataflowBuilder::SameTree(Place a, Place b) const {
  if (a == kNoPlace || b == kNoPlace) return false;
  llvm::SmallVector<std::pair<Place, Place>, 8> todo = {{a, b}};
  while (!todo.empty()) {
    const auto [x, y] = todo.pop_back_val();
    if (x == y) continue;
    if (IsLeaf(x) != IsLeaf(y) || flow_.PartCount(x) != flow_.PartCount(y)) return false;
    if (IsLeaf(x)) continue;
    if (flow_.shape(x).tuple_size() != flow_.shape(y).tuple_size()) return false;
    for (int64_t i = 0; i < flow_.shape(x).tuple_size(); ++i)
      todo.push_back({flow_.Child(x, i), flow_.Child(y, i)});
  }
  return true;
}

Place DataflowBuilder::Find(std::vector<Place>& forest, Place p) const {
  while (forest[static_cast<size_t>(p)] != p) {
    Place& up = forest[static_cast<size_t>(p)];
    up = forest[static_cast<size_t>(up)];
    p = up;
  }
  return p;
}

void DataflowBuilder::Forward(Place from, Place to) {
  if (from == to || !SameTree(from, to)) return;
  const std::vector<Place> sources = flow_.Parts(from), parts = flow_.Parts(to);
  for (const auto [source, part] : llvm::zip_equal(sources, parts)) {
    const Place value = Value(source);
    // A value that is merged into itself stays its own.
    if (value != part && flow_.value_[static_cast<size_t>(part)] == part)
      flow_.value_[static_cast<size_t>(part)] = value;
  }
}

void DataflowBuilder::ApplyMerges() {
  for (const auto& [a, b] : merges_) {
    const Place x = Find(flow_.buffer_, Value(a)), y = Find(flow_.buffer_, Value(b));
    if (x != y) flow_.buffer_[static_cast<size_t>(std::max(x, y))] = std::min(x, y);
  }
}

void DataflowBuilder::MergeLeaves(Place a, Place b) {
  if (!SameTree(a, b)) return;
  const std::vector<Place> from = flow_.Parts(a), to = flow_.Parts(b);
  for (const auto [x, y] : llvm::zip_equal(from, to))
    if (IsLeaf(x)) Merge(x, y);
}

// --- Uses ---
void DataflowBuilder::AddUses(const Instruction& inst, std::vector<std::pair<Place, Use>>& uses) {
  // Operations that only pass values on read nothing of them.
  if (inst.kind() == OpKind::Tuple || inst.kind() == OpKind::Bitcast || inst.kind() == OpKind::Domain ||
      inst.kind() == OpKind::OptimizationBarrier)
    return;
  for (int64_t i = 0; i < inst.operand_count(); ++i) {
    if (inst.kind() == OpKind::AddDependency && i == 0) continue;
    const Place whole = flow_.Of(*inst.operand(i));
    if (inst.kind() == OpKind::GetTupleElement || IsLeaf(whole)) {
      uses.push_back({Value(whole), {&inst, i, 0, inst.parent()}});
      continue;
    }
    for (const auto& [part, p] : llvm::enumerate(flow_.Parts(whole)))
      uses.push_back({Value(p), {&inst, i, static_cast<int64_t>(part), inst.parent()}});
  }
}

/// What an asynchronous computation defines may be in use until its done.
void DataflowBuilder::AddAsyncUses(std::vector<std::pair<Place, Use>>& uses) {
  llvm::DenseMap<const Computation*, const Instruction*> done;
  for (const Computation* computation : llvm::reverse(flow_.computations_)) {
    const CallSite* site = flow_.calls_.OnlySite(*computation);
    if (!site) continue;
    const Instruction* end = site->caller->kind() == OpKind::AsyncStart ? Dataflow::DoneOf(*site->caller)
                                                                        : done.lookup(site->caller->parent());
    if (!end) continue;
    done[computation] = end;
    for (const Instruction* inst : computation->instructions())
      for (const Place p : flow_.Own(*inst))
        if (Value(p) == p) uses.push_back({p, {end, -1, -1, end->parent()}});
  }
}

void DataflowBuilder::CollectUses() {
  std::vector<std::pair<Place, Use>> uses;
  const auto until_end = [&](const Instruction& inst) {
    for (const Place p : flow_.Parts(flow_.Of(inst)))
      uses.push_back({Value(p), {nullptr, -1, -1, inst.parent()}});
  };
  for (const Computation* computation : flow_.computations_) {
    for (const Instruction* inst : computation->instructions()) AddUses(*inst, uses);
    until_end(*computation->root());
    // What a condition is given goes on to the body.
    for (const CallSite& site : flow_.calls_.Of(*computation).sites)
      if (site.caller->kind() == OpKind::While && site.callee == 1)
        for (const Instruction* parameter : computation->parameters()) until_end(*parameter);
  }
  AddAsyncUses(uses);
  std::vector<size_t>& begin = flow_.use_begin_;
  begin.assign(flow_.nodes_.size() + 1, 0);
  for (const auto& [value, use] : uses) ++begin[static_cast<size_t>(value) + 1];
  for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  flow_.uses_.resize(uses.size());
  std::vector<size_t> next(begin.begin(), begin.end() - 1);
  for (const auto& [value, use] : uses) flow_.uses_[next[static_cast<size_t>(value)]++] = use;
}

/// Parameters and results that the module declares to be one buffer.
void DataflowBuilder::AliasEntry() {
  const Computation* entry = flow_.module_.entry();
  if (!entry) return;
  for (const InputOutputAlias& alias : flow_.module_.config.input_output_alias) {
    if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(entry->parameters().size())) continue;
    const Place in = flow_.Of(*entry->parameter(alias.parameter), alias.parameter_index);
    const Place out = flow_.Of(*entry->root(), alias.output);
    if (in != kNoPlace && out != kNoPlace && IsLeaf(in) && IsLeaf(out)) Merge(in, out);
  }
}

void DataflowBuilder::Finish() {
  for (Place p = 0; p < static_cast<Place>(flow_.nodes_.size()); ++p)
    flow_.value_[static_cast<size_t>(p)] = Value(p);
  for (Place p = 0; p < static_cast<Place>(flow_.nodes_.size()); ++p)
    flow_.buffer_[static_cast<size_t>(p)] = Find(flow_.buffer_, p);
  const Computation* entry = flow_.module_.entry();
  for (const InputOutputAlias& alias : flow_.module_.config.input_output_alias)
    if (alias.parameter < static_cast<int64_t>(entry->parameters().size()))
      flow_.aliased_inputs_.insert(flow_.Of(*entry->parameter(alias.parameter), alias.parameter_index));
}

void DataflowBuilder::Build() {
  for (const CallGraph::Node& node : flow_.calls_.nodes())
    if (flow_.calls_.IsSequential(*node.computation)) flow_.computations_.push_back(node.computation);
  std::vector<std::vector<Instruction*>> orders;
  for (const Computation* computation : flow_.computations_) {
    orders.push_back(computation->PostOrder());
    for (const Instruction* inst : orders.back()) AddPlaces(*inst);
  }
  flow_.value_.resize(flow_.nodes_.size());
  for (size_t i = 0; i < flow_.nodes_.size(); ++i) flow_.value_[i] = static_cast<Place>(i);
  flow_.buffer_ = flow_.value_;
  // Values first: which buffers merge depends on them.
  for (const auto& order : orders)
    for (const Instruction* inst : order)
      if (const Rule rule = RuleOf(inst->kind())) (this->*rule)(*inst, flow_.Of(*inst));
  for (const auto& order : orders) {
    for (const Instruction* inst : order) {
      for (const OutputOperandAlias& pair : InPlacePairs(*inst)) {
        const Place in = flow_.Of(*inst->operand(pair.operand), pair.operand_index);
        const Place out = flow_.Of(*inst, pair.output);
        if (in != kNoPlace && out != kNoPlace) MergeLeaves(in, out);
      }
    }
  }
  AliasEntry();
  ApplyMerges();
  Finish();
  CountParts();
  CollectUses();
}

void DataflowBuilder::CountParts() {
  flow_.parts_before_.resize(flow_.children_.size());
  for (const Dataflow::PlaceNode& node : flow_.nodes_) {
    int64_t parts = 0;
    for (int64_t i = 0; node.shape->IsTuple() && i < node.shape->tuple_size(); ++i) {
      const auto child = static_cast<size_t>(node.first_child + i);
      flow_.parts_before_[child] = parts;
      if (llvm::AddOverflow(parts, flow_.PartCount(flow_.children_[child]), parts)) parts = INT64_MAX;
    }
  }
}

Dataflow::Dataflow(const Module& module, const CallGraph& calls) : module_(module), calls_(calls) {
  DataflowBuilder(*this).Build();
}

Place Dataflow::Part(Place place, llvm::ArrayRef<int64_t> index) const {
  for (const int64_t i : index) {
    if (place == kNoPlace || !shape(place).IsTuple() || i < 0 || i >= shape(place).tuple_size())
      return kNoPlace;
    place = Child(place, i);
  }
  return place;
}

std::vector<Place> Dataflow::Parts(Place place) const {
  std::vector<Place> parts;
  llvm::SmallVector<Place, 8> todo = {place};
  while (!todo.empty()) {
    const Place at = todo.pop_back_val();
    parts.push_back(at);
    if (!shape(at).IsTuple()) continue;
    for (int64_t i = shape(at).tuple_size(); i-- > 0;) todo.push_back(Child(at, i));
  }
  return parts;
}

ShapeIndex Dataflow::IndexOfPart(Place place, int64_t part) const {
  ShapeIndex index;
  while (part > 0) {
    --part;
    const llvm::ArrayRef<int64_t> before = PartsBeforeChildren(place);
    const int64_t i =
        llvm::partition_point(before, [&](int64_t b) { return b <= part; }) - before.begin() - 1;
    part -= before[static_cast<size_t>(i)];
    index.push_back(i);
    place = Child(place, i);
  }
  return index;
}

int64_t Dataflow::PartAt(Place place, llvm::ArrayRef<int64_t> index) const {
  if (Part(place, index) == kNoPlace) return -1;
  int64_t part = 0;
  for (const int64_t i : index) {
    part += 1 + PartsBeforeChildren(place)[static_cast<size_t>(i)];
    place = Child(place, i);
  }
  return part;
}

ShapeIndex Dataflow::IndexOf(Place place) const {
  ShapeIndex index;
  for (; Node(place).parent != kNoPlace; place = Node(place).parent) index.push_back(Node(place).ordinal);
  std::reverse(index.begin(), index.end());
  return index;
}

std::string Dataflow::Name(Place place) const {
  const ShapeIndex index = IndexOf(place);
  return "%" + instruction(place).name().str() + (index.empty() ? "" : ToString(index));
}

const Instruction* Dataflow::DoneOf(const Instruction& start) {
  const Instruction* at = &start;
  while (at && !at->info().Is(kDone)) {
    const Instruction* next = nullptr;
    for (const Instruction* user : at->users())
      if (user->kind() == OpKind::AsyncUpdate || user->info().Is(kDone)) next = user;
    at = next;
  }
  return at;
}

}  // namespace hlo
