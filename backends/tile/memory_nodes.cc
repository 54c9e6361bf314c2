// Loads, stores, and what moves values between places.
#include <cstring>

#include "backends/tile/nodes.h"

namespace hlo::tile {
namespace {

// Nanoseconds that are measured: of a call, of an element and of a byte that is copied, of
// an element of a block.
constexpr double kCall = 6, kGathered = 0.8, kStrided = 0.5, kByte = 0.03, kMoved = 0.4;

/// Calls f with a value of an unsigned type (or pair) of `width` bytes.
template <class F>
void ByWidth(size_t width, F f) {
  struct Pair {
    uint64_t low, high;
  };
  switch (width) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case sizeof(uint32_t): return f(uint32_t{});
    case sizeof(uint64_t): return f(uint64_t{});
    default: return f(Pair{});
  }
}

int64_t Count(const State& state, Lanes lanes) { return lanes == Lanes::All ? state.lanes : 1; }

/// Calls f(begin, end) for the runs of lanes where the mask is true; with `otherwise` it is called for the
/// others.
template <class F, class G>
void ForEachRun(const uint8_t* mask, int64_t n, F f, G otherwise) {
  for (int64_t i = 0; i < n;) {
    const bool on = mask[i] != 0;
    int64_t end = i + 1;
    while (end < n && (mask[end] != 0) == on) ++end;
    if (on)
      f(i, end);
    else
      otherwise(i, end);
    i = end;
  }
}

class ConstantNode final : public Node {
 public:
  ConstantNode(ValueId value, ElementType type, const uint64_t bits[2])
      : value_(value), width_(static_cast<size_t>(Info(type).host_bytes())) {
    if (IsComplex(type)) {
      std::memcpy(bytes_.data(), &bits[0], width_ / 2);
      std::memcpy(bytes_.data() + width_ / 2, &bits[1], width_ / 2);
    } else {
      std::memcpy(bytes_.data(), bits, width_);
    }
  }
  void Run(State& state) const override { std::memcpy(state.at[value_], bytes_.data(), width_); }
  [[nodiscard]] double Nanoseconds(int64_t) const override { return 2; }

 private:
  ValueId value_;
  size_t width_;
  std::array<uint8_t, 16> bytes_{};
};

class IndexNode final : public Node {
 public:
  IndexNode(ValueId value, Place place, Lanes lanes)
      : value_(value), place_(std::move(place)), lanes_(lanes) {}
  void Run(State& state) const override {
    auto* out = reinterpret_cast<int64_t*>(state.at[value_]);
    if (lanes_ == Lanes::One)
      *out = place_.First(state);
    else
      place_.All(state, out);
  }
  [[nodiscard]] double Nanoseconds(int64_t lanes) const override {
    return kCall + (lanes_ == Lanes::One ? 0 : 0.3 * static_cast<double>(lanes));
  }

 private:
  ValueId value_;
  Place place_;
  Lanes lanes_;
};

class OpNode final : public Node {
 public:
  OpNode(ValueId value, const Function& function, llvm::ArrayRef<ValueId> operands, Lanes lanes)
      : value_(value), count_(operands.size()), lanes_(lanes), function_(function) {
    llvm::copy(operands, operands_.begin());
  }
  void Run(State& state) const override {
    const void* in[Kernel::kMaxOperands] = {};
    for (size_t i = 0; i < count_; ++i) in[i] = state.at[operands_[i]];
    function_.kernel.Run(state.at[value_], in, Count(state, lanes_));
  }
  [[nodiscard]] double Nanoseconds(int64_t lanes) const override {
    return kCall + function_.nanoseconds * static_cast<double>(lanes_ == Lanes::One ? 1 : lanes);
  }

 private:
  ValueId value_;
  std::array<ValueId, Kernel::kMaxOperands> operands_{};
  size_t count_;
  Lanes lanes_;
  Function function_;
};

class ViewNode final : public Node {
 public:
  ViewNode(ValueId value, Access access) : value_(value), access_(std::move(access)) {}
  void Run(State& state) const override {
    state.at[value_] =
        state.bases[access_.buffer] + access_.place.First(state) * static_cast<int64_t>(access_.width);
  }
  [[nodiscard]] double Nanoseconds(int64_t) const override { return kNanoseconds; }
  static constexpr double kNanoseconds = 3;

 private:
  ValueId value_;
  Access access_;
};

/// What loads and stores have in common.
class AccessNode : public Node {
 public:
  AccessNode(ValueId value, Access access, Lanes lanes)
      : value_(value), access_(std::move(access)), lanes_(lanes) {}
  [[nodiscard]] double Nanoseconds(int64_t lanes) const override {
    if (lanes_ == Lanes::One) return kCall;
    const double each = access_.place.IsRun()         ? kByte * static_cast<double>(access_.width)
                        : access_.place.lanes.empty() ? kStrided
                                                      : kGathered;
    const bool masked = access_.mask >= 0 && !access_.one_mask;
    return kCall + static_cast<double>(lanes) * (each + (masked ? 0.5 : 0));
  }

