// Runs problems: cuts them into blocks for the kernels, on all threads.
#pragma once
#include <string>

#include "backends/gemm/group_run.h"
#include "backends/gemm/isa.h"
#include "backends/gemm/kernels.h"
#include "backends/gemm/problem.h"
#include "backends/gemm/word_run.h"

namespace hlo::gemm {

/// The ways in which a product can be computed.
enum class Method : uint8_t {
  Tiles,
  Groups,
  Words,
  Positions,
  Planes,
  PlaneGradient,
  Thin,
  Lanes,
  Featurewise,
  Channelwise,
  FewColumns,
  Windowed
};

/// A problem made ready. Immutable; runs on several threads at once.
class Product {
 public:
  Product(Problem problem, const Target& target);
  /// Computes the result at `out` from the arrays of the operands. The result does not depend on the number
  /// of threads. After an interrupt the contents are undefined: the caller checks.
  void Run(const void* lhs, const void* rhs, void* out) const;
  /// Whether some rows of the result can be computed apart from others, by RunRows().
  [[nodiscard]] bool RunsByRows() const;
  /// The same bits as Run() for some rows, in the calling thread. Only they are read and written: of the left
  /// factor and the result no more needs to be there. Demands RunsByRows().
  void RunRows(const Rows& rows, const void* lhs, const void* rhs, void* out) const;
  /// Many small products of windows, for which there is no good way here.
  [[nodiscard]] bool IsSlow() const;
  /// Zeros beyond the ends of an operand are multiplied, which gives NaN for infinite factors.
  [[nodiscard]] bool MultipliesPadding() const;
  /// `f32, tiles of 8x48`, for --explain-codegen.
  [[nodiscard]] std::string Describe() const;

 private:
  void ChooseMethod();
  /// Steps multiplied at a time by tiles; more where the right factor has few columns.
  [[nodiscard]] int64_t StepsPerBlock() const;
  /// Bytes of one group with enough channels to be multiplied by fours rather than in lanes of features.
  [[nodiscard]] bool IsBetterInGroups() const;
  void Exchange();
  [[nodiscard]] bool IsBetterExchanged() const;
  void CutResult();
  /// Cuts windows of few positions into columns alone, the same for all threads: each part of the weights is
  /// read once. False if that is no better.
  bool CutWindowsByColumns(int64_t lanes, int64_t widest);

  template <class T>
  friend class TileRun;

  Problem problem_;
  bool exchanged_ = false;
  Target target_;
  const KernelSet& kernels_;
  Method method_ = Method::Tiles;
  std::optional<GroupKind> kind_;  // of method Groups
  const GroupKernels* groups_ = nullptr;
  std::optional<WordWay> words_;  // of methods Words and Positions
  std::vector<Block> blocks_;
  /// Long sums of few elements are made of parts, one per so many blocks, that are added in order.
  size_t blocks_per_part_ = 0;
  int parts_ = 1;                             // 2 for complex elements
  int64_t panel_ = 1;                         // columns of a panel of the right factor
  int64_t row_piece_ = 1, column_piece_ = 1;  // of the result, done at a time
};

/// True if products of these operands can be computed here. The types are those of the arrays and of the
/// result.
bool IsSupported(ElementType lhs, ElementType rhs, ElementType result);

}  // namespace hlo::gemm
