#include "ir/support/interrupt.h"

#include <csignal>

#include "gtest/gtest.h"

namespace hlo {
namespace {

TEST(Interrupt, SignalSetsTheFlagAndTheFirstRequestWins) {
  InstallInterruptHandlers();
  EXPECT_FALSE(Interrupted());
  std::raise(SIGTERM);
  EXPECT_TRUE(Interrupted());
  RequestInterrupt(InterruptCause::Timeout);
  EXPECT_EQ(WhyInterrupted(), InterruptCause::Signal);
  EXPECT_EQ(InterruptSignal(), SIGTERM);
  EXPECT_EQ(InterruptedError().id.text(), "interrupted");
  ClearInterrupt();
  EXPECT_FALSE(Interrupted());
}

TEST(Interrupt, TimeLimit) {
  { const TimeLimit generous(std::chrono::hours(1)); }
  EXPECT_FALSE(Interrupted());
  const TimeLimit limit(std::chrono::milliseconds(5));
  for (int i = 0; i < 1000 && !Interrupted(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(WhyInterrupted(), InterruptCause::Timeout);
  EXPECT_EQ(InterruptedError().id.text(), "limit-timeout");
  ClearInterrupt();
}

}  // namespace
}  // namespace hlo
