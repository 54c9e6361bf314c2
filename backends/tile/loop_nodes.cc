// Loops and reductions.
#include <cstring>

#include "backends/tile/nodes.h"

namespace hlo::tile {
namespace {

/// Calls f for each tile of a loop, with its lanes set.
template <class F>
void ForEachTile(State& state, LoopId loop, int64_t begin, int64_t end, F f) {
  const int64_t outside = state.lanes;
  for (int64_t i = begin; i < end; i += Program::kLanes) {
    state.loops[loop] = i;
    state.lanes = std::min(Program::kLanes, end - i);
    f(i);
  }
  state.lanes = outside;
}

/// What a body takes that runs on all iterations of a loop as lanes.
double TilesNanoseconds(const Block& body, int64_t extent) {
  const int64_t whole = extent / Program::kLanes, rest = extent % Program::kLanes;
  double sum = 0;
  if (whole > 0) sum += static_cast<double>(whole) * Nanoseconds(body, Program::kLanes);
  if (rest > 0) sum += Nanoseconds(body, rest);
  return sum;
}

class LoopNode final : public Node {
 public:
  explicit LoopNode(LoopPlan plan) : plan_(std::move(plan)) {}
  void Run(State& state) const override {
    int64_t begin = 0, end = plan_.extent.Of(state);
    if (plan_.before_this >= 0) {
      begin = std::max<int64_t>(state.begin - plan_.before_this, 0);
      end = std::min(state.end - plan_.before_this, end);
    }
    if (plan_.tiles) {
      ForEachTile(state, plan_.loop, begin, end, [&](int64_t) { RunBlock(plan_.body, state); });
      return;
    }
    for (int64_t i = begin; i < end; ++i) {
      state.loops[plan_.loop] = i;
      RunBlock(plan_.body, state);
    }
  }
  [[nodiscard]] double Nanoseconds(int64_t lanes) const override {
    if (plan_.tiles) return TilesNanoseconds(plan_.body, plan_.extent.extent);
    return static_cast<double>(plan_.extent.extent) * tile::Nanoseconds(plan_.body, lanes);
  }

 private:
  LoopPlan plan_;
};

class ReduceNode final : public Node {
 public:
  explicit ReduceNode(ReducePlan plan) : plan_(std::move(plan)) {}
  void Run(State& state) const override {
    if (plan_.fold == ReducePlan::Fold::Groups) {
      const size_t width = plan_.folded[0].width;
      uint8_t* partial = state.at[plan_.partial];
      for (int64_t i = 0; i < plan_.group; ++i)
        std::memcpy(partial + static_cast<size_t>(i) * width, plan_.neutral.data(), width);
      Level(state, 0);
      for (int64_t half = plan_.group / 2; half > 0; half /= 2)
        Fold(partial, partial, partial + static_cast<size_t>(half) * width, half);
      Fold(state.at[plan_.folded[0].accumulator], state.at[plan_.init], partial, 1);
      return;
    }
    RunBlock(plan_.start, state);
    if (plan_.fold == ReducePlan::Fold::List) return RunList(state);
    Level(state, 0);
  }
  [[nodiscard]] double Nanoseconds(int64_t lanes) const override {
    // Measured: of an element and of a list's, of a group, of all groups; the last ones are folded by halves.
    constexpr double kInOrder = 4, kOfList = 12, kOfGroup = 6, kOfGroups = 60, kLastGroups = 3;
    double times = 1;
    for (const auto& loop : llvm::ArrayRef(plan_.loops).drop_back())
      times *= static_cast<double>(loop.extent.extent);
    const int64_t last = plan_.loops.back().extent.extent;
    const double start = tile::Nanoseconds(plan_.start, lanes);
    const double combine = tile::Nanoseconds(plan_.combine, lanes);
    const auto n = static_cast<double>(last);
    switch (plan_.fold) {
      case ReducePlan::Fold::Each:
        return start + times * n * (tile::Nanoseconds(plan_.body, lanes) + combine);
      case ReducePlan::Fold::InOrder:
        return start + times * (TilesNanoseconds(plan_.body, last) + n * (combine + kInOrder));
      case ReducePlan::Fold::List:
        return start + n * (tile::Nanoseconds(plan_.body, lanes) + kOfList +
                            plan_.function.nanoseconds * static_cast<double>(lanes));
      case ReducePlan::Fold::Groups: break;
    }
    const auto group = static_cast<double>(plan_.group);
    const double fold = kOfGroup + group * plan_.function.nanoseconds;
    return times * (TilesNanoseconds(plan_.body, last) + (n / group + kLastGroups) * fold) + kOfGroups;
  }

