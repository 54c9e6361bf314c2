// Products of BF16 numbers and of 8-bit integers, a word of neighbouring steps at a time: pairs or fours.
#pragma once
#include <cstdint>

namespace hlo::gemm {

/// What is multiplied: BF16 numbers into float sums, or signed (S) and unsigned (U) bytes into 32-bit sums.
enum class GroupKind : uint8_t { Bf16, SS, SU, US, UU };

constexpr bool IsOfOneSign(GroupKind kind) { return kind == GroupKind::SS || kind == GroupKind::UU; }

inline constexpr int64_t kGroupRows = 32, kGroupColumns = 32;  // of the result at a time
inline constexpr int64_t kGroupStepBytes = 64;                 // of a row of the left factor, used at a time

struct GroupArgs {
  int64_t steps;  // of kGroupStepBytes
  const void* left;
  int64_t left_stride;  // between rows, bytes
  /// As Interleave writes it.
  const void* right;
  void* sums;           // float or int32_t
  int64_t sums_stride;  // bytes
  bool accumulate;
  int64_t columns = kGroupColumns;  // that are wanted, or more; any others may be left out
  /// If not null, sums are rounded to BF16 and written here, not to `sums`: only where GroupKernels::narrows,
  /// with all columns.
  void* narrow = nullptr;
  int64_t narrow_stride = 0;  // bytes
  /// If not null, the rows of the left factor lie apart, in several runs: only where GroupKernels::run_rows.
  /// Run r of row i has run_words[r] words at run_rows[r * run_stride + i] + run_offsets[r] bytes; no
  /// offsets: zeros.
  const void* const* run_rows = nullptr;
  int64_t runs = 0, run_stride = 0;
  const int64_t *run_words = nullptr, *run_offsets = nullptr;
};

inline constexpr int kWordRows = 8, kWordLanes = 16;
inline constexpr int64_t kWordBytes = 4, kWordVectorBytes = 64;

/// Windows over few features of kWordRows rows, groups of steps being words: neighbouring features.
struct WordArgs {
  const uint8_t* const* rows;  // where the features of the first group begin for the first tap
  int64_t taps;
  const int64_t* tap_offsets;            // bytes
  int64_t words;                         // of a group and tap
  bool half;                             // the last of them has one BF16 number; only where `together` is 1
  int64_t groups, group_bytes, outputs;  // group_bytes: of the input; outputs: of a group
  /// Groups that share a vector of results, each with `outputs` lanes that find the group's first word at
  /// `lanes` of theirs, at most 16 together; 1: each has vectors of its own.
  int64_t together;
  const int32_t* lanes;
  /// By vector, tap and word: kWordLanes words. Sums start from the values of `start`, by vector.
  const void* weights;
  const int32_t* start;
  /// By row: groups * outputs float or int32_t, or with `narrow` BF16 numbers or bytes; then they fill
  /// vectors.
  uint8_t* const* out;
  bool narrow;
};

/// How features on the left meet those on the right, which are lanes: each its own one (`Same`), those of its
/// group by a permutation (`Groups`), all of a vector (`Single`).
enum class PositionForm : uint8_t { Same, Groups, Single };
/// By features of a group on both sides.
constexpr PositionForm PositionFormOf(int64_t left, int64_t right, int64_t groups) {
  if (left == 1 && right == 1) return PositionForm::Same;
  return groups > 1 && (left > right ? left : right) <= kWordLanes / 2 ? PositionForm::Groups
                                                                       : PositionForm::Single;
}

/// Products of features of two arrays of words, each of neighbouring positions, summed over these.
struct PositionArgs {
  const uint8_t *left, *right;
  /// Where the words of each step begin, and those on the left of each row of the result, in bytes.
  int64_t steps;
  const int64_t *left_offsets, *right_offsets;
  int64_t rows;
  const int64_t* row_offsets;
  /// Not for Single: bits by which words of a row are shifted right, while the next ones, `left_step` bytes
  /// on, follow from the left; may be null.
  const int32_t* row_shifts;
  int64_t left_step;
  int64_t left_features, right_features, groups;  // of a group
  /// By row, feature on the left, group and feature on the right, which is added to. Words up to the end of a
  /// vector may be read.
  void* sums;
};

/// A line of positions, which are `step` bytes apart, as words by feature: those outside of [begin, end) are
/// zeros.
struct WeaveArgs {
  const uint8_t* in;  // of position 0
  int64_t step, begin, end;
  int64_t words, features;
  uint8_t* out;  // `features` words for each; written up to the end of a vector
};

/// What multiplies groups.
struct GroupKernels {
  const char* name;
  /// rows x kGroupColumns sums; rows <= `rows`, as prepared.
  void (*multiply)(GroupKind kind, int64_t rows, const GroupArgs& args);
  /// Makes this thread ready for so many rows, and gives back what that took; may be null.
  void (*prepare)(int64_t rows);
  void (*release)();
  /// Rows and columns of the result done at a time, and products worth waking a thread for.
  int64_t row_piece, column_piece;
  double work_per_task;
  /// The same of results whose sums and left factor are used where they lie; zero: as above.
  int64_t long_row_piece = 0, long_column_piece = 0;
  /// Sums of windows; may be null.
  void (*words)(GroupKind kind, const WordArgs& args) = nullptr;
  /// Gradients by weights, of bytes with results that wrap; may be null.
  void (*positions)(const PositionArgs& args) = nullptr;
  void (*weave)(const WeaveArgs& args) = nullptr;
  /// All columns of a piece pass by the rows that `multiply` takes, which stay in the first cache; else all
  /// rows by its columns.
  bool rows_stay = false;
  /// The most that `multiply` takes: multiples of kGroupRows.
  int64_t rows = kGroupRows;
  /// Left factors of these kinds are moved by 128 to the other sign before they come to `multiply`; may be
  /// null.
  bool (*moves_left)(GroupKind kind) = nullptr;
  /// `multiply` can write BF16 results of BF16 factors.
  bool narrows = false;
  /// The most rows that `multiply` reads by runs, of kinds that are not moved; 0: none.
  int64_t run_rows = 0;
};

/// Tile registers (AMX), for all kinds; the instructions of AVX512-BF16, for pairs; those of AVX512-VNNI, for
/// bytes, or AArch64's for dot products. Null if this processor lacks them, the system does not let us use
/// them, or they are slow.
const GroupKernels* TileRegisterKernels();
const GroupKernels* PairKernels();
const GroupKernels* FourKernels();

/// Brings rows k of a right factor into the order of `multiply`: groups of 4 / sizeof(E) rows interleaved,
/// kGroupColumns columns, zero beyond `count` columns and from `depth` to `padded_depth` rows. The processor
/// must have AVX512.
void Interleave16(const uint16_t* in, int64_t in_stride, int64_t depth, int64_t padded_depth, int64_t count,
                  uint16_t* out);
void Interleave8(const uint8_t* in, int64_t in_stride, int64_t depth, int64_t padded_depth, int64_t count,
                 uint8_t* out);

}  // namespace hlo::gemm
