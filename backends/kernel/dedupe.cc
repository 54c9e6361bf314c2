#include "backends/kernel/dedupe.h"

#include <numeric>

#include "backends/kernel/visit.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

namespace hlo::kernel {
namespace {

class Deduper {
 public:
  explicit Deduper(Kernel& kernel) : kernel_(kernel), same_(kernel.value_types.size()) {
    std::iota(same_.begin(), same_.end(), 0);
  }

  int64_t Run() {
    Visit(kernel_.body);
    return removed_;
  }

 private:
  void Replace(ValueId& value) {
    if (value >= 0) value = same_[static_cast<size_t>(value)];
  }
  void Replace(llvm::MutableArrayRef<ValueId> values) {
    for (ValueId& value : values) Replace(value);
  }
  void Replace(Address& address) {
    const auto terms = std::exchange(address.values, {});
    for (auto term : terms) {
      Replace(term.id);
      address.AddValue(term.id, term.factor);
    }
  }

  /// What the statement computes, as text, with its operands replaced; empty if it must stay.
  std::string KeyOf(ConstantStmt& s) {
    return Text(
        [&](auto& os) { os << 'c' << static_cast<int>(s.type) << ' ' << s.bits[0] << ' ' << s.bits[1]; });
  }
  std::string KeyOf(IndexStmt& s) {
    Replace(s.address);
    return Text([&](auto& os) { Write(os << 'i', s.address); });
  }
  std::string KeyOf(OpStmt& s) {
    Replace(s.operands);
    return Text([&](auto& os) {
      os << 'o' << static_cast<int>(s.kind) << ' ' << static_cast<int>(s.type);
      for (const ValueId operand : s.operands) os << ' ' << operand;
      if (const auto* compare = s.attrs.GetIf<CompareAttrs>())
        os << " d" << static_cast<int>(compare->direction) << ' '
           << static_cast<int>(compare->type.value_or(CompareType::Float));
      if (const auto* precision = s.attrs.GetIf<ReducePrecisionAttrs>())
        os << " e" << precision->exponent_bits << ' ' << precision->mantissa_bits;
    });
  }
  std::string KeyOf(LoadStmt& s) {
    Replace(s.address);
    Replace(s.mask);
    Replace(s.otherwise);
    if (kernel_.buffers[static_cast<size_t>(s.buffer)].written) return "";
    return Text([&](auto& os) {
      os << 'l' << s.buffer << ' ' << s.mask << ' ' << s.otherwise << ' ';
      Write(os, s.address);
    });
  }
  std::string KeyOf(StoreStmt& s) {
    Replace(s.address);
    Replace(s.value);
    Replace(s.mask);
    return "";
  }
  std::string KeyOf(BarrierStmt&) { return ""; }
  std::string KeyOf(AtomicStmt& s) {
    Replace(s.address);
    for (ValueId* value : {&s.value, &s.expected, &s.mask, &s.otherwise}) Replace(*value);
    return "";
  }
  std::string KeyOf(ShuffleStmt& s) {
    Replace(s.value);
    Replace(s.by);
    return "";
  }
  std::string KeyOf(LaneReduceStmt& s) {
    Replace(s.value);
    return "";
  }
  std::string KeyOf(ThreadStmt auto& s) {
    if constexpr (requires { s.mask; }) Replace(s.mask);
    return "";
  }
  std::string KeyOf(LoopStmt& s) {
    Replace(s.loop.when);
    Replace(s.loop.before);
    Visit(*s.body);
    return "";
  }
  std::string KeyOf(ReduceStmt& s) {
    Replace(s.inits);
    Visit(*s.body);
    Visit(*s.combiner);
    return "";
  }

  static std::string Text(llvm::function_ref<void(llvm::raw_ostream&)> write) {
    std::string text;
    llvm::raw_string_ostream os(text);
    write(os);
    return text;
  }
  static void Write(llvm::raw_ostream& os, const Address& address) {
    os << address.offset;
    for (const auto& term : address.loops) os << " i" << term.id << '*' << term.factor;
    for (const auto& term : address.values) os << " %" << term.id << '*' << term.factor;
  }

  void Visit(Region& region) {
    std::vector<std::string> added;
    std::vector<Stmt> kept;
    for (Stmt& stmt : region.stmts) {
      ForEachMatrixPlace(stmt, [&](BufferId, Address& place) { Replace(place); });
      const std::string key = std::visit([&](auto& s) { return KeyOf(s); }, stmt);
      if (!key.empty()) {
        const ValueId result = ResultOf(stmt);
        const auto [it, is_new] = known_.try_emplace(key, result);
        if (!is_new) {
          same_[static_cast<size_t>(result)] = it->second;
          ++removed_;
          continue;
        }
        added.push_back(key);
      }
      kept.push_back(std::move(stmt));
    }
    region.stmts = std::move(kept);
    Replace(region.yields);
    for (const std::string& key : added) known_.erase(key);
  }

  Kernel& kernel_;
  std::vector<ValueId> same_;       // by value: what stands for it
  llvm::StringMap<ValueId> known_;  // what is visible, by what it computes
  int64_t removed_ = 0;
};

}  // namespace

int64_t RemoveDuplicates(Kernel& kernel) { return Deduper(kernel).Run(); }

}  // namespace hlo::kernel
