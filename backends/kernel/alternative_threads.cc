// Schedules of blocks and threads that do the same with other sizes.
#include "backends/kernel/product_steps.h"
#include "backends/kernel/schedule.h"

namespace hlo::kernel {

std::vector<Schedule> AlternativeThreads(const Kernel& kernel, const Target& target) {
  std::vector<Schedule> all = {ChooseThreads(kernel, target)};
  const auto add = [&](const Schedule& schedule) {
    if (!schedule.empty() && !llvm::is_contained(all, schedule)) all.push_back(schedule);
  };
  for (size_t i = 0; i < all[0].size(); ++i)
    if (all[0][i].kind == ScheduleStep::Kind::Product)
      for (const ProductShape& shape : AlternativeProducts(all[0][i].product, target)) {
        Schedule other = all[0];
        other[i].product = shape;
        other[i].by = shape.rows;
        add(other);
      }
  for (int64_t threads = target.blocks.lanes; threads <= target.blocks.most_threads; threads *= 2) {
    Target other = target;
    other.blocks.threads = threads;
    add(ChooseThreads(kernel, other));
  }
  for (int64_t access = target.blocks.access / 2; access >= int64_t{sizeof(float)}; access /= 2) {
    Target other = target;
    other.blocks.access = access;
    add(ChooseThreads(kernel, other));
  }
  return all;
}

}  // namespace hlo::kernel
