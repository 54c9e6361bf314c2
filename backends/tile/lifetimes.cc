#include "backends/tile/lifetimes.h"

#include "backends/kernel/visit.h"

namespace hlo::tile {
namespace {

using namespace kernel;  // NOLINT(google-build-using-namespace): statements of all kinds

class Walk {
 public:
  explicit Walk(std::vector<Lifetime>& lifetimes) : lifetimes_(lifetimes) {}

  void Visit(const Region& region) {
    path_.push_back({&region, 0});
    for (const Stmt& stmt : region.stmts) {
      std::visit([&](const auto& s) { Visit(s); }, stmt);
      ++path_.back().index;
    }
    Use(region.yields);
    path_.pop_back();
  }

 private:
  struct Step {
    const Region* region;
    int32_t index;
  };

  void Define(ValueId value) { At(value).region = path_.back().region; }
  void Use(ValueId value) {
    if (value < 0) return;
    Lifetime& lifetime = At(value);
    ++lifetime.uses;
    for (const Step& step : path_)
      if (step.region == lifetime.region) lifetime.last = std::max(lifetime.last, step.index);
  }
  void Use(llvm::ArrayRef<ValueId> values) {
    for (const ValueId value : values) Use(value);
  }
  void Use(const Address& address) {
    for (const auto& term : address.values) Use(term.id);
  }
  Lifetime& At(ValueId value) { return lifetimes_[static_cast<size_t>(value)]; }

  void Visit(const ConstantStmt& s) { Define(s.result); }
  void Visit(const IndexStmt& s) {
    Use(s.address);
    Define(s.result);
  }
  void Visit(const OpStmt& s) {
    Use(s.operands);
    Define(s.result);
  }
  void Visit(const LoadStmt& s) {
    Use(s.address);
    Use(s.mask);
    Use(s.otherwise);
    Define(s.result);
  }
  void Visit(const StoreStmt& s) {
    Use(s.address);
    Use(s.value);
    Use(s.mask);
  }
  /// Program::Make() refuses kernels of threads.
  void Visit(const ThreadStmt auto&) { llvm::report_fatal_error("a statement of threads in tiles"); }
  void Visit(const LoopStmt& s) { Visit(*s.body); }
  void Visit(const ReduceStmt& s) {
    Use(s.inits);
    Visit(*s.body);
    for (const ValueId parameter : s.parameters) At(parameter).region = s.combiner.get();
    Visit(*s.combiner);
    for (const ValueId result : s.results) Define(result);
  }

  std::vector<Lifetime>& lifetimes_;
  llvm::SmallVector<Step> path_;
};

}  // namespace

std::vector<Lifetime> FindLifetimes(const Kernel& kernel) {
  std::vector<Lifetime> lifetimes(kernel.value_types.size());
  Walk(lifetimes).Visit(kernel.body);
  return lifetimes;
}

bool Stores(const Stmt& stmt, llvm::function_ref<bool(const StoreStmt&)> counts) {
  if (const auto* store = std::get_if<StoreStmt>(&stmt)) return counts(*store);
  bool found = false;
  const auto look = [&](const Region& region) {
    ForEachStmt(region, [&](const Stmt& inner) {
      const auto* store = std::get_if<StoreStmt>(&inner);
      found |= store != nullptr && counts(*store);
    });
  };
  if (const auto* loop = std::get_if<LoopStmt>(&stmt)) look(*loop->body);
  if (const auto* reduce = std::get_if<ReduceStmt>(&stmt)) {
    look(*reduce->body);
    look(*reduce->combiner);
  }
  return found;
}

}  // namespace hlo::tile
