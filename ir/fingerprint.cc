// Fingerprints: hashes of what a module means, blind to names, order and origin.
//
// Every instruction is hashed twice. Upwards: its opcode, shape, attributes and what its operands,
// control predecessors and callees hash to. Downwards: that hash and how its users use it, which
// tells one shared value from two equal ones. A computation hashes to the sum over its instructions,
// so that their order does not matter.
#include "ir/module.h"
#include "ir/print.h"
#include "ir/support/hash.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/xxhash.h"

namespace hlo {
namespace {

uint64_t HashLiteral(const Literal& literal) {
  if (literal.shape().IsTuple()) {
    uint64_t h = 1;
    for (const Literal& element : literal.elements()) h = CombineHashes(h, HashLiteral(element));
    return h;
  }
  const Literal dense = literal.Pack();
  uint64_t h = HashText(ToString(dense.shape()));
  if (dense.HasDynamicSizes())
    for (int64_t d = 0; d < dense.shape().rank(); ++d)
      h = CombineHashes(h, static_cast<uint64_t>(dense.DynamicSize(d)));
  return CombineHashes(h, llvm::xxh3_64bits(llvm::ArrayRef(dense.data(), dense.byte_size())));
}

}  // namespace

class Fingerprints::Hasher {
 public:
  /// The hash of a computation and of all that it calls.
  uint64_t Hash(const Computation& root) {
    llvm::SmallVector<std::pair<const Computation*, bool>, 16> stack = {{&root, false}};
    while (!stack.empty()) {
      auto [computation, callees_done] = stack.pop_back_val();
      if (computations_.contains(computation)) continue;
      if (callees_done) {
        computations_[computation] = HashBody(*computation);
        continue;
      }
      stack.emplace_back(computation, true);
      for (const Instruction* i : computation->instructions())
        for (const Computation* callee : i->callees())
          if (!computations_.contains(callee)) stack.emplace_back(callee, false);
    }
    return computations_[&root];
  }

  /// What each instruction computes; the callees must have been hashed.
  llvm::DenseMap<const Instruction*, uint64_t> HashUpwards(llvm::ArrayRef<Instruction*> order) {
    llvm::DenseMap<const Instruction*, uint64_t> up;
    up.reserve(static_cast<unsigned>(order.size()));
    for (const Instruction* i : order) {
      uint64_t h = HashOwn(*i);
      for (const Instruction* operand : i->operands()) h = CombineHashes(h, up.lookup(operand));
      uint64_t before = 0;
      for (const Instruction* p : i->extras().control_predecessors) before += CombineHashes(up.lookup(p), 7);
      up[i] = CombineHashes(h, before);
    }
    return up;
  }

 private:
  uint64_t HashBody(const Computation& computation) {
    const std::vector<Instruction*> order = computation.PostOrder();
    const llvm::DenseMap<const Instruction*, uint64_t> up = HashUpwards(order);
    // What users said of a value so far; all users of an instruction come before it.
    llvm::DenseMap<const Instruction*, uint64_t> uses;
    uses.reserve(static_cast<unsigned>(order.size()));
    if (computation.root() != nullptr) uses[computation.root()] = 1;
    uint64_t sum = 0;
    for (const Instruction* i : llvm::reverse(order)) {
      const uint64_t h = CombineHashes(up.lookup(i), uses.lookup(i));
      for (int64_t k = 0; k < i->operand_count(); ++k)
        uses[i->operand(k)] += CombineHashes(h, static_cast<uint64_t>(k));
      for (const Instruction* before : i->extras().control_predecessors)
        uses[before] += CombineHashes(h, ~uint64_t{0});
      sum += CombineHashes(h, 3);
    }
    return CombineHashes(sum, HashText(computation.execution_thread()));
  }