 protected:
  [[nodiscard]] uint8_t* At(const State& state, int64_t number) const {
    return state.bases[access_.buffer] + number * static_cast<int64_t>(access_.width);
  }
  [[nodiscard]] const uint8_t* Mask(const State& state) const {
    return access_.mask >= 0 && !access_.one_mask ? state.at[access_.mask] : nullptr;
  }
  /// No lane at all.
  [[nodiscard]] bool None(const State& state) const {
    return access_.mask >= 0 && access_.one_mask && *state.at[access_.mask] == 0;
  }
  /// Calls f(lane, element number) for the lanes of a mask, or all.
  template <class F>
  void ForEachLane(const State& state, F f) const {
    const uint8_t* mask = Mask(state);
    const int64_t n = state.lanes;
    if (access_.place.lanes.empty()) {
      int64_t number = access_.place.First(state);
      for (int64_t i = 0; i < n; ++i, number += access_.place.stride)
        if (mask == nullptr || mask[i] != 0) f(i, number);
      return;
    }
    auto* numbers = reinterpret_cast<int64_t*>(state.at[access_.numbers]);
    access_.place.All(state, numbers);
    for (int64_t i = 0; i < n; ++i)
      if (mask == nullptr || mask[i] != 0) f(i, numbers[i]);
  }

  ValueId value_;
  Access access_;
  Lanes lanes_;
};

class LoadNode final : public AccessNode {
 public:
  LoadNode(ValueId value, Access access, ValueId otherwise, Lanes lanes)
      : AccessNode(value, std::move(access), lanes), otherwise_(otherwise) {}
  void Run(State& state) const override {
    uint8_t* out = state.at[value_];
    const size_t width = access_.width;
    const auto bytes = static_cast<size_t>(Count(state, lanes_)) * width;
    const uint8_t* other = otherwise_ < 0 ? nullptr : state.at[otherwise_];
    if (None(state)) {
      std::memcpy(out, other, bytes);
      return;
    }
    if (lanes_ == Lanes::One) {
      std::memcpy(out, At(state, access_.place.First(state)), width);
      return;
    }
    const uint8_t* mask = Mask(state);
    if (access_.place.IsRun()) {
      const uint8_t* from = At(state, access_.place.First(state));
      if (mask == nullptr) {
        std::memcpy(out, from, bytes);
        return;
      }
      const auto copy = [&](const uint8_t* source) {
        return [=](int64_t begin, int64_t end) {
          const size_t skip = static_cast<size_t>(begin) * width;
          std::memcpy(out + skip, source + skip, static_cast<size_t>(end - begin) * width);
        };
      };
      return ForEachRun(mask, state.lanes, copy(from), copy(other));
    }
    if (mask != nullptr) std::memcpy(out, other, bytes);
    ByWidth(width, [&]<class T>(T) {
      const auto* base = reinterpret_cast<const T*>(state.bases[access_.buffer]);
      auto* to = reinterpret_cast<T*>(out);
      ForEachLane(state, [&](int64_t lane, int64_t number) { to[lane] = base[number]; });
    });
  }

 private:
  ValueId otherwise_;
};

class StoreNode final : public AccessNode {
 public:
  using AccessNode::AccessNode;
  void Run(State& state) const override {
    if (None(state)) return;
    const uint8_t* from = state.at[value_];
    const size_t width = access_.width;
    if (lanes_ == Lanes::One) {
      std::memcpy(At(state, access_.place.First(state)), from, width);
      return;
    }
    if (access_.place.IsRun()) {
      uint8_t* to = At(state, access_.place.First(state));
      const auto copy = [=](int64_t begin, int64_t end) {
        const size_t skip = static_cast<size_t>(begin) * width;
        std::memmove(to + skip, from + skip, static_cast<size_t>(end - begin) * width);
      };
      const uint8_t* mask = Mask(state);
      if (mask == nullptr) return copy(0, state.lanes);
      return ForEachRun(mask, state.lanes, copy, [](int64_t, int64_t) {});
    }
    ByWidth(width, [&]<class T>(T) {
      auto* base = reinterpret_cast<T*>(state.bases[access_.buffer]);
      const auto* values = reinterpret_cast<const T*>(from);
      ForEachLane(state, [&](int64_t lane, int64_t number) { base[number] = values[lane]; });
    });
  }
};

class SplatNode final : public Node {
 public:
  SplatNode(ValueId to, ValueId from, size_t width, int64_t count)
      : to_(to), from_(from), width_(width), count_(count) {}
  void Run(State& state) const override {
    const int64_t n = count_ > 0 ? count_ : state.lanes;
    ByWidth(width_, [&]<class T>(T value) {
      std::memcpy(&value, state.at[from_], sizeof(T));
      std::fill_n(reinterpret_cast<T*>(state.at[to_]), n, value);
    });
  }
  [[nodiscard]] double Nanoseconds(int64_t lanes) const override {
    return kCall + kByte * static_cast<double>(width_) * static_cast<double>(count_ > 0 ? count_ : lanes);
  }

