#include "backends/kernel/interpret.h"

#include <cstring>

#include "ir/eval/kernel.h"
#include "ir/numeric/narrow_float.h"

namespace hlo::kernel {
namespace {

/// An element in unpacked storage.
struct Scalar {
  alignas(16) uint8_t bytes[16] = {};
};

Scalar FromBits(ElementType type, const uint64_t bits[2]) {
  Scalar scalar;
  const auto width = static_cast<size_t>(Info(type).host_bytes());
  if (IsComplex(type)) {
    std::memcpy(scalar.bytes, &bits[0], width / 2);
    std::memcpy(scalar.bytes + width / 2, &bits[1], width / 2);
  } else {
    std::memcpy(scalar.bytes, bits, width);
  }
  return scalar;
}

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, llvm::ArrayRef<void*> buffers)
      : kernel_(kernel),
        buffers_(buffers),
        values_(kernel.value_types.size()),
        loops_(static_cast<size_t>(kernel.loop_count)) {}
  Status Run() { return Run(kernel_.body); }

 private:
  using Scalars = llvm::SmallVector<Scalar, 1>;

  Scalar& At(ValueId value) { return values_[static_cast<size_t>(value)]; }
  bool IsTrue(ValueId mask) { return mask < 0 || At(mask).bytes[0] != 0; }
  int64_t Value(const Address& address) {
    int64_t sum = address.offset;
    for (const auto& term : address.loops) sum += loops_[static_cast<size_t>(term.id)] * term.factor;
    for (const auto& term : address.values) {
      int64_t value = 0;
      std::memcpy(&value, At(term.id).bytes, sizeof value);
      sum += value * term.factor;
    }
    return sum;
  }
  uint8_t* Element(BufferId buffer, const Address& address, size_t& width) {
    const Buffer& b = kernel_.buffers[static_cast<size_t>(buffer)];
    width = static_cast<size_t>(Info(b.type).host_bytes());
    const int64_t element = Value(address);
    assert(element >= 0 && element < b.count && "a kernel stays in its buffers");
    return static_cast<uint8_t*>(buffers_[static_cast<size_t>(buffer)]) +
           static_cast<size_t>(element) * width;
  }
  int64_t Extent(const Dimension& d) {
    if (d.outer < 0) return d.extent;
    return std::min(d.extent, d.limit - loops_[static_cast<size_t>(d.outer)] * d.extent);
  }

  Status Run(const Region& region) {
    for (const Stmt& stmt : region.stmts)
      HLO_CHECK_OK(std::visit([&](const auto& s) { return Run(s); }, stmt));
    return {};
  }
  Status Run(const ConstantStmt& s) {
    At(s.result) = FromBits(s.type, s.bits);
    return {};
  }
  Status Run(const IndexStmt& s) {
    const int64_t value = Value(s.address);
    std::memcpy(At(s.result).bytes, &value, sizeof value);
    return {};
  }
  Status Run(const OpStmt& s) {
    auto it = ops_.find(&s);
    if (it == ops_.end()) {
      llvm::SmallVector<ElementType, 3> types;
      for (const ValueId operand : s.operands) types.push_back(kernel_.TypeOf(operand));
      const auto found = FindKernel(s.kind, types, s.type, s.attrs);
      if (!found)
        return Error("kernel-unsupported", {}, "%{0}: {1} is not known for these types", s.result,
                     Info(s.kind).text);
      it = ops_.try_emplace(&s, *found).first;
    }
    const void* in[hlo::Kernel::kMaxOperands] = {};
    for (size_t i = 0; i < s.operands.size(); ++i) in[i] = At(s.operands[i]).bytes;
    Scalar result;
    it->second.Run(result.bytes, in, 1);
    At(s.result) = result;
    return {};
  }
  Status Run(const LoadStmt& s) {
    if (!IsTrue(s.mask)) {
      At(s.result) = At(s.otherwise);
      return {};
    }
    size_t width = 0;
    const uint8_t* element = Element(s.buffer, s.address, width);
    std::memcpy(At(s.result).bytes, element, width);
    return {};
  }
  Status Run(const StoreStmt& s) {
    if (!IsTrue(s.mask)) return {};
    size_t width = 0;
    uint8_t* element = Element(s.buffer, s.address, width);
    std::memcpy(element, At(s.value).bytes, width);
    return {};
  }
  Status Run(const LoopStmt& s) {
    const int64_t extent = Extent(s.loop);
    int64_t& i = loops_[static_cast<size_t>(s.loop.id)];
    for (i = 0; i < extent; ++i) HLO_CHECK_OK(Run(*s.body));
    return {};
  }

