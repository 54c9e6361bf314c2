#include "backends/products/conv/direct_vnni.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backends/products/common/scratch.h"
#include "backends/products/common/sums.h"
#include "backends/products/dot/packed_gemm_vnni.h"
#include "ir/support/buffer.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::gemm {
namespace {

constexpr double kLeastWork = 1 << 17, kWorkPerTask = 1 << 18;  // products; the latter worth waking a thread
constexpr int64_t kMostChannels = 64, kMostOutputs = 64, kFewestOutputs = 8, kMostTaps = 1024;
constexpr int64_t kMostOfOne = 16;           // channels where there is but one group
constexpr int64_t kStagedBytes = 128 << 10;  // of a band of an image
constexpr int64_t kMostStaged = 4 << 20;     // of the least band
constexpr int64_t kBandRows = 2048;          // whose places stay in the first cache,
constexpr int64_t kBandReach = 8;            // unless bands are not so many times as high as windows
constexpr int64_t kSlack = 64;               // words may end beyond what is staged
constexpr uint8_t kMove = 0x80;

/// How words of features come about.
struct WordPlan {
  llvm::SmallVector<WindowDimension, 3> dims;  // as they lie in the input, outermost first
  int64_t groups;                              // staged together
  int64_t channels;                            // of a group, and of as many taps as `merged`
  int64_t merged;                              // taps of the last dimension that count as channels
  int64_t words, together;
  bool in_place;  // nothing has to be staged
};

/// Taps of the last dimension are neighbours, as features are.
bool CanMerge(const Problem& problem, const WindowDimension& last) {
  return problem.batches() == 1 && last.per_tap == 1;
}

WordPlan PlanOf(const Problem& problem, int64_t element_bytes, bool moved) {
  WordPlan plan;
  plan.dims.assign(problem.windows->dims.begin(), problem.windows->dims.end());
  llvm::sort(plan.dims, [](const auto& a, const auto& b) { return a.lhs_stride > b.lhs_stride; });
  const Index& batch = problem.lhs.batch;
  const bool neighbours = batch.count() == 1 || (batch.IsUniform() && batch.stride() == problem.channels);
  plan.groups = neighbours ? problem.batches() : 1;
  plan.merged = CanMerge(problem, plan.dims.back()) ? plan.dims.back().taps : 1;
  plan.channels = problem.channels * plan.merged;
  plan.words = (plan.channels * element_bytes + kWordBytes - 1) / kWordBytes;
  plan.together =
      std::max<int64_t>(std::min({kWordLanes / problem.columns(), kWordLanes / plan.words, plan.groups}), 1);
  // No window reaches beyond the input, nor any word beyond its window.
  plan.in_place = !moved && problem.lhs.bounds.empty() && plan.channels * element_bytes % kWordBytes == 0;
  return plan;
}

/// Left factors whose elements are moved by 128, to the other sign.
bool IsMoved(GroupKind kind) { return kind == GroupKind::SS || kind == GroupKind::UU; }

class WordRun {
 public:
  WordRun(const Problem& problem, const WordWay& way, const KernelSet& kernels, const void* lhs,
          const void* rhs, void* out)
      : problem_(problem),
        way_(way),
        kernels_(kernels),
        lhs_(static_cast<const uint8_t*>(lhs)),
        rhs_(static_cast<const uint8_t*>(rhs)),
        out_(static_cast<uint8_t*>(out)),
        bytes_(Info(problem.lhs.type).host_bytes()),
        moved_(IsMoved(way.kind)),
        plan_(PlanOf(problem, bytes_, moved_)),
        direct_(IsStoredAs(problem.type, problem.compute)),
        sets_(problem.batches() / plan_.groups),
        position_bytes_(plan_.groups * problem.channels * bytes_) {
    FindLengths();
    FindTaps();
    FindVectors();
    narrow_ = StoresNarrow();
    CutBands();
    FindRows();
  }

