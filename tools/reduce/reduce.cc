#include "tools/reduce/reduce.h"

#include <mutex>

#include "ir/print.h"
#include "ir/support/interrupt.h"
#include "ir/support/parallel.h"
#include "ir/verify.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/xxhash.h"

namespace hlo {
namespace {

/// One reduction: the best module so far and what has been tried.
class Reduction {
 public:
  Reduction(const Module& module, const ReduceOptions& options) : options_(options), best_(module.Clone()) {
    if (auto observed = ObserveValues(module, options.memory_limit); observed)
      observed_ = std::move(*observed);
    else if (options.remark)
      options.remark("no values take the place of what computes them: " + observed.error().message);
  }

  Result<ReduceResult> Run() {
    for (bool progress = true; progress && !Done();) {
      progress = false;
      for (const ReduceStrategy& strategy : ReduceStrategies()) {
        HLO_TRY(const bool helped, strategy.count ? Ranges(strategy) : Edits(strategy));
        progress |= helped;
        if (Done()) break;
      }
    }
    return ReduceResult{std::move(best_), tests_, tests_ >= options_.max_tests};
  }

 private:
  struct Candidate {
    ReduceEdit edit;
    std::unique_ptr<Module> module;  // null: not worth a test
    bool interesting = false;
  };

  [[nodiscard]] bool Done() const { return tests_ >= options_.max_tests || Interrupted(); }

  /// How many candidates may be tested at a time.
  [[nodiscard]] int64_t MostTests() const { return std::min(options_.jobs, options_.max_tests - tests_); }

  /// Ever smaller ranges of what the strategy can remove, from the back.
  Result<bool> Ranges(const ReduceStrategy& strategy) {
    bool helped = false;
    for (int64_t size = strategy.count(*best_); size > 0; size /= 2) {
      for (int64_t end = strategy.count(*best_); end > 0 && !Done();) {
        std::vector<Candidate> batch;
        for (int64_t e = end; e > 0 && static_cast<int64_t>(batch.size()) < MostTests(); e -= size) {
          const int64_t begin = std::max<int64_t>(0, e - size);
          batch.push_back(
              {[this, &strategy, begin, e](Module& m) { return strategy.remove(m, begin, e, observed_); },
               {},
               {}});
        }
        HLO_TRY(const int64_t at, FirstInteresting(strategy, batch));
        helped |= at < static_cast<int64_t>(batch.size());
        // What lies before the accepted range is still there, under the same numbers.
        end -= size * std::min(at + 1, static_cast<int64_t>(batch.size()));
        end = std::min(end, strategy.count(*best_));
      }
      size = std::min(size, 2 * strategy.count(*best_));
    }
    return helped;
  }

  /// Edits one by one, made anew after each success.
  Result<bool> Edits(const ReduceStrategy& strategy) {
    bool helped = false;
    for (size_t next = 0; !Done();) {
      const std::vector<ReduceEdit> edits = strategy.edits(*best_);
      if (next >= edits.size()) return helped;
      std::vector<Candidate> batch;
      while (next + batch.size() < edits.size() && static_cast<int64_t>(batch.size()) < MostTests())
        batch.push_back({edits[next + batch.size()], {}, {}});
      HLO_TRY(const int64_t at, FirstInteresting(strategy, batch));
      const bool hit = at < static_cast<int64_t>(batch.size());
      helped |= hit;
      // After a success the edits are others, but those before did not help; the rest follows next round.
      next = hit && strategy.restart ? 0 : next + static_cast<size_t>(at);
    }
    return helped;
  }

  /// Makes the first interesting candidate the best module; its number, or the batch's size.
  Result<int64_t> FirstInteresting(const ReduceStrategy& strategy, std::vector<Candidate>& batch) {
    for (Candidate& c : batch) Prepare(strategy, c);
    std::mutex mutex;
    std::optional<Diagnostic> error;
    ParallelFor(0, static_cast<int64_t>(batch.size()), 1, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; ++i) {
        Candidate& c = batch[static_cast<size_t>(i)];
        if (!c.module) continue;
        auto result = options_.interesting(ReducedText(*c.module));
        if (result) {
          c.interesting = *result;
        } else {
          const std::lock_guard lock(mutex);
          if (!error) error = std::move(result).error();
        }
      }
    });
    if (error) {
      if (Interrupted()) return static_cast<int64_t>(batch.size());
      return Error(std::move(*error));
    }
    // Candidates behind the first interesting one count as not tested, so that jobs make no difference.
    for (size_t i = 0; i < batch.size(); ++i) {
      Candidate& c = batch[i];
      if (!c.module) continue;
      ++tests_;
      seen_.insert(Key(strategy, *c.module));
      if (!c.interesting) continue;
      best_ = std::move(c.module);
      if (options_.improved) HLO_CHECK_OK(options_.improved(strategy.name, *best_));
      return static_cast<int64_t>(i);
    }
    return static_cast<int64_t>(batch.size());
  }

  static uint64_t Key(const ReduceStrategy& strategy, const Module& module) {
    return (strategy.cosmetic ? llvm::xxh3_64bits(ReducedText(module)) : Fingerprint(module)) & ~uint64_t{1};
  }

  /// The module that the edit makes of the best one, if it is valid, new and no bigger.
  void Prepare(const ReduceStrategy& strategy, Candidate& candidate) {
    auto module = best_->Clone();
    if (!candidate.edit(*module)) return;
    TidyReduced(*module);
    if (!Verify(*module, {.max_errors = 1}).empty()) return;
    if (seen_.contains(Key(strategy, *module))) return;
    candidate.module = std::move(module);
  }

  const ReduceOptions& options_;
  ObservedValues observed_;
  std::unique_ptr<Module> best_;
  llvm::DenseSet<uint64_t> seen_;
  int64_t tests_ = 0;
};

}  // namespace

std::string ReducedText(const Module& module) {
  PrintOptions options = PrintOptions::ModuleDump();
  options.max_constant_elements = -1;
  return ToString(module, options) + "\n";
}

Result<ReduceResult> ReduceModule(const Module& module, const ReduceOptions& options) {
  return Reduction(module, options).Run();
}

}  // namespace hlo
