// Collectives between the simulated devices of a run (ops-structured §12).
#include "ir/eval/collective.h"

#include "ir/eval/device.h"
#include "ir/eval/elementwise.h"
#include "ir/eval/eval.h"
#include "ir/eval/fold.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo {
namespace {

using Values = std::vector<Literal>;
using Ranks = llvm::ArrayRef<size_t>;

/// Attribute `name` of the instruction's struct, or null.
template <class T>
const T* FieldNamed(const Instruction& inst, llvm::StringRef name) {
  for (const FieldInfo& field : inst.attrs().info().fields)
    if (field.name == name) return &field.Get<T>(inst.attrs().data());
  return nullptr;
}

/// All that source and target ids may name.
std::vector<int64_t> PermutedDevices(const Instruction& inst, const Device& self) {
  const bool cross_partition = inst.attr<CollectivePermuteAttrs>().channel_id.has_value();
  const int64_t count = cross_partition ? self.group().partitions() : self.group().replicas();
  std::vector<int64_t> devices;
  for (int64_t id = 0; id < count; ++id)
    devices.push_back(cross_partition ? self.replica() * count + id
                                      : id * self.group().partitions() + self.partition());
  return devices;
}

}  // namespace

Result<std::vector<int64_t>> CollectiveMembers(const Instruction& inst, const Device& self) {
  const int64_t replicas = self.group().replicas(), partitions = self.group().partitions();
  if (inst.kind() == OpKind::CollectivePermute || inst.kind() == OpKind::CollectivePermuteStart)
    return PermutedDevices(inst, self);
  const auto* channel = FieldNamed<std::optional<int64_t>>(inst, "channel_id");
  const auto* global_ids = FieldNamed<bool>(inst, "use_global_device_ids");
  const bool has_channel = channel && *channel;
  const bool flattened = global_ids && *global_ids;
  const bool cross_partition = has_channel && !global_ids;
  const bool both = has_channel && global_ids && !flattened;

  const auto groups = Expand(*FieldNamed<ReplicaGroups>(inst, "replica_groups"));
  if (!groups)
    return Error("runtime-collective-mismatch", inst.loc(), "the replica groups cannot be expanded");
  const int64_t ids = flattened ? replicas * partitions : cross_partition ? partitions : replicas;
  const int64_t mine = flattened ? self.id() : cross_partition ? self.partition() : self.replica();
  Dims all;
  for (int64_t i = 0; i < ids; ++i) all.push_back(i);
  llvm::ArrayRef<int64_t> members = all;
  if (!groups->empty()) {
    const auto group = llvm::find_if(*groups, [&](const Dims& g) { return llvm::is_contained(g, mine); });
    if (group == groups->end()) return std::vector<int64_t>{};
    members = *group;
  }
  std::vector<int64_t> devices;
  for (int64_t id : members) {
    if (id < 0 || id >= ids)
      return Error("runtime-collective-mismatch", inst.loc(),
                   "replica group names id {0}, the run has {1} (replicas {2}, partitions {3})", id, ids,
                   replicas, partitions);
    if (flattened)
      devices.push_back(id);
    else if (cross_partition)
      devices.push_back(self.replica() * partitions + id);
    else if (both)
      for (int64_t p = 0; p < partitions; ++p) devices.push_back(id * partitions + p);
    else
      devices.push_back(id * partitions + self.partition());
  }
  return devices;
}

namespace {

/// The result in the form of inst.shape(): one array, a tuple, or (operands, results) of a start op.
Literal Wrap(const Instruction& inst, const Values& operands, Values results) {
  auto group = [](Values values, const Shape& as) {
    return as.IsTuple() ? Literal::MakeTuple(std::move(values)) : std::move(values[0]);
  };
  const Shape& shape = inst.shape();
  if (!inst.info().Is(kStart) || inst.kind() == OpKind::AllReduceStart)
    return group(std::move(results), shape);
  Values parts;
  parts.push_back(group(operands, shape.tuple_shape(0)));
  parts.push_back(group(std::move(results), shape.tuple_shape(1)));
  for (int64_t i = 2; i < shape.tuple_size(); ++i) parts.push_back(Literal::Zeros(shape.tuple_shape(i)));
  return Literal::MakeTuple(std::move(parts));
}

/// Shapes of the collective's results, one per operand.
std::vector<Shape> ResultShapes(const Instruction& inst) {
  const Shape* shape = &inst.shape();
  if (inst.info().Is(kStart) && inst.kind() != OpKind::AllReduceStart) shape = &shape->tuple_shape(1);
  if (!shape->IsTuple()) return {*shape};
  return {shape->tuple_shapes().begin(), shape->tuple_shapes().end()};
}

Values Take(llvm::MutableArrayRef<Literal> operands) {
  return {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())};
}