  void Run() {
    constexpr int64_t kPackedBytes = 64 << 10;  // that are worth a thread
    weights_ = MakeBuffer<uint8_t>(static_cast<size_t>(sets_ * vectors_ * vector_bytes_));
    start_ = MakeBuffer<int32_t>(static_cast<size_t>(sets_ * vectors_ * kWordLanes));
    ParallelFor(0, sets_ * vectors_, std::max<int64_t>(kPackedBytes / vector_bytes_, 1),
                [&](int64_t begin, int64_t end) {
                  for (int64_t v = begin; v < end; ++v) PackVector(v / vectors_, v % vectors_);
                });
    const int64_t images = problem_.windows->images;
    ParallelFor(0, sets_ * images * bands_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && !Interrupted(); ++i)
        Band(i / bands_ / images, i / bands_ % images, i % bands_);
    });
  }

 private:
  /// Positions of the input that the windows of a band reach, by dimension.
  void FindLengths() {
    for (const WindowDimension& d : plan_.dims)
      lengths_.push_back((d.outputs - 1) * d.per_output + (d.taps - 1) * d.per_tap + 1);
    const size_t rank = lengths_.size();
    pitches_.resize(rank);
    int64_t pitch = position_bytes_;
    for (size_t t = rank; t-- > 0; pitch *= lengths_[t])
      pitches_[t] = plan_.in_place ? plan_.dims[t].lhs_stride * bytes_ : pitch;
  }

  /// All taps that are not merged, in the order of the dimensions.
  void FindTaps() {
    llvm::SmallVector<Axis, 4> staged, weights;
    for (size_t t = 0; t < plan_.dims.size(); ++t) {
      const WindowDimension& d = plan_.dims[t];
      const int64_t taps = t + 1 == plan_.dims.size() ? d.taps / plan_.merged : d.taps;
      staged.push_back({taps, d.per_tap * pitches_[t]});
      weights.push_back({taps, d.rhs_stride});
    }
    tap_offsets_.resize(static_cast<size_t>(Index(staged).count()));
    Index(staged).Fill(0, taps(), tap_offsets_.data());
    tap_weights_.resize(tap_offsets_.size());
    Index(weights).Fill(0, taps(), tap_weights_.data());
  }

  void FindVectors() {
    const int64_t outputs = problem_.columns(), group_words = problem_.channels * bytes_ / kWordBytes;
    vectors_ = plan_.together > 1 ? (plan_.groups + plan_.together - 1) / plan_.together
                                  : plan_.groups * ((outputs + kWordLanes - 1) / kWordLanes);
    vector_bytes_ = taps() * plan_.words * kWordVectorBytes;
    for (int64_t lane = 0; lane < kWordLanes; ++lane)
      lanes_[lane] = static_cast<int32_t>(std::min(lane / outputs, plan_.together - 1) * group_words);
  }

  /// Bands of outputs of the first dimension: what they reach stays in the second cache.
  void CutBands() {
    constexpr double kPiecesPerThread = 3;
    const WindowDimension& first = plan_.dims[0];
    const int64_t reach = (first.taps - 1) * first.per_tap,
                  lines = problem_.rows() / problem_.windows->images / first.outputs,
                  most = std::min((kStagedBytes / pitches_[0] - reach - 1) / first.per_output + 1,
                                  std::max(kBandRows / lines, kBandReach * reach / first.per_output + 1));
    const double work = static_cast<double>(problem_.rows()) * static_cast<double>(problem_.columns()) *
                        static_cast<double>(problem_.depth() * problem_.batches()),
                 pieces =
                     std::min(work / kWorkPerTask, kPiecesPerThread * static_cast<double>(ThreadCount())) /
                     static_cast<double>(problem_.windows->images * sets_);
    const auto wanted = std::max<int64_t>(static_cast<int64_t>(pieces), 1);
    band_ = std::max<int64_t>(std::min(most, (first.outputs + wanted - 1) / wanted), 1);
    bands_ = (first.outputs + band_ - 1) / band_;
    band_ = (first.outputs + bands_ - 1) / bands_;
    lengths_[0] = (band_ - 1) * first.per_output + (first.taps - 1) * first.per_tap + 1;
  }

  /// Where the rows of a band begin, in what is staged and in the result.
  void FindRows() {
    llvm::SmallVector<Axis, 4> staged, out;
    for (size_t t = 0; t < plan_.dims.size(); ++t) {
      const WindowDimension& d = plan_.dims[t];
      const int64_t outputs = t == 0 ? band_ : d.outputs;
      staged.push_back({outputs, d.per_output * pitches_[t]});
      out.push_back({outputs, d.out_stride});
    }
    rows_in_.resize(static_cast<size_t>(Index(staged).count()));
    Index(staged).Fill(0, static_cast<int64_t>(rows_in_.size()), rows_in_.data());
    rows_out_.resize(rows_in_.size());
    Index(out).Fill(0, static_cast<int64_t>(rows_in_.size()), rows_out_.data());
    for (int64_t& offset : rows_out_) offset *= Info(problem_.type).host_bytes();
  }

  /// Sums fill vectors and are rounded or wrap as they are stored.
  [[nodiscard]] bool StoresNarrow() const {
    const bool fit = way_.kind == GroupKind::Bf16 ? problem_.type == ElementType::BF16
                                                  : Info(problem_.type).bits == 8 && !IsPred(problem_.type);
    const int64_t outputs = problem_.columns();
    return fit &&
           (plan_.together > 1 ? plan_.together * outputs == kWordLanes && plan_.groups % plan_.together == 0
                               : outputs % kWordLanes == 0);
  }

  [[nodiscard]] int64_t taps() const { return static_cast<int64_t>(tap_offsets_.size()); }

  /// The weights of a vector of results, and what its sums start from: what moving the input adds too much.
  void PackVector(int64_t set, int64_t vector) {
    const Operand& rhs = problem_.rhs;
    const int64_t outputs = problem_.columns(), per_group = (outputs + kWordLanes - 1) / kWordLanes;
    int64_t from[kWordLanes], count = 0;  // of its lanes
    for (; count < kWordLanes; ++count) {
      const bool shared = plan_.together > 1;
      const int64_t group = shared ? vector * plan_.together + count / outputs : vector / per_group,
                    output = shared ? count % outputs : vector % per_group * kWordLanes + count;
      if (group >= plan_.groups || output >= outputs || (shared && count / outputs >= plan_.together)) break;
      from[count] = rhs.base + rhs.batch.At(set * plan_.groups + group) + rhs.rows.At(output);
    }
    uint8_t* to = weights_.get() + (set * vectors_ + vector) * vector_bytes_;
    int32_t* start = start_.get() + (set * vectors_ + vector) * kWordLanes;
    std::memset(to, 0, static_cast<size_t>(vector_bytes_));
    std::fill_n(start, kWordLanes, 0);
    for (size_t t = 0; t < tap_weights_.size(); ++t, to += plan_.words * kWordVectorBytes)
      for (int64_t c = 0; c < plan_.channels; ++c) {
        const int64_t step = tap_weights_[t] + c / problem_.channels * plan_.dims.back().rhs_stride +
                             c % problem_.channels * rhs.channel_stride,
                      at = c * bytes_;
        uint8_t* word = to + at / kWordBytes * kWordVectorBytes + at % kWordBytes;
        if (bytes_ == 2)
          PackStep<uint16_t>(step, from, count, word, start);
        else if (way_.kind == GroupKind::SS)
          PackStep<int8_t>(step, from, count, word, start);
        else
          PackStep<uint8_t>(step, from, count, word, start);
      }
  }

  /// One step of each lane.
  template <class E>
  void PackStep(int64_t step, const int64_t* from, int64_t count, uint8_t* word, int32_t* start) const {
    const E* in = reinterpret_cast<const E*>(rhs_) + step;
    for (int64_t lane = 0; lane < count; ++lane)
      std::memcpy(word + lane * kWordBytes, in + from[lane], sizeof(E));
    if (!moved_) return;
    const int by = way_.kind == GroupKind::SS ? -128 : 128;
    for (int64_t lane = 0; lane < count; ++lane) start[lane] += by * in[from[lane]];
  }

  void Band(int64_t set, int64_t image, int64_t band) const {
    const WindowDimension& first_dim = plan_.dims[0];
    const int64_t first = band * band_, outputs = std::min(band_, first_dim.outputs - first),
                  rows = static_cast<int64_t>(rows_in_.size()) / band_ * outputs;
    const int64_t size = lengths_[0] * pitches_[0];
    const int64_t origin =
        problem_.lhs.base + problem_.lhs.batch.At(set * plan_.groups) + image * problem_.windows->lhs_image;
    const uint8_t* in = lhs_ + (origin + first * first_dim.per_output * first_dim.lhs_stride) * bytes_;
    if (!plan_.in_place) {
      uint8_t* staged = Scratch(ScratchUse::Left, size + kSlack);
      Stage(origin - FirstPositions(), first * first_dim.per_output, 0, staged);
      if (moved_)
        for (int64_t i = 0; i < size; ++i) staged[i] ^= kMove;
      in = staged;
    }
    const int64_t count = plan_.groups * problem_.columns();
    const int64_t base = problem_.out_base + problem_.out_batch.At(set * plan_.groups) +
                         image * problem_.windows->out_image + first * first_dim.out_stride;
    uint8_t* sums = Scratch(ScratchUse::Sums, kWordRows * count * kWordBytes);
    const uint8_t* starts[kWordRows];
    uint8_t* out[kWordRows];
    const int64_t of_set = set * vectors_;
    const WordArgs args = {starts,
                           taps(),
                           tap_offsets_.data(),
                           plan_.words,
                           plan_.channels * bytes_ % kWordBytes == 2,
                           plan_.groups,
                           problem_.channels * bytes_,
                           problem_.columns(),
                           plan_.together,
                           lanes_,
                           weights_.get() + of_set * vector_bytes_,
                           start_.get() + of_set * kWordLanes,
                           out,
                           narrow_};
    for (int64_t p = 0; p < kWordRows; ++p) out[p] = sums + p * count * kWordBytes;
    uint8_t* const results = out_ + base * Info(problem_.type).host_bytes();
    for (int64_t row = 0; row < rows; row += kWordRows) {
      const int64_t block = std::min<int64_t>(kWordRows, rows - row);
      AddressRows(in, rows_in_.data() + row, block, starts);
      if (direct_ || narrow_) AddressRows(results, rows_out_.data() + row, block, out);
      way_.kernels->words(way_.kind, args);
      if (!direct_ && !narrow_) StoreBlock(out, rows_out_.data() + row, block, results);
    }
  }

  /// Where kWordRows rows lie. Those that are not there are the first one, and write the same over it.
  template <class Byte>
  static void AddressRows(Byte* base, const int64_t* offsets, int64_t rows, Byte** out) {
    if (rows == kWordRows) {
      for (int64_t p = 0; p < kWordRows; ++p) out[p] = base + offsets[p];
    } else {
      for (int64_t p = 0; p < kWordRows; ++p) out[p] = base + offsets[p < rows ? p : 0];
    }
  }

  /// From position 0 in all dimensions to where windows begin.
  [[nodiscard]] int64_t FirstPositions() const {
    int64_t offset = 0;
    for (const WindowDimension& d : plan_.dims) offset += d.base * d.lhs_stride;
    return offset;
  }

  /// Sums of some rows as results, of which there are `to` bytes from `results` on; neighbours at once.
  void StoreBlock(uint8_t* const* sums, const int64_t* to, int64_t rows, uint8_t* results) const {
    const int64_t count = plan_.groups * problem_.columns(), size = Info(problem_.type).host_bytes();
    for (int64_t p = 0, end = 0; p < rows; p = end) {
      for (end = p + 1; end < rows && to[end] == to[end - 1] + count * size;) ++end;
      StoreRows(sums[p], (end - p) * count, results + to[p]);
    }
  }

  void StoreRows(const uint8_t* sums, int64_t count, uint8_t* out) const {
    if (way_.kind == GroupKind::Bf16)
      FromCompute(problem_.type, kernels_, reinterpret_cast<const float*>(sums), count, out);
    else
      FromCompute(problem_.type, kernels_, reinterpret_cast<const uint32_t*>(sums), count, out);
  }

  /// Copies what a band reaches, with zeros beyond the ends of the image: dimensions from t on, whose first
  /// position `ahead` of those is counted in all.
  void Stage(int64_t origin, int64_t ahead, size_t t, uint8_t* to) const {
    const WindowDimension& d = plan_.dims[t];
    const int64_t base = d.base + ahead, length = lengths_[t], pitch = pitches_[t];
    const int64_t begin = std::clamp<int64_t>(-base, 0, length),
                  end = std::clamp<int64_t>(d.size - base, begin, length);
    const auto bytes = [](int64_t n) { return static_cast<size_t>(n); };
    std::memset(to, 0, bytes(begin * pitch));
    const int64_t from = origin + (base + begin) * d.lhs_stride;
    if (t + 1 < plan_.dims.size()) {
      for (int64_t j = begin; j < end; ++j)
        Stage(from + (j - begin) * d.lhs_stride, 0, t + 1, to + j * pitch);
    } else if (d.lhs_stride * bytes_ == pitch) {
      std::memcpy(to + begin * pitch, lhs_ + from * bytes_, bytes((end - begin) * pitch));
    } else {
      for (int64_t j = begin; j < end; ++j)
        std::memcpy(to + j * pitch, lhs_ + (from + (j - begin) * d.lhs_stride) * bytes_, bytes(pitch));
    }
    std::memset(to + end * pitch, 0, bytes((length - end) * pitch));
  }

  const Problem& problem_;
  const WordWay& way_;
  const KernelSet& kernels_;
  const uint8_t *lhs_, *rhs_;
  uint8_t* out_;
  int64_t bytes_;  // of an element
  bool moved_;
  WordPlan plan_;
  bool direct_, narrow_ = false;  // results are stored by kernels, as sums or otherwise
  int64_t sets_;                  // of groups that are staged together
  int64_t position_bytes_;        // of what is staged
  llvm::SmallVector<int64_t, 4> lengths_, pitches_;
  std::vector<int64_t> tap_offsets_, tap_weights_;
  int64_t vectors_ = 0, vector_bytes_ = 0;  // of a set
  int32_t lanes_[kWordLanes];
  int64_t band_ = 1, bands_ = 1;
  std::vector<int64_t> rows_in_, rows_out_;  // bytes, of the rows of a band
  Buffer<uint8_t> weights_;
  Buffer<int32_t> start_;
};

}  // namespace

