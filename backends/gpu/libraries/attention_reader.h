// What kernels do to the scores of an attention, value by value.
#pragma once
#include "backends/gpu/libraries/attention.h"
#include "backends/gpu/libraries/attention_bias.h"
#include "backends/gpu/libraries/score_axes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace hlo::gpu {

struct LibraryAttentionGradient;

/// The arrays of an attention, as they go along its scores.
struct AttentionArrays {
  /// Also what gradients have: of each row log(sum) + max, and gradients of the others.
  enum Array : size_t {
    Queries,
    Keys,
    Values,
    Result,
    Bias,
    Rows,
    Columns,
    Statistics,
    ResultGradient,
    QueriesGradient,
    KeysGradient,
    ValuesGradient,
    Count
  };
  struct Features {
    int64_t size = 1, stride = 1;
  };
  /// Rows and columns: by how much the numbers grow that a mask compares.
  std::array<ArrayAlong, Count> along;
  std::array<View, Count> views;           // the arrays; their dimensions are above
  std::array<Features, Count> features;    // of queries, keys, values and the result
  llvm::SmallVector<int64_t, 4> sections;  // of the scores: keys, queries, batches, not in this order
  std::pair<int64_t, int64_t> keys;        // the section of keys
  double scale = 1;
  std::optional<double> cap;  // of the scale's multiples, by tanh
  std::optional<double> masked;
  std::optional<AttentionBias> made;  // the bias, where it is no array yet
};

/// The arrays as the library takes them, without statistics and gradients. Declines what it has not.
Result<LibraryAttention> AttentionOfArrays(const AttentionArrays& arrays, const Instruction& at);
/// With all of these, which the arrays must have.
Result<LibraryAttentionGradient> GradientOfArrays(const AttentionArrays& arrays, const Instruction& at);

/// Goes from the product that makes scores to the one that makes the result, through kernels and what lies
/// between them.
class AttentionReader {
 public:
  /// `divides_later`: what is weighed are powers, and what that makes is divided by their sums.
  explicit AttentionReader(bool divides_later = false) : divides_later_(divides_later) {}
  /// Of the kernel that makes the scores. Declines, saying why, where there is no attention.
  Result<AttentionArrays> Read(const Instruction& kernel);
  /// The steps from that kernel to the one that makes the result, which is the last, and steps before them
  /// that only put arrays of theirs in order, or make a mask, which others may read, too.
  [[nodiscard]] std::vector<const Instruction*> Steps() const;
  /// What these read, as the views number it.
  [[nodiscard]] llvm::ArrayRef<const Instruction*> arrays() const { return arrays_.getArrayRef(); }

 protected:
  /// What a value is on the way from scores to what they weigh.
  enum class Role : uint8_t {
    Scores,
    Maxima,
    Differences,
    Powers,
    Sums,
    Weights,
    Undivided,  // weighed values that are to be divided by sums
    Divided
  };
  struct Known {
    Role role = Role::Scores;
    View view;        // over the scores; of maxima and sums without the keys; features lie behind all scores
    int version = 0;  // of the scores that it is made of: how much had been done to them
  };
  using Rule = std::optional<Known> (AttentionReader::*)(const Instruction& inst);
  /// An operand that is known, and the other one.
  struct Pair {
    const Known* known;
    const Instruction* other;
  };

  static Rule RuleOf(const Instruction& inst);
  Status Start(const Instruction& dot);
  /// What a value sees of an array, in the order in which that lies in memory.
  std::optional<View> ArrayOf(const Instruction& value);
  Result<std::vector<const Instruction*>> StepsBehind(const Instruction& kernel) const;
  Status Follow(const Instruction& step);
  Status FollowKernel(const Instruction& kernel);
  Status Take(const Instruction& inst);
  Status Weigh(const Instruction& dot, const Instruction& kernel);
  void MarkUndivided(const Instruction& dot, const ArrayAlong& dims);
  Status ReadDivided(const Instruction& kernel, const Known& known);
  Status EndWith(const Instruction& kernel);
  /// Makes a bias of what is added to scores, and of masks, where that takes no more bytes than it spares.
  Status ReadBias(ElementType of_queries, int64_t spared);
  Status ReadResult(const Instruction& dot, const Instruction& kernel, const ArrayAlong& dims);

  std::optional<Known> See(const Instruction& inst);
  std::optional<Known> Convert(const Instruction& inst);
  std::optional<Known> Scale(const Instruction& inst);
  std::optional<Known> Cap(const Instruction& inst);
  std::optional<Known> Raise(const Instruction& inst);
  std::optional<Known> Divide(const Instruction& inst);
  std::optional<Known> Add(const Instruction& inst);
  /// A negative bias, which is to be made.
  std::optional<Known> TakeFrom(const Instruction& inst);
  std::optional<Known> Select(const Instruction& inst);
  std::optional<Known> Subtract(const Instruction& inst);
  std::optional<Known> Exponential(const Instruction& inst);
  std::optional<Known> Reduce(const Instruction& inst);

  /// Something waits for it besides who reads it, or it waits for something.
  static bool IsOrdered(const Instruction& inst) {
    return !inst.extras().control_predecessors.empty() || !inst.extras().control_successors.empty();
  }
  [[nodiscard]] const Known* Find(const Instruction* inst) const {
    const auto it = known_.find(inst);
    return it == known_.end() ? nullptr : &it->second;
  }
  /// Scores that something is added to, or that a mask leaves out, which are no longer scaled.
  [[nodiscard]] bool AreBiased() const { return unbiased_.inst != nullptr; }
  /// The value that a bias or a mask makes of an operand.
  Known Biased(const Instruction& inst, const Instruction* scores);
  bool LeaveOut(double masked);
  std::optional<Known> ScaleBy(const Known& scores, double factor);
  [[nodiscard]] std::optional<Pair> OneKnown(const Instruction& inst) const;
  bool ReadMask(const Instruction& keep, const View& scores, bool inverted);
  bool ReadArray(const Instruction& bias, const View& scores);
  /// The dimensions are all keys and nothing else; the first time it is found out what the keys are.
  bool AreKeys(llvm::ArrayRef<ViewDim> dims);
  /// Dimensions that go through these scores, each once.
  static bool Covers(llvm::ArrayRef<ViewDim> dims, int64_t begin, int64_t end);
  /// A value without keys is the same for all of these of another one.
  [[nodiscard]] bool GoesAlong(const View& rows, const View& all) const;
  /// The array that a view within a kernel is of, in the order in which it lies in memory.
  void Resolve(View& view, const Instruction& kernel);

  AttentionArrays found_;
  llvm::DenseMap<const Instruction*, Known> known_;
  int version_ = 0;
  const Instruction* kernel_ = nullptr;  // that is being followed
  const Instruction* last_ = nullptr;    // the step that makes the result
  bool divides_later_;
  std::string why_;                 // a rule declines
  PlacedValue unbiased_, biased_;   // scores before and behind all biases and masks
  std::optional<double> left_out_;  // what masks make of scores
  bool made_ = false;               // the bias is no array, or there is more than the library has
  llvm::SmallSetVector<const Instruction*, 8> before_, arrays_;
  std::vector<const Instruction*> behind_;
};

}  // namespace hlo::gpu