/// Meets `members`, this device's among all.
Result<Literal> CollectiveOf(EvalContext& context, const Instruction& inst, llvm::ArrayRef<int64_t> members,
                             llvm::MutableArrayRef<Literal> operands, DeviceGroup::Combine combine,
                             const Flow& flow) {
  Device& self = context.device();
  Values mine = Take(operands);
  Values kept = inst.info().Is(kStart) ? mine : Values{};
  if (members.empty())
    return Error("runtime-collective-mismatch", inst.loc(), "device {0} is in no replica group of %{1}",
                 self.id(), inst.name());
  HLO_TRY(Values results, self.group().Exchange(self, inst, members, std::move(mine), combine, flow));
  return Wrap(inst, kept, std::move(results));
}

Result<Literal> Collective(EvalContext& context, const Instruction& inst,
                           llvm::MutableArrayRef<Literal> operands, DeviceGroup::Combine combine,
                           const Flow& flow = {}) {
  HLO_TRY(const std::vector<int64_t> members, CollectiveMembers(inst, context.device()));
  return CollectiveOf(context, inst, members, operands, combine, flow);
}

}  // namespace

Result<Literal> EvalAllGather(EvalContext& context, const Instruction& inst,
                              llvm::MutableArrayRef<Literal> operands) {
  const int64_t dim = inst.attr<AllGatherAttrs>().dimensions[0];
  const std::vector<Shape> shapes = ResultShapes(inst);
  return Collective(
      context, inst, operands, [&](std::vector<Values>& in, Ranks to) -> Result<std::vector<Values>> {
        Values gathered;
        for (size_t i = 0; i < shapes.size(); ++i) {
          Literal out = Literal::Make(shapes[i]);
          int64_t at = 0;
          for (const Values& member : in) {
            const int64_t size = member[i].shape().dim(dim);
            if (at + size > shapes[i].dim(dim)) break;
            CopyBlock(out, at, member[i], 0, size, dim);
            at += size;
          }
          if (at != shapes[i].dim(dim))
            return Error("runtime-collective-mismatch", inst.loc(),
                         "{0} members gather {1} along dimension {2}, the result {3} has another size there",
                         in.size(), in[0][i].shape(), dim, shapes[i]);
          gathered.push_back(std::move(out));
        }
        return std::vector<Values>(to.size(), gathered);
      });
}

Result<Literal> EvalAllReduce(EvalContext& context, const Instruction& inst,
                              llvm::MutableArrayRef<Literal> operands) {
  const std::vector<Shape> shapes = ResultShapes(inst);
  const auto combine = [&](std::vector<Values>& in, Ranks to) -> Result<std::vector<Values>> {
    HLO_TRY(Values sum, FoldMembers(context, *inst.callee(), in));
    // The result may be declared in another floating type.
    for (size_t i = 0; i < sum.size(); ++i)
      if (const ElementType type = shapes[i].element_type(); type != sum[i].shape().element_type())
        sum[i] = ConvertLiteral(std::move(sum[i]), type);
    return std::vector<Values>(to.size(), sum);
  };
  return Collective(context, inst, operands, combine, {Flow::Elements});
}