Fit FitWords(const Problem& problem, const Target& target) {
  Fit fit;
  if (!fit.Needs(problem.windows && !problem.windows->dims.empty(), "no windows")) return fit;
  if (!fit.Needs(GroupKindOf(problem).has_value(), "factors are neither BF16 nor bytes")) return fit;
  if (!fit.Needs(WordWayOf(problem, target).has_value(),
                 "no instructions for pairs or fours of such numbers"))
    return fit;
  const bool forward = llvm::all_of(problem.windows->dims, [](const WindowDimension& d) {
    return d.outputs > 0 && (d.per_output > 0 || d.outputs == 1) && (d.per_tap > 0 || d.taps == 1);
  });
  const double work = static_cast<double>(problem.rows()) * static_cast<double>(problem.columns()) *
                      static_cast<double>(problem.depth() * problem.batches());
  const int64_t bytes = Info(problem.lhs.type).host_bytes(), channels = problem.channels,
                outputs = problem.columns(), groups = problem.batches();
  const auto strides = [](const Index& index, int64_t stride) {
    return index.count() == 1 || (index.IsUniform() && index.stride() == stride);
  };
  fit.Needs(forward && problem.rhs.bounds.empty(), "windows that step backwards, or padded weights");
  fit.Needs(problem.taps() <= kMostTaps, "too many taps");
  fit.Needs(outputs <= kMostOutputs, "too many features of a group");
  fit.Needs((channels == 1 || problem.lhs.channel_stride == 1) && strides(problem.out_columns, 1),
            "features are no neighbours");
  // Sums of less than half a step of groups would be filled up to one.
  const bool few = channels <= kMostOfOne || problem.depth() * bytes <= kGroupStepBytes / 2;
  if (groups == 1) {
    fit.Needs(few, "enough features to pack windows");
    fit.Suits(outputs >= kFewestOutputs, "few features of the result");
  } else {
    fit.Needs(channels <= kMostChannels && channels * bytes % kWordBytes == 0,
              "features of a group do not fill words");
    fit.Needs(strides(problem.out_batch, outputs), "groups are no neighbours");
  }
  if (!fit.can()) return fit;
  fit.Suits(work >= kLeastWork, "little work");
  fit.Suits(problem.rows() / problem.windows->images >= problem.taps(),
            "windows of more positions than the result, as of gradients by weights");
  const WordPlan plan = PlanOf(problem, bytes, IsMoved(*GroupKindOf(problem)));
  fit.Suits(groups == 1 || plan.groups > 1 || outputs >= kFewestOutputs, "few features of a group");
  // One output of the first dimension.
  int64_t staged = plan.groups * channels * bytes;
  for (size_t t = 0; t < plan.dims.size(); ++t) {
    const WindowDimension& d = plan.dims[t];
    staged *= (t == 0 ? 0 : (d.outputs - 1) * d.per_output) + (d.taps - 1) * d.per_tap + 1;
  }
  fit.Needs(plan.in_place || staged <= kMostStaged, "windows reach too much of an image");
  return fit;
}

std::optional<WordWay> WordWayOf(const Problem& problem, const Target& target) {
  const auto kind = GroupKindOf(problem);
  if (!kind) return std::nullopt;
  const bool floats = *kind == GroupKind::Bf16;
  const GroupKernels* kernels = nullptr;
  if (floats ? target.pairs : target.fours) kernels = floats ? PairKernels() : FourKernels();
  if (kernels == nullptr || kernels->words == nullptr) return std::nullopt;
  return WordWay{kernels, *kind};
}

void RunByWords(const Problem& problem, const WordWay& way, const KernelSet& kernels, const void* lhs,
                const void* rhs, void* out) {
  WordRun(problem, way, kernels, lhs, rhs, out).Run();
}

}  // namespace hlo::gemm