  /// The instruction by itself and its callees.
  uint64_t HashOwn(const Instruction& instruction) {
    llvm::SmallString<256> text;
    llvm::raw_svector_ostream os(text);
    uint64_t h = 0;
    os << instruction.info().text << ' ';
    Print(os, instruction.shape());
    const Attrs& attrs = instruction.attrs();
    for (const FieldInfo& field : attrs.info().fields) {
      if (!field.access || FieldIsDefault(attrs.info(), field, attrs.data())) continue;
      os << ' ' << field.name << '=';
      if (field.kind != FieldKind::Literal)
        PrintField(os, instruction, field, options_);
      else if (const auto& literal = field.Get<LiteralPtr>(attrs.data()))
        h = CombineHashes(h, HashLiteral(*literal));
    }
    const InstructionExtras& extras = instruction.extras();
    if (extras.sharding) PrintSharding(os << " sharding=", *extras.sharding, /*with_metadata=*/false);
    for (const FrontendAttribute& a : extras.frontend_attributes) os << ' ' << a.key << ':' << a.value;
    if (extras.result_accuracy.has_tolerance || extras.result_accuracy.highest)
      os << " accuracy=" << extras.result_accuracy.highest << ' ' << extras.result_accuracy.atol << ' '
         << extras.result_accuracy.rtol << ' ' << extras.result_accuracy.ulps;
    os << '|' << extras.backend_config << '|' << extras.unknown_attributes;
    for (const Computation* callee : instruction.callees())
      h = CombineHashes(h, computations_.lookup(callee));
    return CombineHashes(h, HashText(text));
  }

  const PrintOptions options_;
  llvm::DenseMap<const Computation*, uint64_t> computations_;
};

namespace {

/// The configuration as far as it changes what the module means.
uint64_t HashConfig(const ModuleConfig& config) {
  llvm::SmallString<256> text;
  llvm::raw_svector_ostream os(text);
  os << config.is_scheduled << config.alias_passthrough_params << config.replica_count << ','
     << config.num_partitions;
  for (const InputOutputAlias& a : config.input_output_alias)
    os << '|' << ToString(a.output) << a.parameter << ToString(a.parameter_index) << a.must_alias;
  for (const BufferDonor& d : config.buffer_donors) os << '>' << d.parameter << ToString(d.index);
  if (config.entry_layout) {
    for (const Shape& parameter : config.entry_layout->parameters) Print(os << ';', parameter);
    Print(os << "->", config.entry_layout->result);
  }
  for (bool b : config.spmd_propagation_to_parameters) os << (b ? 'p' : 'q');
  for (bool b : config.spmd_propagation_to_output) os << (b ? 'o' : 'n');
  for (const FrontendAttribute& a : config.frontend_attributes) os << ' ' << a.key << ':' << a.value;
  return HashText(text);
}

}  // namespace

Fingerprints::Fingerprints() : hasher_(std::make_unique<Hasher>()) {}
Fingerprints::~Fingerprints() = default;
uint64_t Fingerprints::Of(const Computation& computation) { return hasher_->Hash(computation); }

uint64_t Fingerprint(const Computation& computation) { return Fingerprints().Of(computation); }

llvm::DenseMap<const Instruction*, uint64_t> Fingerprints::OfInstructions(const Computation& computation) {
  Hasher hasher;
  hasher.Hash(computation);
  return hasher.HashUpwards(computation.PostOrder());
}

llvm::DenseMap<const Instruction*, uint64_t> InstructionFingerprints(const Computation& computation) {
  return Fingerprints::OfInstructions(computation);
}

uint64_t Fingerprint(const Module& module) {
  Fingerprints hashes;
  uint64_t uncalled = 0;
  for (const auto& computation : module.computations())
    if (computation.get() != module.entry() && computation->callers().empty())
      uncalled += CombineHashes(hashes.Of(*computation), 5);
  const uint64_t entry = module.entry() ? hashes.Of(*module.entry()) : 0;
  return CombineHashes(CombineHashes(entry, uncalled), HashConfig(module.config));
}

}  // namespace hlo
