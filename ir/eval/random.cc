// Random numbers: rng, rng-get-and-update-state, rng-bit-generator.
#include "ir/numeric/random_bits.h"

#include "ir/eval/device.h"
#include "ir/eval/eval.h"
#include "llvm/Support/xxhash.h"

namespace hlo {
namespace {

rng::Counter128 Advance(EvalContext& context, const Instruction& inst, int64_t delta) {
  auto& counter = context.device().RandomCounter(inst);
  const rng::Counter128 before{counter.first, counter.second};
  rng::Counter128 after = before;
  after.Add(delta);
  counter = {after.low, after.high};
  return before;
}

/// Tells instructions and devices apart; the same in every run with the same seed (ops-structured §8.1).
uint64_t StreamKey(EvalContext& context, const Instruction& inst) {
  const Device& device = context.device();
  return device.rng_seed() ^ llvm::xxh3_64bits(inst.name()) ^ static_cast<uint64_t>(device.replica()) ^
         static_cast<uint64_t>(device.partition()) << 32;
}

}  // namespace

Result<Literal> EvalRng(EvalContext& context, const Instruction& inst,
                        llvm::MutableArrayRef<Literal> operands) {
  const ElementType type = inst.shape().element_type();
  const Distribution distribution = inst.attr<RngAttrs>().distribution;
  if (IsComplex(type) || (distribution == Distribution::Normal && !IsFloat(type)))
    return Error("unsupported-element-type", inst.loc(),
                 "'{0}' with distribution {1} is not defined for element type '{2}'", ToString(inst.kind()),
                 ToString(distribution), ToString(type));
  Literal result = Literal::Make(inst.shape());
  const auto n = static_cast<size_t>(inst.shape().ElementCount());
  // No element takes more words than this, so that streams of later executions do not overlap.
  constexpr int64_t kWordsPerElement = 4;
  rng::Stream stream(StreamKey(context, inst),
                     Advance(context, inst, static_cast<int64_t>(n) * kWordsPerElement + 4));
  const uint64_t a = operands[0].Bits(0), b = operands[1].Bits(0);
  if (distribution == Distribution::Normal)
    rng::FillNormal(stream, type, a, b, result.MutableData(), n);
  else
    rng::FillUniform(stream, type, a, b, result.MutableData(), n);
  return result;
}

Result<Literal> EvalRngGetAndUpdateState(EvalContext& context, const Instruction& inst,
                                         llvm::MutableArrayRef<Literal>) {
  const rng::Counter128 before = Advance(context, inst, inst.attr<RngStateAttrs>().delta);
  Literal result = Literal::Make(inst.shape());
  const auto words = result.MutableSpan<uint64_t>();
  words[0] = before.low;
  words[1] = before.high;
  return result;
}

Result<Literal> EvalRngBitGenerator(EvalContext&, const Instruction& inst,
                                    llvm::MutableArrayRef<Literal> operands) {
  const Shape& shape = inst.shape();
  // rng_default is Philox, as on XLA's CPU.
  const bool three_fry = inst.attr<RngBitGeneratorAttrs>().algorithm == RngAlgorithm::ThreeFry;
  if (!shape.IsTuple() || shape.tuple_size() != 2 || !shape.tuple_shape(1).IsArray())
    return Error("unsupported-shape", inst.loc(),
                 "rng-bit-generator makes {0}, but must make a tuple of state and bits", shape);
  const Shape& bits_shape = shape.tuple_shape(1);
  Literal state = std::move(operands[0]);
  Literal bits = Literal::Make(bits_shape);
  const int width = Info(bits_shape.element_type()).bits;
  const auto state_words = state.MutableSpan<uint64_t>();
  rng::GenerateBits(three_fry ? rng::Algorithm::ThreeFry : rng::Algorithm::Philox,
                    {state_words.data(), state_words.size()}, width,
                    {bits_shape.dims().data(), bits_shape.dims().size()}, bits.MutableData());
  if (width < 8 && IsSigned(bits_shape.element_type()))
    for (int64_t i = 0; i < bits_shape.ElementCount(); ++i)
      bits.SetBits(i, bits.Bits(i));  // extends the sign
  std::vector<Literal> results;
  results.push_back(std::move(state));
  results.push_back(std::move(bits));
  return Literal::MakeTuple(std::move(results));
}

}  // namespace hlo
