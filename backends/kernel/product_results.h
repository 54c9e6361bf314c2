// What kernels of products make of the sums that the lanes of their warps have.
#pragma once
#include "backends/kernel/product_steps.h"
#include "backends/kernel/tile_places.h"

namespace hlo::kernel {

/// A tile of a product, and its end: sums go from warps through shared memory to the threads that compute and
/// store what is made of them.
class ProductResults : protected TilePlaces {
 protected:
  /// A factor, and how pieces of it lie in shared memory: lines of neighbours, in depth or along its loops.
  struct Operand {
    const Product::Factor* factor = nullptr;
    int64_t edge = 0;      // of a tile
    ValueId value = -1;    // what is staged
    bool in_depth = true;  // neighbours are
    int64_t width = 1;     // neighbours that a thread moves at once
    bool copied = false;   // by copies that threads do not wait for
    BufferId shared = -1;
    ValueId tile = -1;  // which of them
    [[nodiscard]] int64_t lines(const ProductShape& shape) const { return in_depth ? edge : shape.depth; }
    [[nodiscard]] int64_t run(const ProductShape& shape) const { return in_depth ? shape.depth : edge; }
  };

  ProductResults(Kernel& kernel, const ProductShape& shape, const Product& product, Region body)
      : TilePlaces(kernel, shape.threads()), shape_(shape), product_(product), body_(std::move(body)) {}

  /// What is behind the sum over all pieces.
  void MakeResults();

  static int64_t BytesOf(ElementType type) { return Info(type).host_bytes(); }
  [[nodiscard]] int64_t WarpRows() const { return shape_.rows / shape_.warp_rows; }
  [[nodiscard]] int64_t WarpColumns() const { return shape_.columns / shape_.warp_columns; }
  [[nodiscard]] int64_t UnitsDown() const { return WarpRows() / shape_.unit.rows; }
  [[nodiscard]] int64_t UnitsAcross() const { return WarpColumns() / shape_.unit.columns; }
  [[nodiscard]] Address SumAt(LoopId down, LoopId across) const {
    Address at = Counting(down, UnitsAcross() * SumWords(shape_.unit));
    at.AddLoop(across, SumWords(shape_.unit));
    return at;
  }
  void Substitute(Region& region, const Bys& bys) {
    for (const By& by : renamed_) ThreadStmts::Substitute(region, by.loop, by.place);
    for (const By& by : bys) ThreadStmts::Substitute(region, by.loop, by.place);
  }

  ProductShape shape_;
  const Product& product_;
  Region body_;
  Operand left_, right_;
  Bys batch_, renamed_;
  LoopId lane_ = -1, warp_ = -1;
  ValueId warp_row_ = -1, warp_column_ = -1;
  BufferId sums_ = -1, left_words_ = -1, right_words_ = -1;

 private:
  [[nodiscard]] int64_t PitchOfSums() const { return shape_.columns + GapOfSums(shape_.unit); }
  /// Rows of units that warps hand on at once: as many as there is memory for in that of a factor.
  [[nodiscard]] int64_t UnitsAtOnce(int64_t bytes) const;
  [[nodiscard]] int64_t BytesOfSums(int64_t units) const;
  /// What a row of the results takes at once: of the widest elements that are stored.
  [[nodiscard]] int64_t WidthOfResults(const Region& region) const;
  void HandOn(BufferId handed, int64_t units, LoopId pass, ValueId group, ValueId part);
  /// The row in which a line stands of those that warps hand on at once.
  [[nodiscard]] Address RowOfLine(const Address& line, int64_t units, LoopId pass);
  [[nodiscard]] ValueId BothExist(ValueId exists, const Address& row, const Address& column);
  /// Sums that are no numbers may be so by padding that met what is infinite: those are taken again.
  void Repair(BufferId handed, int64_t units, LoopId pass);
  /// The body with the sums in place of the reduction, its values that are stored and what they need.
  Region Results(ValueId& sum);
  void TakeResults(BufferId handed, int64_t units, LoopId pass);
};

}  // namespace hlo::kernel
