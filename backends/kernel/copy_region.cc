#include "backends/kernel/copy_region.h"

namespace hlo::kernel {

std::unique_ptr<Region> RegionCopier::Copy(const Region& region) {
  auto copy = std::make_unique<Region>();
  for (const Stmt& stmt : region.stmts)
    copy->stmts.push_back(std::visit([&](const auto& s) { return Copied(s); }, stmt));
  copy->yields = Uses(region.yields);
  return copy;
}

Address RegionCopier::Copied(const Address& address) const {
  Address copy;
  copy.offset = address.offset;
  for (const auto& term : address.loops) {
    const auto it = loops_.find(term.id);
    copy.AddLoop(it == loops_.end() ? term.id : it->second, term.factor);
  }
  for (const auto& term : address.values) copy.AddValue(of(term.id), term.factor);
  return copy;
}

Dimension RegionCopier::Copied(const Dimension& d) {
  Dimension copy = d;
  copy.id = loops_[d.id] = kernel_.loop_count++;
  if (const auto it = loops_.find(d.outer); it != loops_.end()) copy.outer = it->second;
  return copy;
}

Stmt RegionCopier::Copied(const ConstantStmt& s) {
  ConstantStmt copy = s;
  copy.result = Define(s.result);
  return copy;
}
Stmt RegionCopier::Copied(const IndexStmt& s) {
  const Address address = Copied(s.address);
  return IndexStmt{Define(s.result), address};
}
Stmt RegionCopier::Copied(const OpStmt& s) {
  OpStmt copy = s;
  copy.operands = Uses(s.operands);
  copy.result = Define(s.result);
  return copy;
}
Stmt RegionCopier::Copied(const LoadStmt& s) {
  LoadStmt copy{-1, s.buffer, Copied(s.address), of(s.mask), of(s.otherwise)};
  copy.result = Define(s.result);
  return copy;
}
Stmt RegionCopier::Copied(const StoreStmt& s) {
  return StoreStmt{s.buffer, Copied(s.address), of(s.value), of(s.mask), s.streaming};
}
Stmt RegionCopier::Copied(const LoopStmt& s) {
  Dimension d = Copied(s.loop);
  d.when = of(d.when);
  d.before = of(d.before);
  return LoopStmt{d, Copy(*s.body)};
}
Stmt RegionCopier::Copied(const ReduceStmt& s) {
  ReduceStmt copy{
      .results = {}, .loops = {}, .inits = Uses(s.inits), .body = {}, .parameters = {}, .combiner = {}};
  for (const Dimension& d : s.loops) copy.loops.push_back(Copied(d));
  copy.body = Copy(*s.body);
  for (const ValueId value : s.parameters) copy.parameters.push_back(Define(value));
  copy.combiner = Copy(*s.combiner);
  for (const ValueId value : s.results) copy.results.push_back(Define(value));
  copy.in_order = s.in_order;
  copy.origin = s.origin;
  copy.parts = s.parts;
  return copy;
}

}  // namespace hlo::kernel