Result<Literal> EvalReduceScatter(EvalContext& context, const Instruction& inst,
                                  llvm::MutableArrayRef<Literal> operands) {
  const int64_t dim = inst.attr<ReduceScatterAttrs>().dimensions[0];
  const std::vector<Shape> shapes = ResultShapes(inst);
  HLO_TRY(const std::vector<int64_t> members, CollectiveMembers(inst, context.device()));
  const auto count = static_cast<int64_t>(members.size());
  bool cut = true;
  for (size_t i = 0; i < shapes.size(); ++i)
    cut &= !operands[i].shape().HasDynamicDimension() &&
           shapes[i].dim(dim) * count == operands[i].shape().dim(dim);
  const auto combine = [&](std::vector<Values>& in, Ranks to) -> Result<std::vector<Values>> {
    HLO_TRY(const Values sum, FoldMembers(context, *inst.callee(), in));
    std::vector<Values> results(to.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
      const int64_t block = shapes[i].dim(dim);
      if (!cut && block * count != sum[i].shape().dim(dim))
        return Error("runtime-collective-mismatch", inst.loc(),
                     "{0} members cannot share {1} in blocks of {2}", count, sum[i].shape(), shapes[i]);
      for (size_t r = 0; r < to.size(); ++r) {
        Literal out = Literal::Make(shapes[i]);
        CopyBlock(out, 0, sum[i], block * static_cast<int64_t>(cut ? r : to[r]), block, dim);
        results[r].push_back(std::move(out));
      }
    }
    return results;
  };
  return CollectiveOf(context, inst, members, operands, combine, {cut ? Flow::Blocks : Flow::Whole, dim});
}

namespace {

/// Of a tuple: a member's result i is the operand of its rank of member i.
Result<Literal> AllToAllOfTuples(EvalContext& context, const Instruction& inst,
                                 llvm::ArrayRef<int64_t> members, llvm::MutableArrayRef<Literal> operands) {
  const bool cut = operands.size() == members.size();
  const auto combine = [&](std::vector<Values>& in, Ranks to) -> Result<std::vector<Values>> {
    if (!cut)
      return Error("runtime-collective-mismatch", inst.loc(), "all-to-all of {0} members has {1} operands",
                   in.size(), in.front().size());
    std::vector<Values> results(to.size());
    for (size_t r = 0; r < to.size(); ++r)
      for (const Values& sender : in) results[r].push_back(sender[r]);
    return results;
  };
  return CollectiveOf(context, inst, members, operands, combine, {cut ? Flow::Operands : Flow::Whole});
}

}  // namespace

Result<Literal> EvalAllToAll(EvalContext& context, const Instruction& inst,
                             llvm::MutableArrayRef<Literal> operands) {
  HLO_TRY(const std::vector<int64_t> members, CollectiveMembers(inst, context.device()));
  const std::optional<int64_t> split = inst.attr<AllToAllAttrs>().dimension;
  if (!split) return AllToAllOfTuples(context, inst, members, operands);
  const int64_t dim = *split;
  const Shape shape = operands[0].shape();
  const auto count = static_cast<int64_t>(members.size());
  const bool fits = count > 0 && shape.dim(dim) % count == 0;
  const bool cut = fits && !shape.HasDynamicDimension();
  const auto combine = [&](std::vector<Values>& in, Ranks to) -> Result<std::vector<Values>> {
    if (!fits)
      return Error("runtime-collective-mismatch", inst.loc(),
                   "{0} cannot be split among {1} members along dimension {2}", shape, in.size(), dim);
    const int64_t block = shape.dim(dim) / count;
    std::vector<Values> results(to.size());
    for (size_t r = 0; r < to.size(); ++r) {
      Literal out = Literal::Make(shape);
      for (size_t sender = 0; sender < in.size(); ++sender)
        CopyBlock(out, block * static_cast<int64_t>(sender), in[sender][0],
                  block * static_cast<int64_t>(cut ? r : to[r]), block, dim);
      results[r].push_back(inst.shape().IsTuple() ? out.WithShape(ResultShapes(inst)[0]) : std::move(out));
    }
    return results;
  };
  return CollectiveOf(context, inst, members, operands, combine, {cut ? Flow::Blocks : Flow::Whole, dim});
}

