#include "tools/viz/drawing/layers.h"

#include <map>
#include <set>

#include "llvm/ADT/Hashing.h"
#include "tools/viz/drawing/label.h"

namespace hlo {
namespace {

constexpr size_t kWindow = 6;                      // consecutive instructions that are compared at once
constexpr size_t kSmallest = 8;                    // instructions of a layer
constexpr size_t kMostFamilies = 26;               // kinds of layers, told apart by letters
constexpr size_t kLeastCoverage = 4;               // a kind of layers takes at least one part in so many
constexpr double kShortest = 0.7, kLongest = 1.4;  // of the usual distance between layers

/// Layers of one kind: where each begins, and where the last ends.
struct Family {
  std::vector<size_t> begins;
  size_t end = 0;
};

/// Divides a sequence; layers are those of the longest range that repeats, then of what is left beside it.
class LayerFinder {
 public:
  explicit LayerFinder(const Computation& computation) {
    const bool scheduled = computation.has_schedule() && !computation.IsFusion();
    for (const Instruction* inst : scheduled ? computation.schedule() : computation.PostOrder())
      if (inst->kind() != OpKind::Parameter && !IsWrittenIntoUsers(*inst)) order_.push_back(inst);
    std::vector<uint64_t> tokens;
    for (const Instruction* inst : order_)
      tokens.push_back(llvm::hash_combine(static_cast<int>(inst->kind()), inst->shape()));
    for (size_t i = 0; i + kWindow <= tokens.size(); ++i)
      windows_.push_back(llvm::hash_combine_range(tokens.begin() + static_cast<ptrdiff_t>(i),
                                                  tokens.begin() + static_cast<ptrdiff_t>(i + kWindow)));
    CountLive();
  }

  Layers Find() {
    Divide(0, order_.size());
    llvm::sort(families_, [](const Family& a, const Family& b) { return a.begins[0] < b.begins[0]; });
    if (families_.empty()) return Layers();
    size_t from = 0;
    for (size_t f = 0; f < families_.size(); ++f) {
      const Family& family = families_[f];
      Label(from, family.begins[0],
            f == 0 ? "before the layers"
                   : llvm::formatv("between layers {0} and {1}", Letter(f - 1), Letter(f)).str());
      for (size_t i = 0; i < family.begins.size(); ++i)
        Label(family.begins[i], i + 1 < family.begins.size() ? family.begins[i + 1] : family.end,
              llvm::formatv("layer {0}{1} of {2}", families_.size() > 1 ? Letter(f) : "", i + 1,
                            family.begins.size())
                  .str());
      from = family.end;
    }
    Label(from, order_.size(), "after the layers");
    return std::move(layers_);
  }

 private:
  static std::string Letter(size_t family) { return std::string(1, static_cast<char>('A' + family)); }

  void Label(size_t from, size_t to, std::string label) {
    if (from == to) return;
    for (size_t i = from; i < to; ++i)
      layers_.label_of[order_[i]] = static_cast<int32_t>(layers_.labels.size());
    layers_.labels.push_back(std::move(label));
  }

  /// How many values are made before each instruction and used by it or later ones.
  void CountLive() {
    llvm::DenseMap<const Instruction*, size_t> place;
    for (size_t i = 0; i < order_.size(); ++i) place[order_[i]] = i;
    std::vector<int64_t> steps(order_.size() + 1, 0);
    for (size_t i = 0; i < order_.size(); ++i) {
      size_t last = i;
      for (const Instruction* user : order_[i]->users())
        if (const auto at = place.find(user); at != place.end()) last = std::max(last, at->second);
      if (last == i) continue;
      ++steps[i + 1];
      --steps[last + 1];
    }
    int64_t live = 0;
    for (const int64_t step : steps) live_.push_back(live += step);
  }

  void Divide(size_t from, size_t to) {
    if (to - from < 2 * kSmallest || families_.size() == kMostFamilies) return;
    const std::vector<std::vector<size_t>> equal = EqualWindows(from, to);
    const size_t distance = UsualDistance(equal, to - from);
    if (distance == 0) return;
    const Family family = BestFamily(equal, distance, to);
    if (family.begins.size() < 2) return;
    families_.push_back(family);
    Divide(from, family.begins[0]);
    Divide(family.end, to);
  }