  Result<Scalars> Combine(const ReduceStmt& s, llvm::ArrayRef<Scalar> x, llvm::ArrayRef<Scalar> y) {
    const size_t count = s.inits.size();
    for (size_t i = 0; i < count; ++i) At(s.parameters[i]) = x[i], At(s.parameters[count + i]) = y[i];
    HLO_CHECK_OK(Run(*s.combiner));
    Scalars results;
    for (const ValueId yield : s.combiner->yields) results.push_back(At(yield));
    return results;
  }
  /// The accumulator that iteration `i` of a wide loop folds into: groups are whole but for those at the end,
  /// which fold into the lanes of the first vector.
  static size_t LaneOf(const Dimension& d, int64_t extent, int64_t i) {
    const int64_t group = static_cast<int64_t>(d.width) * d.unroll;
    if (i < extent / group * group) return static_cast<size_t>(i % group);
    return static_cast<size_t>((i - extent / group * group) % d.width);
  }
  Status Fold(const ReduceStmt& s, size_t level, std::vector<Scalars>& accumulators) {
    const Dimension& d = s.loops[level];
    const int64_t extent = Extent(d);
    int64_t& i = loops_[static_cast<size_t>(d.id)];
    for (i = 0; i < extent; ++i) {
      if (level + 1 < s.loops.size()) {
        HLO_CHECK_OK(Fold(s, level + 1, accumulators));
        continue;
      }
      HLO_CHECK_OK(Run(*s.body));
      Scalars elements;
      for (const ValueId yield : s.body->yields) elements.push_back(At(yield));
      Scalars& into = accumulators[accumulators.size() > 1 ? LaneOf(d, extent, i) : 0];
      HLO_TRY(into, Combine(s, into, elements));
    }
    return {};
  }
  /// The second half of a list is folded into the first until one value is left.
  Status FoldList(const ReduceStmt& s, std::vector<Scalars>& list) {
    for (size_t size = list.size(); size > 1;) {
      const size_t half = (size + 1) / 2;
      for (size_t i = 0; i + half < size; ++i) {
        HLO_TRY(list[i], Combine(s, list[i], list[i + half]));
      }
      size = half;
    }
    return {};
  }
  Status RunPairwise(const ReduceStmt& s) {
    std::vector<Scalars> list = {{At(s.inits[0])}};
    int64_t& i = loops_[static_cast<size_t>(s.loops[0].id)];
    for (i = 0; i < s.loops[0].extent; ++i) {
      HLO_CHECK_OK(Run(*s.body));
      list.push_back({At(s.body->yields[0])});
    }
    HLO_CHECK_OK(FoldList(s, list));
    At(s.results[0]) = list[0][0];
    return {};
  }
  Status Run(const ReduceStmt& s) {
    if (FoldsPairwise(s)) return RunPairwise(s);
    Scalars inits;
    for (const ValueId init : s.inits) inits.push_back(At(init));
    const Dimension& last = s.loops.back();
    std::vector<Scalars> accumulators = {inits};
    const bool in_lanes = last.width > 1 && ReductionOp(s);
    if (in_lanes) {
      const auto neutral = NeutralElement(*ReductionOp(s), kernel_.TypeOf(s.inits[0]));
      if (!neutral)
        return Error("kernel-unsupported", {}, "{0} has no neutral elements",
                     ToString(kernel_.TypeOf(s.inits[0])));
      Scalar scalar;
      llvm::copy(*neutral, scalar.bytes);
      accumulators.assign(static_cast<size_t>(last.width) * static_cast<size_t>(last.unroll), {scalar});
    }
    HLO_CHECK_OK(Fold(s, 0, accumulators));
    if (in_lanes) {
      HLO_CHECK_OK(FoldList(s, accumulators));
      HLO_TRY(accumulators[0], Combine(s, inits, accumulators[0]));
    }
    for (size_t i = 0; i < s.results.size(); ++i) At(s.results[i]) = accumulators[0][i];
    return {};
  }

  const Kernel& kernel_;
  llvm::ArrayRef<void*> buffers_;
  std::vector<Scalar> values_;
  std::vector<int64_t> loops_;
  llvm::DenseMap<const OpStmt*, hlo::Kernel> ops_;
};

}  // namespace

std::optional<std::array<uint8_t, 16>> NeutralElement(OpKind op, ElementType type) {
  std::array<uint8_t, 16> element{};
  if (type == ElementType::F8E8M0FNU) return std::nullopt;
  if (IsComplex(type)) {
    if (op != OpKind::Add) return std::nullopt;
    const auto part = *NeutralElement(op, RealPartType(type));
    const auto width = static_cast<size_t>(Info(type).host_bytes()) / 2;
    for (size_t i = 0; i < 2; ++i) std::memcpy(element.data() + i * width, part.data(), width);
    return element;
  }
  if (IsFloat(type)) {
    // Types without infinities would make NaN of one.
    const double most = HasInfinity(type) ? std::numeric_limits<double>::infinity() : MaxFinite(type);
    const double value = op == OpKind::Add        ? -0.0
                         : op == OpKind::Multiply ? 1
                         : op == OpKind::Maximum  ? -most
                                                  : most;
    const void* in = &value;
    FindKernel(OpKind::Convert, ElementType::F64, type)->Run(element.data(), &in, 1);
    return element;
  }
  const auto bits = static_cast<unsigned>(Info(type).bits);
  const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t top = IsSigned(type) ? uint64_t{1} << (bits - 1) : 0;
  uint64_t value = 0;
  if (op == OpKind::Multiply) value = 1;
  if (op == OpKind::And) value = ones;
  if (op == OpKind::Minimum) value = ones ^ top;
  if (op == OpKind::Maximum) value = top;
  // Narrow integers are stored with their sign.
  if (IsSigned(type) && (value & top) != 0) value |= ~ones;
  std::memcpy(element.data(), &value, static_cast<size_t>(Info(type).host_bytes()));
  return element;
}

Status Interpret(const Kernel& kernel, llvm::ArrayRef<void*> buffers) {
  return Interpreter(kernel, buffers).Run();
}

}  // namespace hlo::kernel