Result<Literal> EvalCollectiveBroadcast(EvalContext& context, const Instruction& inst,
                                        llvm::MutableArrayRef<Literal> operands) {
  Device& self = context.device();
  HLO_TRY(const std::vector<int64_t> members, CollectiveMembers(inst, self));
  const bool dynamic_root = inst.attr<CollectiveBroadcastAttrs>().has_dynamic_root.value_or(false);
  Values mine = Take(operands);
  int64_t root = 0;
  if (dynamic_root) {
    // The last operand names the sender of each group, by rank in it.
    const auto roots = mine.back().Data<int32_t>();
    const auto groups = Expand(inst.attr<CollectiveBroadcastAttrs>().replica_groups);
    size_t group = 0;
    while (groups && group + 1 < groups->size() &&
           !llvm::is_contained((*groups)[group], members.empty() ? -1 : self.replica()))
      ++group;
    root = group < roots.size() ? roots[group] : 0;
    mine.pop_back();
  }
  if (members.empty()) {
    Values zeros;
    for (const Literal& v : mine) zeros.push_back(Literal::Zeros(v.shape()));
    return Wrap(inst, {}, std::move(zeros));
  }
  if (root < 0 || root >= static_cast<int64_t>(members.size()))
    return Error("runtime-collective-mismatch", inst.loc(), "root {0} is no member of a group of {1}", root,
                 members.size());
  const auto combine = [&](std::vector<Values>& in, Ranks to) -> Result<std::vector<Values>> {
    return std::vector<Values>(to.size(), in[static_cast<size_t>(root)]);
  };
  // Who the sender is every member knows before only where it is the first.
  const auto needs = [](size_t from, size_t) { return from == 0; };
  const Flow flow = dynamic_root ? Flow() : Flow{Flow::Whole, 0, needs};
  HLO_TRY(Values results, self.group().Exchange(self, inst, members, std::move(mine), combine, flow));
  return Wrap(inst, {}, std::move(results));
}

namespace {

/// Reads the start indices of an in-place collective-permute: one scalar per dimension, or an s32
/// vector, possibly in a tuple.
Dims StartIndices(const Literal& value) {
  Dims starts;
  if (value.shape().IsTuple()) {
    for (const Literal& e : value.elements()) starts.append(StartIndices(e));
    return starts;
  }
  for (int64_t i = 0; i < value.shape().ElementCount(); ++i) {
    const int width = Info(value.shape().element_type()).bits;
    starts.push_back(static_cast<int64_t>(value.Bits(i) << (64 - width)) >> (64 - width));
  }
  return starts;
}

/// Copies a box of `sizes` between two arrays of one element type; starts are clamped.
void CopyBox(Literal& to, Dims to_start, const Literal& from, Dims from_start,
             llvm::ArrayRef<int64_t> sizes) {
  const auto width = static_cast<size_t>(Info(from.shape().element_type()).host_bytes());
  const auto rank = sizes.size();
  for (size_t d = 0; d < rank; ++d) {
    const auto dim = static_cast<int64_t>(d);
    to_start[d] = std::clamp<int64_t>(to_start[d], 0, to.shape().dim(dim) - sizes[d]);
    from_start[d] = std::clamp<int64_t>(from_start[d], 0, from.shape().dim(dim) - sizes[d]);
  }
  int64_t total = 1;
  for (int64_t s : sizes) total *= s;
  Dims index(rank, 0);
  uint8_t* out = to.MutableData();
  for (int64_t n = 0; n < total; ++n) {
    int64_t a = 0, b = 0;
    for (size_t d = 0; d < rank; ++d) {
      a = a * to.shape().dim(static_cast<int64_t>(d)) + to_start[d] + index[d];
      b = b * from.shape().dim(static_cast<int64_t>(d)) + from_start[d] + index[d];
    }
    std::memcpy(out + static_cast<size_t>(a) * width, from.data() + static_cast<size_t>(b) * width, width);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < sizes[d]) break;
      index[d] = 0;
    }
  }
}

}  // namespace

