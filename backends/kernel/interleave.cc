#include "backends/kernel/interleave.h"

#include <cstring>

#include "backends/kernel/interpret.h"
#include "backends/kernel/visit.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace hlo::kernel {
namespace {

class Interleaver {
 public:
  Interleaver(Kernel& kernel, const Target& target)
      : kernel_(kernel), target_(target), parts_(target.latency.sum_parts) {}

  int64_t Run() {
    Visit(kernel_.body, nullptr);
    return changed_;
  }

 private:
  void Visit(Region& region, const Dimension* vector) {
    std::vector<Stmt> stmts = std::exchange(region.stmts, {});
    for (Stmt& stmt : stmts) {
      if (auto* loop = std::get_if<LoopStmt>(&stmt))
        Visit(*loop->body, loop->loop.width > 1 ? &loop->loop : vector);
      auto* reduce = std::get_if<ReduceStmt>(&stmt);
      if (reduce != nullptr && vector != nullptr && Waits(*reduce, *vector)) {
        Interleave(*reduce, region.stmts);
        ++changed_;
      } else {
        region.stmts.push_back(std::move(stmt));
      }
    }
  }

  [[nodiscard]] bool Waits(const ReduceStmt& reduce, const Dimension& vector) const {
    const Dimension& d = reduce.loops.back();
    const auto op = ReductionOp(reduce);
    if (!op || (*op != OpKind::Add && *op != OpKind::Multiply)) return false;
    const ElementType type = kernel_.TypeOf(reduce.inits[0]);
    if (type != ElementType::F32 && type != ElementType::F64) return false;
    const auto is_value = [](const Stmt& stmt) { return ResultOf(stmt) >= 0; };
    return reduce.loops.size() == 1 && d.width == 1 && d.unroll == 1 && d.outer < 0 &&
           d.extent >= target_.latency.shortest_sum &&
           int64_t{vector.width} * vector.unroll <= target_.vectors.most_waiting &&
           static_cast<int64_t>(reduce.body->stmts.size()) * parts_ <= target_.code.sum_stmts &&
           llvm::all_of(reduce.body->stmts, is_value);
  }

  ValueId Neutral(OpKind op, ElementType type, std::vector<Stmt>& to) {
    ConstantStmt constant{kernel_.NewValue(type), type, {0, 0}};
    const auto bytes = *NeutralElement(op, type);
    std::memcpy(constant.bits, bytes.data(), static_cast<size_t>(Info(type).host_bytes()));
    to.emplace_back(constant);
    return constant.result;
  }

  /// Appends what the body computes in an iteration: `step` of the loop's number more than `first`, or that
  /// one alone if `step` is 0. Its element.
  ValueId AppendIteration(const ReduceStmt& reduce, int64_t step, int64_t first, std::vector<Stmt>& to) {
    llvm::DenseMap<ValueId, ValueId> copies;
    const auto copy_of = [&](ValueId& value) {
      if (const auto it = copies.find(value); it != copies.end()) value = it->second;
    };
    const auto move = [&](Address& address) {
      const LoopId loop = reduce.loops[0].id;
      const int64_t factor = address.FactorOf(loop);
      address.AddLoop(loop, factor * (step - 1));
      address.offset += factor * first;
      Address moved;
      moved.offset = address.offset, moved.loops = address.loops;
      for (auto term : address.values) copy_of(term.id), moved.AddValue(term.id, term.factor);
      address = moved;
    };
    const auto define = [&](ValueId& result) {
      const ValueId value = kernel_.NewValue(kernel_.TypeOf(result));
      copies[result] = value;
      result = value;
    };
    for (const Stmt& stmt : reduce.body->stmts) {
      if (const auto* constant = std::get_if<ConstantStmt>(&stmt)) to.emplace_back(*constant);
      if (const auto* index = std::get_if<IndexStmt>(&stmt)) to.emplace_back(*index);
      if (const auto* load = std::get_if<LoadStmt>(&stmt)) to.emplace_back(*load);
      if (const auto* op = std::get_if<OpStmt>(&stmt)) to.emplace_back(*op);
      if (auto* index = std::get_if<IndexStmt>(&to.back())) move(index->address);
      if (auto* load = std::get_if<LoadStmt>(&to.back()))
        move(load->address), copy_of(load->mask), copy_of(load->otherwise);
      if (auto* op = std::get_if<OpStmt>(&to.back())) llvm::for_each(op->operands, copy_of);
      std::visit(
          [&](auto& made) {
            if constexpr (requires { made.result; }) define(made.result);
          },
          to.back());
    }
    ValueId element = reduce.body->yields[0];
    copy_of(element);
    return element;
  }

  ValueId AppendCombined(const ReduceStmt& reduce, ValueId x, ValueId y, std::vector<Stmt>& to) {
    OpStmt op = std::get<OpStmt>(reduce.combiner->stmts[0]);
    const bool swapped = op.operands[0] != reduce.parameters[0];
    op.operands = {swapped ? y : x, swapped ? x : y};
    op.result = kernel_.NewValue(op.type);
    to.emplace_back(op);
    return op.result;
  }

  void Interleave(const ReduceStmt& reduce, std::vector<Stmt>& to) {
    const ElementType type = kernel_.TypeOf(reduce.inits[0]);
    const OpKind kind = *ReductionOp(reduce);
    const int64_t extent = reduce.loops[0].extent, rounds = extent / parts_;
    const auto new_values = [&](auto& list) {
      for (int64_t u = 0; u < parts_; ++u) list.push_back(kernel_.NewValue(type));
    };
    ReduceStmt parts;
    parts.origin = reduce.origin, parts.parts = parts_;
    parts.loops = reduce.loops;
    parts.loops[0].extent = rounds;
    parts.inits.push_back(reduce.inits[0]);
    for (int64_t u = 1; u < parts_; ++u) parts.inits.push_back(Neutral(kind, type, to));
    parts.body = std::make_unique<Region>();
    parts.combiner = std::make_unique<Region>();
    new_values(parts.results);
    new_values(parts.parameters);
    new_values(parts.parameters);
    for (int64_t u = 0; u < parts_; ++u) {
      parts.body->yields.push_back(AppendIteration(reduce, parts_, u, parts.body->stmts));
      const auto part = static_cast<size_t>(u);
      parts.combiner->yields.push_back(AppendCombined(reduce, parts.parameters[part],
                                                      parts.parameters[part + static_cast<size_t>(parts_)],
                                                      parts.combiner->stmts));
    }
    llvm::SmallVector<ValueId, 4> sums(parts.results.begin(), parts.results.end());
    to.emplace_back(std::move(parts));
    for (int64_t i = rounds * parts_; i < extent; ++i) {
      ValueId& sum = sums[static_cast<size_t>(i - rounds * parts_)];
      sum = AppendCombined(reduce, sum, AppendIteration(reduce, 0, i, to), to);
    }
    for (size_t half = static_cast<size_t>(parts_) / 2; half > 0; half /= 2)
      for (size_t u = 0; u < half; ++u) sums[u] = AppendCombined(reduce, sums[u], sums[u + half], to);
    std::get<OpStmt>(to.back()).result = reduce.results[0];
  }

  Kernel& kernel_;
  const Target& target_;
  int64_t parts_;  // a power of two
  int64_t changed_ = 0;
};

}  // namespace

int64_t InterleaveSums(Kernel& kernel, const Target& target) { return Interleaver(kernel, target).Run(); }

}  // namespace hlo::kernel
