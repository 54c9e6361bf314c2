// Copies parts of operands into the order in which kernels read them.
#pragma once
#include <optional>

#include "backends/products/common/kernels.h"
#include "backends/products/common/problem.h"

namespace hlo::gemm {

inline constexpr int64_t kMaxPanel = 64;    // rows packed at a time
inline constexpr int64_t kMaxDepth = 1024;  // steps of a block

struct RowSet;

/// The steps of one block of an operand: what is the same for all its rows.
class BlockSteps {
 public:
  BlockSteps(const Operand& operand, const Block& block, bool channels_outer);
  [[nodiscard]] int64_t depth() const { return block_.depth(); }
  /// If all steps follow one another at one distance and none is out of bounds: the first and the distance.
  [[nodiscard]] std::optional<std::pair<int64_t, int64_t>> Uniform() const;
  /// The steps of a row follow one another side by side in memory, in runs that are worth looking up, each of
  /// a multiple of `unit` steps.
  [[nodiscard]] bool HasLongRuns(int64_t unit = 1) const;

 private:
  friend class Packer;
  /// All steps of a run are neighbours in memory, in their order.
  [[nodiscard]] bool HasRuns() const {
    return block_.channels() == 1 ? HasLines() : !channels_outer_ && operand_.channel_stride == 1;
  }
  /// Taps are neighbours in memory where they are neighbours in a block.
  [[nodiscard]] bool HasLines() const {
    return (channels_outer_ || block_.channels() == 1) && operand_.taps.stride() == 1;
  }
  [[nodiscard]] bool HasLongLines() const;
  /// Taps are neighbours in memory, whatever their order in a block, and none is out of bounds.
  [[nodiscard]] bool HasTapsInside() const;
  /// How many taps from one on lie side by side in memory, channels and all or channel by channel, if
  /// bounds allow it.
  [[nodiscard]] int64_t TapRun(size_t tap) const;
  void FindRuns();
  /// No step of a row is out of bounds.
  [[nodiscard]] bool IsInside(const RowSet& rows, int64_t row) const;
  /// The taps of a run that are inside, for a row at `positions`, by bound.
  [[nodiscard]] std::pair<int64_t, int64_t> InsideOfRun(llvm::ArrayRef<int64_t> positions, int64_t tap,
                                                        int64_t count) const;
  const Operand& operand_;
  Block block_;
  bool channels_outer_;
  llvm::SmallVector<int64_t, 64> taps_;                             // offsets
  llvm::SmallVector<llvm::SmallVector<int64_t, 64>, 0> positions_;  // of taps, by bound
  llvm::SmallVector<std::pair<int64_t, int64_t>, 16> runs_;         // of taps: first and count
  llvm::SmallVector<std::pair<int64_t, int64_t>, 2> reach_;         // least and greatest position, by bound
};

/// Rows of an operand that are read where they lie.
struct RowsOfRuns {
  /// By run: its steps, and the elements between the beginning of a row and that of its run.
  llvm::SmallVector<int64_t, 16> lengths, offsets;
  llvm::SmallVector<const void*, 256> rows;
  /// Rows with steps out of bounds, by increasing number; run r of edge e begins at edge_runs[e * runs() +
  /// r].
  llvm::SmallVector<int64_t, 64> edges;
  llvm::SmallVector<const void*, 256> edge_runs;
  /// By edge: all its runs but [first, second) are zeros.
  llvm::SmallVector<std::pair<int64_t, int64_t>, 64> edge_inside;
  [[nodiscard]] int64_t runs() const { return static_cast<int64_t>(lengths.size()); }
  /// Run r of row i of some begins at rows[r * stride + i] + offsets[r]; no offsets: zeros.
  struct Some {
    const void* const* rows;
    const int64_t* offsets;
    int64_t stride;
  };
  /// Rows [row, row + count). `edge`: the first of the edges that is not before `row`, which goes on; `table`
  /// is used for rows with edges; offsets count units of `unit` bytes.
  Some Of(int64_t row, int64_t count, int64_t unit, size_t& edge,
          llvm::SmallVectorImpl<const void*>& table) const;
};

/// Packs elements as they are, by their size.
class Packer {
 public:
  Packer(const KernelSet& kernels, int element_bytes) : kernels_(kernels), bytes_(element_bytes) {}
  /// out[i * stride + k] = element (row_begin + i, k) for i < count.
  void Rows(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count, int64_t stride,
            void* out) const;
  /// Finds rows whose steps are HasLongRuns() where they lie. Runs of an edge row are in the array, among
  /// zeros or, where they are in part out of bounds, packed in `out`, which has room for all rows.
  void RowsInPlace(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count, void* out,
                   RowsOfRuns& rows) const;
  /// The same as Rows() of rows that are neighbours in memory while their steps are not, by way of panels;
  /// `stride` is at least the depth, rounded up to a multiple of 4.
  void RowsByPanels(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count,
                    int64_t stride, void* out) const;
  /// out[k * width + i] = the same, zero for count <= i < width; count <= width <= kMaxPanel, width a
  /// multiple of 4.
  void Panel(const BlockSteps& steps, const void* data, int64_t row_begin, int64_t count, int64_t width,
             void* out) const;

 private:
  /// Rows of one run that is inside are left there if `at` is not null, which gets a pointer to each row.
  template <class E>
  void PackRows(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count, int64_t stride,
                E* out, const void** at) const;
  template <class E>
  void PackPanel(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count, int64_t width,
                 E* out) const;
  template <class E>
  void FindRows(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count, E* out,
                RowsOfRuns& rows) const;
  /// PackPanel() of rows whose steps are neighbours, by way of rows.
  template <class E>
  void TransposeLines(const BlockSteps& steps, const E* data, int64_t row_begin, int64_t count, int64_t width,
                      E* out) const;
  const KernelSet& kernels_;
  int bytes_;
};

}  // namespace hlo::gemm