Result<Literal> EvalCollectivePermute(EvalContext& context, const Instruction& inst,
                                      llvm::MutableArrayRef<Literal> operands) {
  const auto& attrs = inst.attr<CollectivePermuteAttrs>();
  Device& self = context.device();
  const std::vector<int64_t> members = PermutedDevices(inst, self);
  const auto count = static_cast<int64_t>(members.size());
  const bool in_place = !attrs.slice_sizes.empty();
  Values mine = Take(operands);
  const Values kept = inst.info().Is(kStart) ? mine : Values{};
  const auto combine = [&](std::vector<Values>& in, Ranks to) -> Result<std::vector<Values>> {
    std::vector<Values> out(in.size());
    for (const size_t m : to) {
      if (in_place)
        out[m].push_back(in[m][1]);
      else
        for (const Literal& v : in[m]) out[m].push_back(Literal::Zeros(v.shape()));
    }
    for (const Dims& pair : attrs.source_target_pairs) {
      if (pair[0] < 0 || pair[1] < 0 || pair[0] >= count || pair[1] >= count)
        return Error("runtime-collective-mismatch", inst.loc(),
                     "source-target pair ({0},{1}), the run has {2} ids", pair[0], pair[1], count);
      const auto source = static_cast<size_t>(pair[0]), target = static_cast<size_t>(pair[1]);
      if (out[target].empty()) continue;
      if (!in_place) {
        out[target] = in[source];
        continue;
      }
      CopyBox(out[target][0], StartIndices(in[target][3]), in[source][0], StartIndices(in[source][2]),
              attrs.slice_sizes[0]);
    }
    std::vector<Values> results;
    for (const size_t m : to) results.push_back(std::move(out[m]));
    return results;
  };
  llvm::DenseSet<std::pair<int64_t, int64_t>> pairs;
  if (self.group().network() != nullptr)
    for (const Dims& pair : attrs.source_target_pairs) pairs.insert({pair[0], pair[1]});
  const auto needs = [&](size_t from, size_t to) {
    return from == to || pairs.contains({static_cast<int64_t>(from), static_cast<int64_t>(to)});
  };
  HLO_TRY(Values results,
          self.group().Exchange(self, inst, members, std::move(mine), combine, {Flow::Whole, 0, needs}));
  return Wrap(inst, kept, std::move(results));
}

Result<Literal> EvalRaggedAllToAll(EvalContext& context, const Instruction& inst,
                                   llvm::MutableArrayRef<Literal> operands) {
  // operands: input, output, input_offsets, send_sizes, output_offsets, recv_sizes
  return Collective(
      context, inst, operands, [&](std::vector<Values>& in, Ranks to) -> Result<std::vector<Values>> {
        auto at = [](const Literal& v, size_t i) { return StartIndices(v)[i]; };
        std::vector<Values> out(in.size());
        for (size_t m = 0; m < in.size(); ++m) out[m].push_back(in[m][1]);
        for (size_t sender = 0; sender < in.size(); ++sender) {
          const auto entries = static_cast<size_t>(in[sender][2].shape().ElementCount());
          // Several updates per peer: entries are grouped by peer.
          const size_t per_peer = entries / in.size();
          for (size_t e = 0; e < per_peer * in.size(); ++e) {
            const size_t target = e / per_peer;
            const int64_t from = at(in[sender][2], e), rows = at(in[sender][3], e),
                          start = at(in[sender][4], e);
            Literal& output = out[target][0];
            if (rows < 0 || from < 0 || start < 0 || from + rows > in[sender][0].shape().dim(0) ||
                start + rows > output.shape().dim(0))
              return Error("runtime-collective-mismatch", inst.loc(),
                           "rows [{0},{1}) of {2} do not fit at row {3} of {4}", from, from + rows,
                           in[sender][0].shape(), start, output.shape());
            CopyBlock(output, start, in[sender][0], from, rows, 0);
          }
        }
        std::vector<Values> results;
        for (const size_t m : to) results.push_back(std::move(out[m]));
        return results;
      });
}

Result<Literal> EvalCollectiveDone(EvalContext&, const Instruction& inst,
                                   llvm::MutableArrayRef<Literal> operands) {
  if (inst.kind() == OpKind::AllReduceDone) return std::move(operands[0]);
  return operands[0].TakeElement(1);
}

}  // namespace hlo
