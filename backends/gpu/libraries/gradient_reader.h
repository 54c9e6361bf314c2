// What instructions do to the scores of an attention on the way to its result and back.
#pragma once
#include "backends/gpu/libraries/attention_gradient.h"
#include "backends/gpu/libraries/attention_reader.h"
#include "llvm/ADT/DenseSet.h"

namespace hlo::gpu {

/// A product of what a softmax and its gradient have: of the powers of scores, their sums, the gradient of
/// the weights, and the sums of that times the powers. The first and third are of each score, sums of rows.
struct SoftmaxTerm {
  double factor = 1;
  int powers = 0, sums = 0, gradient = 0, gradient_sums = 0;
  [[nodiscard]] bool IsLike(const SoftmaxTerm& o) const {
    return powers == o.powers && sums == o.sums && gradient == o.gradient && gradient_sums == o.gradient_sums;
  }
};
/// A sum of such terms, no two of them alike.
using SoftmaxTerms = llvm::SmallVector<SoftmaxTerm, 2>;

/// Goes through the instructions of a computation from the product that makes scores.
class GradientReader final : private AttentionReader {
 public:
  Result<GradientsOfAttention> Read(const Instruction& scores);

 private:
  using A = AttentionArrays;
  /// A value that is such a sum, seen over the scores; it has dimensions without a stride where it is the
  /// same for all keys.
  struct Value {
    SoftmaxTerms terms;
    View view;
    unsigned masks = 0;  // which of the scores' masks have made it 0, a bit each
  };
  /// A mask over the scores: of which values, where those lie.
  struct Mask {
    const Instruction* of;
    ArrayAlong along;
    bool inverted;
  };
  /// A product of the gradient of the result, of values that powers weigh, and of sums; features lie behind
  /// all scores.
  struct Featured {
    double factor = 1;
    int gradient = 0, weighed = 0, sums = 0;
    View view = {};
  };
  using ValueRule = std::optional<Value> (GradientReader::*)(const Instruction& inst);

  void Take(const Instruction& inst);
  [[nodiscard]] std::optional<Value> ValueOf(const Instruction& inst) const;
  [[nodiscard]] bool IsKnown(const Instruction& inst) const {
    return Find(&inst) != nullptr || values_.contains(&inst) || featured_.contains(&inst) ||
           at_maxima_.contains(&inst);
  }
  static ValueRule ValueRuleOf(const Instruction& inst);
  std::optional<Value> See(const Instruction& inst);
  std::optional<Value> Convert(const Instruction& inst);
  std::optional<Value> Multiply(const Instruction& inst);
  std::optional<Value> Divide(const Instruction& inst);
  std::optional<Value> Add(const Instruction& inst);
  std::optional<Value> Subtract(const Instruction& inst);
  std::optional<Value> Negate(const Instruction& inst);
  std::optional<Value> Select(const Instruction& inst);
  std::optional<Value> Reduce(const Instruction& inst);
  /// Of both operands at once: what they are, or a gradient of weights, or a number.
  std::optional<std::pair<Value, Value>> Both(const Instruction& inst);
  std::optional<Value> Side(const Instruction& inst, const Value& other);
  std::optional<Value> Gradient(const Instruction& value, const View& along);
  [[nodiscard]] std::optional<View> Joined(const View& a, const View& b) const;

  [[nodiscard]] int64_t FeatureStride() const { return found_.sections.back(); }
  static std::optional<SoftmaxTerm> OnlySums(const Value& value);
  /// Rows that are the same for all features of another value.
  [[nodiscard]] bool GoesAlongFeatures(const View& rows, const View& all) const;
  [[nodiscard]] bool IsAtMaxima(const Instruction& inst) const;
  [[nodiscard]] std::optional<Value> Zero(const Instruction& inst) const;
  bool MakeFeatured(const Instruction& inst);
  bool TakeFeatured(const Instruction& inst);
  bool SeeFeatured(const Instruction& inst);
  bool MultiplyFeatured(const Instruction& inst);
  bool KeepDivided(const Instruction& inst, const View& view);
  bool ReduceFeatured(const Instruction& inst);
  bool FeaturedProduct(const Instruction& dot);
  bool SeeFeaturedGradient(const Instruction& dot, size_t side);
  bool WeighPowers(const Instruction& dot, size_t side, const View& powers);

  /// What a select of the dimensions of `view` keeps.
  static std::optional<Mask> MaskOf(const Instruction& select, const View& view, bool inverted);
  void AddMask(const Instruction& select);
  /// What is 0 for keys that queries do not look at is so where none of them is looked at, too.
  [[nodiscard]] bool IsMasked(const Value& gradient) const;

  [[nodiscard]] bool RoundsOperand(const Instruction& dot, size_t side) const;
  [[nodiscard]] bool IsRounded(const Instruction& made) const;
  static ArrayAlong AlongOther(const Instruction& dot, size_t side, const View& view);
  /// The sides of queries and keys are known once the keys are.
  void Settle();
  bool SeeGradient(const Instruction& dot);
  bool Product(const Instruction& dot);
  [[nodiscard]] bool AreQueries(llvm::ArrayRef<ViewDim> dims) const;
  /// One side of a product along the scores, of the array it has to be.
  bool Agree(A::Array array, const Instruction& value, const ArrayAlong& along, const Dims& features);
  GradientsOfAttention::Made Keep(const Instruction& dot, size_t side, const View& weights, A::Array made);
  /// Of what nobody makes: as the array it is the gradient of, features last.
  GradientsOfAttention::Made Absent(A::Array of, A::Array made);
  /// The result of which no product is known.
  Status WeighValues();
  void Lie(A::Array array, llvm::ArrayRef<AlongScores> dims, GradientsOfAttention::Made& made);
  [[nodiscard]] bool IsGradientOfScores(const SoftmaxTerms& terms) const;
  Status AddStatistics();
  Status MakeBias(bool has_gradients);
  Status FindEmptyRows();
  Status FinishGradients();
  Result<GradientsOfAttention> Finish();

  llvm::DenseMap<const Instruction*, Value> values_;
  llvm::DenseMap<const Instruction*, Featured> featured_;
  llvm::DenseSet<const Instruction*> at_maxima_;
  llvm::SmallVector<Mask, 2> masks_;  // of scores
  unsigned behind_query_ = 0;         // which of them is the library's own
  const Instruction* scores_ = nullptr;
  const Instruction *powers_ = nullptr, *weights_ = nullptr;  // the first ones that there are
  const Instruction* weighed_ = nullptr;                      // values, as the gradient of weights has them
  ArrayAlong weighed_dims_;                                   // their dimensions along the scores
  const Instruction* gradient_ = nullptr;                     // of weights: a product
  llvm::SmallVector<ViewDim, 4> gradient_dims_;               // its dimensions over the scores
  bool settled_ = false;
  const Instruction* reader_ = nullptr;  // that is no part of it
  GradientsOfAttention made_of_;
};

}  // namespace hlo::gpu
