// Tiles of rows that lie in runs.
#include "backends/products/dot/packed_gemm_run.h"

#include <algorithm>
#include <numeric>

namespace hlo::gemm {

template <class T>
void TileRun<T>::SetEdgesApart(Tables& tables) {
  RowsOfRuns& runs = tables.runs;
  const size_t edges = runs.edges.size(), count = runs.rows.size();
  tables.run_targets.resize_for_overwrite(count);
  tables.edges.resize_for_overwrite(edges * runs.lengths.size());
  size_t inside = 0, edge = 0;
  for (size_t i = 0; i <= edges; ++i) {
    const size_t end = i < edges ? static_cast<size_t>(runs.edges[i]) : count;
    for (; edge + inside < end; ++inside) {
      runs.rows[inside] = runs.rows[edge + inside];
      tables.run_targets[inside] = tables.targets[edge + inside];
    }
    if (i == edges) break;
    tables.run_targets[count - edges + edge] = tables.targets[edge + inside];
    for (size_t r = 0; r < runs.lengths.size(); ++r)
      tables.edges[r * edges + edge] = static_cast<const T*>(runs.edge_runs[edge * runs.lengths.size() + r]);
    ++edge;
  }
}

template <class T>
void TileRun<T>::RunTiles(TileArgs<T>& args, int64_t count) const {
  if (count == 0) return;
  const int64_t tiles = (count + tiles_.rows - 1) / tiles_.rows, least = count / tiles,
                higher = count % tiles;
  const auto run = [&](int64_t height, int64_t tiles_of) {
    args.tiles = tiles_of;
    tiles_.run[height - 1](args);
    args.a += height * tiles_of;
    args.c += height * tiles_of;
  };
  int64_t first = 0;
  // The first tile packs for those that follow; low ones do not, and leave it to the next rows.
  if (const int64_t height = least + (higher > 0 ? 1 : 0); args.pack != nullptr && 2 * height > tiles_.rows) {
    run(height, first = 1);
    args.b = args.pack;
    args.b_step = args.pack_step;
    args.padded = true;
    args.pack = nullptr;
  }
  if (higher > first) run(least + 1, higher - first);
  if (tiles > std::max(higher, first)) run(least, tiles - std::max(higher, first));
}

template <class T>
void TileRun<T>::MultiplyRuns(const Piece& piece, const Right& right, int64_t depth, bool accumulate,
                              const Tables& tables) const {
  const int64_t columns = piece.columns() * plan_.parts_, panel = plan_.panel_ * plan_.parts_,
                edges = static_cast<int64_t>(tables.runs.edges.size()), inside = piece.rows() - edges;
  for (int64_t p = 0, column = 0; column < columns; ++p, column += panel) {
    TileArgs<T> args{.depth = depth,
                     .a = reinterpret_cast<const T* const*>(tables.runs.rows.data()),
                     .a_step = 1,
                     .b = right.first + p * right.panel_distance,
                     .b_step = right.step,
                     .c = tables.run_targets.data(),
                     .columns = static_cast<int>(std::min(panel, columns - column)),
                     .padded = right.padded,
                     .accumulate = accumulate,
                     .pack = right.pack,
                     .pack_step = panel,
                     .run_lengths = tables.runs.lengths.data(),
                     .run_offsets = tables.runs.offsets.data(),
                     .runs = tables.runs.runs(),
                     .c_offset = column};
    RunTiles(args, inside);
    args.run_stride = edges;
    args.run_offsets = nullptr;
    RunEdges(args, tables);
  }
}

template <class T>
void TileRun<T>::RunEdges(TileArgs<T>& args, const Tables& tables) const {
  const RowsOfRuns& runs = tables.runs;
  const auto edges = static_cast<int64_t>(runs.edges.size());
  for (int64_t edge = 0, end = 0; edge < edges; edge = end) {
    auto [first, last] = runs.edge_inside[static_cast<size_t>(edge)];
    for (end = edge + 1; end < edges; ++end) {
      const auto next = runs.edge_inside[static_cast<size_t>(end)];
      if (end - edge >= tiles_.rows && next != std::pair(first, last)) break;
      first = std::min(first, next.first);
      last = std::max(last, next.second);
    }
    // Who packs reads all.
    if (args.pack != nullptr || first >= last) first = 0, last = runs.runs();
    const int64_t skipped =
        std::accumulate(runs.lengths.begin(), runs.lengths.begin() + first, int64_t{0}) * args.b_step;
    args.a = tables.edges.data() + first * edges + edge;
    args.runs = last - first;
    args.run_lengths = runs.lengths.data() + first;
    args.b += skipped;
    RunTiles(args, end - edge);
    args.b -= skipped;
  }
}

#define HLO_RUNS_OF(T)                                                   \
  template void TileRun<T>::SetEdgesApart(Tables&);                      \
  template void TileRun<T>::RunEdges(TileArgs<T>&, const Tables&) const; \
  template void TileRun<T>::MultiplyRuns(const Piece&, const Right&, int64_t, bool, const Tables&) const;
HLO_RUNS_OF(float)
HLO_RUNS_OF(double)
HLO_RUNS_OF(uint32_t)
HLO_RUNS_OF(uint64_t)
#undef HLO_RUNS_OF

}  // namespace hlo::gemm