  /// Places of equal windows, of windows that there are several of, by their first place.
  [[nodiscard]] std::vector<std::vector<size_t>> EqualWindows(size_t from, size_t to) const {
    llvm::DenseMap<uint64_t, size_t> index;
    std::vector<std::vector<size_t>> places;
    for (size_t i = from; i + kWindow <= to; ++i) {
      // The two largest keys are the map's own.
      const auto [at, added] = index.try_emplace(windows_[i] >> 1, places.size());
      if (added) places.emplace_back();
      places[at->second].push_back(i);
    }
    llvm::erase_if(places, [](const auto& p) { return p.size() < 2; });
    return places;
  }

  /// The distance at which most windows come again; 0 if few do at any.
  static size_t UsualDistance(llvm::ArrayRef<std::vector<size_t>> equal, size_t length) {
    std::map<size_t, size_t> votes;
    for (const std::vector<size_t>& places : equal)
      for (size_t i = 1; i < places.size(); ++i)
        if (const size_t gap = places[i] - places[i - 1]; gap >= kSmallest) ++votes[gap];
    size_t best = 0, most = 0;
    for (const auto& [gap, count] : votes) {
      // Layers differ a little: what is up to a sixteenth longer counts as well.
      size_t all = 0;
      for (auto at = votes.find(gap); at != votes.end() && at->first <= gap + gap / 16; ++at)
        all += at->second;
      if (all > most) most = all, best = gap;
    }
    return most * kLeastCoverage >= length ? best : 0;
  }

  /// The places that follow each other at the usual distance, of the window where the most of the sequence is
  /// covered, by the most layers, and the fewest values pass the beginnings.
  Family BestFamily(llvm::ArrayRef<std::vector<size_t>> equal, size_t distance, size_t to) const {
    const auto follows = [&](size_t gap) {
      const auto ratio = static_cast<double>(gap) / static_cast<double>(distance);
      return ratio >= kShortest && ratio <= kLongest;
    };
    Family best;
    std::tuple<size_t, int64_t> best_rank;
    for (const std::vector<size_t>& places : equal)
      for (size_t i = 0; i < places.size();) {
        size_t next = i + 1;
        while (next < places.size() && follows(places[next] - places[next - 1])) ++next;
        if (next - i >= 2) {
          int64_t live = 0;
          for (size_t k = i; k < next; ++k) live += live_[places[k]];
          const std::tuple<size_t, int64_t> rank{next - i, -live};
          if (best.begins.empty() || rank > best_rank) {
            best_rank = rank;
            best.begins.assign(places.begin() + static_cast<ptrdiff_t>(i),
                               places.begin() + static_cast<ptrdiff_t>(next));
          }
        }
        i = next;
      }
    if (!best.begins.empty()) best.end = EndOfLast(best.begins, distance, to);
    return best;
  }

  /// The last layer ends where its likeness to the one before does.
  [[nodiscard]] size_t EndOfLast(llvm::ArrayRef<size_t> begins, size_t distance, size_t to) const {
    const size_t before = begins[begins.size() - 2], last = begins.back();
    const size_t most = std::min(to, last + std::max(last - before, distance));
    std::set<uint64_t> known(windows_.begin() + static_cast<ptrdiff_t>(before),
                             windows_.begin() + static_cast<ptrdiff_t>(last));
    size_t end = last;
    for (size_t i = last; i + kWindow <= most; ++i)
      if (known.contains(windows_[i])) end = i + kWindow;
    return end;
  }

  std::vector<const Instruction*> order_;
  std::vector<uint64_t> windows_;  // one number for each run of kWindow instructions
  std::vector<int64_t> live_;
  std::vector<Family> families_;
  Layers layers_;
};

}  // namespace

Layers FindLayers(const Computation& computation) { return LayerFinder(computation).Find(); }

bool NamesTell(const Computation& computation) {
  int64_t named = 0;
  for (const Instruction* inst : computation.instructions())
    named += inst->metadata() && llvm::StringRef(inst->metadata()->op_name).contains('/');
  return named * 2 >= computation.instruction_count();
}

}  // namespace hlo
