// Products by register tiles.
#pragma once
#include "backends/products/common/pack.h"
#include "backends/products/dot/packed_gemm.h"
#include "ir/support/buffer.h"

namespace hlo::gemm {

inline constexpr int64_t kDirectRows = 32;  // up to here packing the right factor does not pay

/// One execution of a plan; T is the C++ type of its compute type.
template <class T>
class TileRun {
 public:
  TileRun(const TilePlan& plan, const void* lhs, const void* rhs, void* out);
  void Run();
  /// All columns of some rows, in the calling thread.
  void RunRows(const Rows& rows);

 private:
  struct Piece {
    int64_t batch, row_begin, row_end, column_begin, column_end;
    [[nodiscard]] int64_t rows() const { return row_end - row_begin; }
    [[nodiscard]] int64_t columns() const { return column_end - column_begin; }
  };
  /// Where the rows of a factor's block are: element (i, k) at rows[i][k * step].
  struct Left {
    const T* const* rows;
    int64_t step;
    bool in_runs = false;  // rows lie as Tables::runs has it
  };
  /// Panel p of the other factor: row k at first + p * panel_distance + k * step.
  struct Right {
    const T* first;
    int64_t panel_distance, step;
    bool padded;
    T* pack = nullptr;  // where the first tile of each panel copies it for the others; may be null
  };
  /// What each tile but the first fetches of the next panel: `rows` at each of `lines` of its own steps.
  struct Fetching {
    int64_t lines, rows;
  };
  /// Tables of some pieces, with room for most.
  struct Tables {
    llvm::SmallVector<const T*, 256> rows;
    llvm::SmallVector<T*, 256> targets;
    llvm::SmallVector<int64_t, 256> offsets;
    RowsOfRuns runs;
    llvm::SmallVector<const T*, 256> edges;  // run by run, all that have edges
    llvm::SmallVector<T*, 256> run_targets;  // of rows without edges, and with
  };

  /// A batch of small products whose operands lie as the tiles read them; false: it is none.
  bool RunInPlace() const;
  /// The same if each product is one tile: `grain` of them in one call. Pointers as the kernel reads them.
  bool RunBatch(const Piece& piece, int64_t depth, int64_t grain, const T* left, int64_t left_step,
                const T* right, int64_t right_step, T* out) const;
  [[nodiscard]] Piece PieceAt(int64_t number) const;
  void RunPiece(const Piece& piece, Tables& tables) const;
  /// The sums of a piece over the blocks [first, end), at `targets`.
  void Sum(const Piece& piece, size_t first, size_t end, Tables& tables) const;
  /// The same for pieces whose sums are made of parts.
  void RunInParts(int64_t pieces) const;
  void MakeLeft(const Piece& piece, size_t block, Tables& tables, Left& left) const;
  void MakeLeft(const Piece& piece, const BlockSteps& steps, Tables& tables, Left& left) const;
  void MakeRight(const Piece& piece, size_t block, Right& right) const;
  /// The steps of the right factor lie as tiles read them, and are not worth a copy.
  [[nodiscard]] bool StaysInPlace(const BlockSteps& steps, int64_t columns) const;
  /// The steps of the right factor are rows of neighbours that tiles can read, though far apart.
  [[nodiscard]] bool IsReadable(const BlockSteps& steps, int64_t columns) const;
  /// Panels of some columns of a block, one after the other.
  void PackRight(const BlockSteps& steps, int64_t batch, int64_t column, int64_t columns, T* packed) const;
  /// Packs the right factor once for all pieces, if several would do so.
  void ShareRight();
  /// Puts rows that lie in runs without edges before those with: pointers and, from `targets`, sums.
  static void SetEdgesApart(Tables& tables);
  /// The same as Multiply() of such rows.
  void MultiplyRuns(const Piece& piece, const Right& right, int64_t depth, bool accumulate,
                    const Tables& tables) const;
  /// The tiles of edges, each without runs that are zeros for all its rows.
  void RunEdges(TileArgs<T>& args, const Tables& tables) const;
  /// Tiles of nearly equal heights of `count` rows, to whose end `args` goes on.
  void RunTiles(TileArgs<T>& args, int64_t count) const;
  void Multiply(const Piece& piece, const Left& left, const Right& right, int64_t depth, bool accumulate,
                T* const* targets) const;
  /// Has tile `tile` fetch its share of panel `panel`, which comes next.
  void FetchRight(const Right& right, int64_t panel, int64_t depth, int64_t tile, const Fetching& fetching,
                  TileArgs<T>& args) const;
  void CopyPanels(const T* first, int64_t stride, int64_t columns, int64_t depth, T* out) const;
  void ExpandComplex(const T* in, int64_t depth, int64_t width, T* out) const;
  /// The columns of the piece lie side by side in the result, which stores sums as they are.
  [[nodiscard]] bool IsDirect(const Piece& piece) const;
  void StorePiece(const Piece& piece, const T* sums) const;
  /// Between rows of sums of a piece that is not direct.
  [[nodiscard]] int64_t Stride(const Piece& piece) const;

  const TilePlan& plan_;
  const Problem& problem_;
  const KernelSet& kernels_;
  const Tiles<T>& tiles_;
  const uint8_t *lhs_, *rhs_;
  uint8_t* out_;
  int64_t row_pieces_, column_pieces_;
  llvm::SmallVector<int64_t, 16> starts_;  // the first step of each block
  Buffer<T> shared_;                       // the packed right factor: by batch, block and panel; or null
};

}  // namespace hlo::gemm