 private:
  ValueId to_, from_;
  size_t width_;
  int64_t count_;
};

class CopyNode final : public Node {
 public:
  CopyNode(ValueId to, ValueId from, size_t width, Lanes lanes)
      : to_(to), from_(from), width_(width), lanes_(lanes) {}
  void Run(State& state) const override {
    std::memmove(state.at[to_], state.at[from_], static_cast<size_t>(Count(state, lanes_)) * width_);
  }
  [[nodiscard]] double Nanoseconds(int64_t lanes) const override {
    return kCall + kByte * static_cast<double>(width_) * static_cast<double>(lanes);
  }

 private:
  ValueId to_, from_;
  size_t width_;
  Lanes lanes_;
};

class MoveNode final : public Node {
 public:
  MoveNode(Access to, Access from, llvm::ArrayRef<CopyDim> dims)
      : to_(std::move(to)), from_(std::move(from)), copy_(static_cast<int>(to_.width), dims) {}
  void Run(State& state) const override { copy_.Run(At(state, to_), At(state, from_)); }
  [[nodiscard]] double Nanoseconds(int64_t) const override {
    return kCall + kMoved * static_cast<double>(copy_.count());
  }

 private:
  static uint8_t* At(const State& state, const Access& access) {
    return state.bases[access.buffer] + access.place.First(state) * static_cast<int64_t>(access.width);
  }

  Access to_, from_;
  WindowCopy copy_;
};

class AliasNode final : public Node {
 public:
  AliasNode(ValueId to, ValueId from) : to_(to), from_(from) {}
  void Run(State& state) const override { state.at[to_] = state.at[from_]; }
  [[nodiscard]] double Nanoseconds(int64_t) const override { return 2; }

 private:
  ValueId to_, from_;
};

}  // namespace

int64_t Place::First(const State& state) const {
  int64_t sum = offset;
  for (const auto& term : loops) sum += state.loops[term.id] * term.factor;
  for (const auto& term : values) {
    int64_t value = 0;
    std::memcpy(&value, state.at[term.id], sizeof value);
    sum += value * term.factor;
  }
  return sum;
}

void Place::All(const State& state, int64_t* numbers) const {
  const int64_t first = First(state);
  for (int64_t i = 0; i < state.lanes; ++i) numbers[i] = first + i * stride;
  for (const auto& term : lanes) {
    const auto* value = reinterpret_cast<const int64_t*>(state.at[term.id]);
    const int64_t factor = term.factor;
    for (int64_t i = 0; i < state.lanes; ++i) numbers[i] += value[i] * factor;
  }
}

std::unique_ptr<Node> MakeConstant(ValueId value, ElementType type, const uint64_t bits[2]) {
  return std::make_unique<ConstantNode>(value, type, bits);
}
std::unique_ptr<Node> MakeIndex(ValueId value, Place place, Lanes lanes) {
  return std::make_unique<IndexNode>(value, std::move(place), lanes);
}
std::unique_ptr<Node> MakeOp(ValueId value, const Function& function, llvm::ArrayRef<ValueId> operands,
                             Lanes lanes) {
  return std::make_unique<OpNode>(value, function, operands, lanes);
}
std::unique_ptr<Node> MakeView(ValueId value, Access access) {
  return std::make_unique<ViewNode>(value, std::move(access));
}
std::unique_ptr<Node> MakeLoad(ValueId value, Access access, ValueId otherwise, Lanes lanes) {
  return std::make_unique<LoadNode>(value, std::move(access), otherwise, lanes);
}
std::unique_ptr<Node> MakeStore(Access access, ValueId value, Lanes lanes) {
  return std::make_unique<StoreNode>(value, std::move(access), lanes);
}
std::unique_ptr<Node> MakeSplat(ValueId to, ValueId from, size_t width, int64_t count) {
  return std::make_unique<SplatNode>(to, from, width, count);
}
std::unique_ptr<Node> MakeCopy(ValueId to, ValueId from, size_t width, Lanes lanes) {
  return std::make_unique<CopyNode>(to, from, width, lanes);
}
std::unique_ptr<Node> MakeMove(Access to, Access from, llvm::ArrayRef<CopyDim> dims) {
  return std::make_unique<MoveNode>(std::move(to), std::move(from), dims);
}
std::unique_ptr<Node> MakeAlias(ValueId to, ValueId from) { return std::make_unique<AliasNode>(to, from); }

}  // namespace hlo::tile