 private:
  void Level(State& state, size_t level) const {
    const auto& [loop, extent] = plan_.loops[level];
    const int64_t n = extent.Of(state);
    const bool last = level + 1 == plan_.loops.size();
    if (last && plan_.fold != ReducePlan::Fold::Each) {
      const int64_t whole = n / plan_.group * plan_.group;
      ForEachTile(state, loop, 0, n, [&](int64_t begin) {
        RunBlock(plan_.body, state);
        if (plan_.fold == ReducePlan::Fold::Groups)
          FoldGroups(state, begin, whole);
        else
          FoldInOrder(state);
      });
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      state.loops[loop] = i;
      if (!last) {
        Level(state, level + 1);
        continue;
      }
      RunBlock(plan_.body, state);
      RunBlock(plan_.combine, state);
    }
  }

  void RunList(State& state) const {
    const auto& [element, bytes] = std::pair(plan_.folded[0].element, plan_.folded[0].width);
    const int64_t lanes = plan_.lanes == Lanes::All ? state.lanes : 1;
    for (size_t i = 1; i < plan_.list.size(); ++i) {
      state.loops[plan_.loops[0].loop] = static_cast<int64_t>(i) - 1;
      RunBlock(plan_.body, state);
      std::memcpy(state.at[plan_.list[i]], state.at[element], static_cast<size_t>(lanes) * bytes);
    }
    for (size_t size = plan_.list.size(); size > 1;) {
      const size_t half = (size + 1) / 2;
      for (size_t i = 0; i + half < size; ++i)
        Fold(state.at[plan_.list[i]], state.at[plan_.list[i]], state.at[plan_.list[i + half]], lanes);
      size = half;
    }
  }

  void Fold(uint8_t* to, const uint8_t* x, const uint8_t* y, int64_t n) const {
    const void* in[Kernel::kMaxOperands] = {x, y};
    if (plan_.swapped) std::swap(in[0], in[1]);
    plan_.function.kernel.Run(to, in, n);
  }

  /// Iterations from `begin` on; those from `whole` on fill no group.
  void FoldGroups(const State& state, int64_t begin, int64_t whole) const {
    const auto& folded = plan_.folded[0];
    uint8_t* partial = state.at[plan_.partial];
    const uint8_t* elements = state.at[folded.element];
    const int64_t end = begin + state.lanes;
    for (int64_t i = begin; i < end;) {
      const int64_t n = i < whole ? plan_.group : std::min(plan_.width, end - i);
      Fold(partial, partial, elements + static_cast<size_t>(i - begin) * folded.width, n);
      i += n;
    }
  }

  void FoldInOrder(State& state) const {
    const int64_t lanes = std::exchange(state.lanes, 1);
    for (int64_t i = 0; i < lanes; ++i) {
      for (const auto& f : plan_.folded)
        state.at[f.parameter] = state.at[f.element] + (f.one_element ? 0 : static_cast<size_t>(i) * f.width);
      RunBlock(plan_.combine, state);
    }
    state.lanes = lanes;
  }

  ReducePlan plan_;
};

}  // namespace

std::unique_ptr<Node> MakeLoop(LoopPlan plan) { return std::make_unique<LoopNode>(std::move(plan)); }
std::unique_ptr<Node> MakeReduce(ReducePlan plan) { return std::make_unique<ReduceNode>(std::move(plan)); }

}  // namespace hlo::tile
