// rng-expander: rng as Philox bits and arithmetic (passes.md §4.10, ops-structured §8.1).
//
// Requires nothing. Preserves flat-calls, layouts, fusions.
// Changes: rng becomes the custom-call GetRngSeed, rng-get-and-update-state and Philox blocks, turned into
// the distribution. The key mixes seed, name of the instruction, replica and partition as the evaluator does,
// so uniform numbers are those rng itself gives; normal numbers may differ by rounding, since they are
// computed in f32 (f64 for f64). Left alone: dynamic shapes.
#include <numbers>

#include "llvm/Support/xxhash.h"
#include "passes/pass.h"
#include "passes/rewrite/bits.h"
#include "passes/rewrite/expander.h"

namespace hlo {
namespace {

constexpr ElementType kU32 = ElementType::U32, kU64 = ElementType::U64;

/// One rng instruction being written out.
class Expansion {
 public:
  explicit Expansion(Instruction* inst)
      : make_(inst), inst_(inst), type_(inst->shape().element_type()), n_(inst->shape().ElementCount()) {}

  Instruction* Run() {
    const Expr a(make_, inst_->operand(0)), b(make_, inst_->operand(1));
    const Expr flat = inst_->attr<RngAttrs>().distribution == Distribution::Normal ? Normal(a, b)
                      : IsFloat(type_)                                             ? UniformFloat(a, b)
                                                                                   : UniformInteger(a, b);
    return flat.Reshape(inst_->shape().dims());
  }

 private:
  [[nodiscard]] bool wide() const { return Info(type_).bits == 64; }

  /// Tells instructions, seeds and devices apart.
  Expr Key() {
    CustomCallAttrs attrs;
    attrs.custom_call_target = "GetRngSeed";
    const Shape scalar = Shape::ArrayWithDefaultLayout(kU64, {});
    const Expr seed(make_, make_.AddWithShape(OpKind::CustomCall, scalar, {}, std::move(attrs)));
    const Expr replica(make_, make_.Add(OpKind::ReplicaId, {})),
        partition(make_, make_.Add(OpKind::PartitionId, {}));
    const auto name = static_cast<int64_t>(llvm::xxh3_64bits(inst_->name()));
    return (seed ^ name) ^ (replica.To(kU64) ^ (partition.To(kU64) << 32));
  }

  /// The first `count` words of the stream, of 64 bits or 32.
  Expr Words(int64_t count, bool wide) {
    // As much as any distribution draws, so that streams of later executions do not overlap.
    RngStateAttrs attrs;
    attrs.delta = n_ > (INT64_MAX - 4) / 4 ? INT64_MAX : n_ * 4 + 4;
    const Expr state(make_, make_.AddWithShape(OpKind::RngGetAndUpdateState,
                                               Shape::ArrayWithDefaultLayout(kU64, {2}), {}, attrs));
    const int64_t per_block = wide ? 2 : 4;
    const auto blocks = PhiloxBlocks(Key(), state.Slice(0, 0, 1).Reshape({}),
                                     state.Slice(0, 1, 2).Reshape({}), (count + per_block - 1) / per_block);
    return wide ? PhiloxWords64(blocks, count) : PhiloxWords32(blocks, count);
  }

  /// `count` numbers of [0, 1) in f32, or f64 for f64.
  Expr Unit(int64_t count) {
    return wide() ? (Words(count, true) >> 12).To(ElementType::F64) * 0x1p-52
                  : (Words(count, false) >> 9).To(ElementType::F32) * 0x1p-23;
  }
  [[nodiscard]] ElementType compute_type() const { return wide() ? ElementType::F64 : ElementType::F32; }

  Expr UniformFloat(const Expr& a, const Expr& b) {
    const Expr low = a.To(compute_type()), high = b.To(compute_type());
    const Expr x = (Unit(n_) * (high - low) + low).To(type_);
    // Rounding may reach the upper bound, which is out of range.
    return Select(Lt(x, b), x, a);
  }

  /// a + word modulo (b - a), in words; an empty range gives a.
  Expr UniformInteger(const Expr& a, const Expr& b) {
    const ElementType words = wide() ? kU64 : kU32;
    const int unused = Info(words).bits - Info(type_).bits;
    const Expr low = a.To(words), difference = b.To(words) - low;
    const Expr range = unused == 0 || IsPred(type_) ? difference : (difference << unused) >> unused;
    const Expr safe = Select(Eq(range, 0), 1, range);
    const Expr sum = Words(n_, wide()) % safe + low;
    return IsPred(type_) ? Ne(sum & 1, 0) : sum.To(type_);
  }

  /// Box-Muller: pairs of uniform numbers give pairs of normal ones.
  Expr Normal(const Expr& mean, const Expr& deviation) {
    const int64_t pairs = (n_ + 1) / 2;
    const Expr uniform = Unit(2 * pairs).Reshape({pairs, 2});
    const Expr radius = (Max(uniform.Slice(1, 0, 1), 1e-7).Unary(OpKind::Log) * -2).Unary(OpKind::Sqrt);
    const Expr angle = uniform.Slice(1, 1, 2) * (2 * std::numbers::pi);
    const Expr both[] = {radius * angle.Unary(OpKind::Sin), radius * angle.Unary(OpKind::Cos)};
    const Expr standard = Concat(both, 1).Reshape({2 * pairs}).Slice(0, 0, n_);
    return (standard * deviation.To(compute_type()) + mean.To(compute_type())).To(type_);
  }

  Maker make_;
  Instruction* inst_;
  ElementType type_;
  int64_t n_;
};

Result<bool> RunRngExpander(Module& module, const NoPassOptions&, PassContext& context) {
  return ExpandMatches(
      module, context,
      [](const Instruction& inst) { return inst.kind() == OpKind::Rng && HasStaticShapes(inst); },
      [](Instruction* inst) -> Result<Instruction*> { return Expansion(inst).Run(); });
}

}  // namespace

HLO_DEFINE_PASS(RngExpander, NoPassOptions);

}  // namespace hlo
