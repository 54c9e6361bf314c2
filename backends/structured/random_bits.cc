// rng-bit-generator (ops-structured §8.3): blocks side by side in vectors, pieces on threads.
#include <cstring>

#include "backends/structured/kernels.h"
#include "backends/structured/plan.h"
#include "ir/numeric/random_bits.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"

namespace hlo::structured {
namespace {

/// Words that a call of a kernel makes for each vector.
constexpr int64_t kWords = 32;
/// Vectors that lie in a cache before they become elements, and those that a thread makes at a time.
constexpr int64_t kBuffered = 64, kPiece = 1 << 12;

struct Bits {
  bool three_fry = false;
  bool is_signed = false;
  int width = 32;
  int64_t count = 0;  // elements
  int64_t state_words = 2;
  rng::SplitDims split;

  [[nodiscard]] int64_t bytes() const { return width < 8 ? 1 : width / 8; }
  /// Blocks that count.
  [[nodiscard]] int64_t blocks() const {
    if (!three_fry) return width == 64 ? (count + 1) / 2 : (count + 3) / 4;
    return width == 64 ? count : static_cast<int64_t>(split.blocks());
  }
  /// The words of the blocks are the elements in order, but for some behind the last.
  [[nodiscard]] bool in_order() const {
    return !three_fry || width == 64 || (split.inner == 1 && (split.split % 2 == 0 || split.outer == 1));
  }
};

/// The state at the beginning.
struct Start {
  uint32_t key[2];
  uint64_t low, high;
};

/// The low bits of words as elements.
template <class T>
void NarrowTo(const uint32_t* words, int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(words[i]);
}
void Narrow(const Bits& bits, const uint32_t* words, int64_t count, uint8_t* out) {
  switch (bits.width) {
    case 32: std::memcpy(out, words, static_cast<size_t>(count) * sizeof(uint32_t)); return;
    case 16: return NarrowTo(words, count, reinterpret_cast<uint16_t*>(out));
    case 8: return NarrowTo(words, count, out);
    default: break;
  }
  const int unused = 8 - bits.width;
  for (int64_t i = 0; i < count; ++i) {
    const auto high = static_cast<uint8_t>(words[i] << unused);
    out[i] = bits.is_signed ? static_cast<uint8_t>(static_cast<int8_t>(high) >> unused)
                            : static_cast<uint8_t>(high >> unused);
  }
}

/// The vectors [begin, end) of the words, where they are the elements in order.
void MakeInOrder(const Bits& bits, const Start& start, const RandomKernels& kernels, int64_t begin,
                 int64_t end, uint8_t* out) {
  const auto make = [&](int64_t first, int64_t vectors, uint32_t* to) {
    if (bits.three_fry) {
      kernels.three_fry(start.key, start.low + static_cast<uint64_t>(first) * 16, vectors, to);
      return;
    }
    rng::Counter128 counter{start.low, start.high};
    counter.Add(first * 8);
    kernels.philox(start.key, counter.low, counter.high, vectors, to);
  };
  // In words of 64 bits elements are two.
  const int64_t words = bits.width == 64 ? 2 * bits.count : bits.count;
  const int64_t bytes = bits.width == 64 ? 4 : bits.bytes();
  if (bytes == 4) {
    const int64_t whole = std::min(end, words / kWords);
    if (whole > begin) make(begin, whole - begin, reinterpret_cast<uint32_t*>(out) + begin * kWords);
    begin = std::max(begin, whole);
  }
  alignas(64) uint32_t buffer[kBuffered * kWords];
  for (int64_t v = begin; v < end; v += kBuffered) {
    const int64_t vectors = std::min(kBuffered, end - v);
    make(v, vectors, buffer);
    const int64_t count = std::min(vectors * kWords, words - v * kWords);
    if (bits.width == 64)
      std::memcpy(out + v * kWords * 4, buffer, static_cast<size_t>(count) * 4);
    else
      Narrow(bits, buffer, count, out + v * kWords * bytes);
  }
}

/// Blocks of ThreeFry whose two words lie a row apart; vectors are of 16 blocks.
void MakeHalves(const Bits& bits, const Start& start, const RandomKernels& kernels, int64_t begin,
                int64_t end, uint8_t* out) {
  constexpr int64_t kBlocks = 16;
  alignas(64) uint32_t first[kBuffered * kBlocks], second[kBuffered * kBlocks];
  const auto inner = static_cast<int64_t>(bits.split.inner), half = static_cast<int64_t>(bits.split.half()),
             size = static_cast<int64_t>(bits.split.split);
  for (int64_t v = begin; v < end; v += kBuffered) {
    const int64_t vectors = std::min(kBuffered, end - v), base = v * kBlocks;
    kernels.three_fry_halves(start.key, start.low + static_cast<uint64_t>(base), vectors, first, second);
    const int64_t count = std::min(vectors * kBlocks, bits.blocks() - base);
    for (int64_t done = 0; done < count;) {
      const int64_t row = (base + done) / inner, column = (base + done) % inner;
      const int64_t run = std::min(inner - column, count - done);
      const int64_t position = 2 * (row % half);
      const int64_t at = (row / half * size + position) * inner + column;
      Narrow(bits, first + done, run, out + at * bits.bytes());
      if (position + 1 < size) Narrow(bits, second + done, run, out + (at + inner) * bits.bytes());
      done += run;
    }
  }
}

void Run(const Bits& bits, const RandomKernels& kernels, void* const* arrays) {
  uint64_t state[3] = {};
  std::memcpy(state, arrays[0], static_cast<size_t>(bits.state_words) * sizeof(uint64_t));
  const Start start{{static_cast<uint32_t>(state[0]), static_cast<uint32_t>(state[0] >> 32)},
                    state[1],
                    bits.state_words == 3 ? state[2] : state[0]};
  auto* out = static_cast<uint8_t*>(arrays[2]);
  const int64_t per_vector = bits.three_fry ? 16 : 8;
  ParallelFor(0, (bits.blocks() + per_vector - 1) / per_vector, kPiece, [&](int64_t begin, int64_t end) {
    if (Interrupted()) return;
    if (bits.in_order())
      MakeInOrder(bits, start, kernels, begin, end, out);
    else
      MakeHalves(bits, start, kernels, begin, end, out);
  });
  rng::Counter128 counter{start.low, start.high};
  counter.Add(bits.blocks());
  state[1] = counter.low;
  if (bits.state_words == 3) state[2] = counter.high;
  std::memcpy(arrays[1], state, static_cast<size_t>(bits.state_words) * sizeof(uint64_t));
}

}  // namespace

Result<Plan> PlanRandomBits(const Instruction& inst, gemm::Isa isa) {
  const Shape &shape = inst.shape(), &state = inst.operand(0)->shape();
  if (!shape.IsTuple() || shape.tuple_size() != 2 || !shape.tuple_shape(1).IsArray())
    return Unsupported(inst, "a result that is no pair");
  const Shape& array = shape.tuple_shape(1);
  Bits bits;
  // rng_default is Philox, as on XLA's CPU.
  bits.three_fry = inst.attr<RngBitGeneratorAttrs>().algorithm == RngAlgorithm::ThreeFry;
  bits.state_words = state.ElementCount();
  bits.count = array.ElementCount();
  bits.width = Info(array.element_type()).bits;
  bits.is_signed = IsSigned(array.element_type());
  bits.split = rng::SplitForPairs({array.dims().data(), array.dims().size()});
  const bool known = bits.state_words == 2 || (bits.state_words == 3 && !bits.three_fry);
  if (!known || state.element_type() != ElementType::U64 || state.rank() != 1 ||
      !(IsIntegral(array.element_type()) || IsFloat(array.element_type())))
    return Unsupported(inst, "shapes of states and bits");
  return Plan{bits.three_fry ? "counter blocks of ThreeFry" : "counter blocks of Philox",
              [bits, isa](void* const* arrays) { Run(bits, KernelsFor(isa).random, arrays); },
              /*in_place=*/0};
}

}  // namespace hlo::structured
