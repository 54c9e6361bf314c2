#include "ir/support/interrupt.h"

#include <csignal>

#include "gtest/gtest.h"

namespace hlo {
namespace {

TEST(Interrupt, SignalSetsTheFlagAndTheFirstRequestWins) {
  static StopToken stop;
  InstallInterruptHandlers(stop);
  const StopScope scope(stop);
  EXPECT_FALSE(Interrupted());
  std::raise(SIGTERM);
  EXPECT_TRUE(Interrupted());
  stop.Request(InterruptCause::Timeout);
  EXPECT_EQ(WhyInterrupted(), InterruptCause::Signal);
  EXPECT_EQ(InterruptSignal(), SIGTERM);
  EXPECT_EQ(InterruptedError().id.text(), "interrupted");
  stop.Clear();
  EXPECT_FALSE(Interrupted());
}

TEST(Interrupt, RequestsReachWhatIsBelow) {
  EXPECT_FALSE(Interrupted());  // work that belongs to nobody
  StopToken above;
  StopToken one(&above);
  StopToken other(&above);
  one.Request(InterruptCause::Timeout);
  EXPECT_TRUE(one.requested());
  EXPECT_FALSE(other.requested());
  EXPECT_FALSE(above.requested());
  above.Request(InterruptCause::Signal, SIGINT);
  EXPECT_EQ(other.cause(), InterruptCause::Signal);
  EXPECT_EQ(other.signal(), SIGINT);
  EXPECT_EQ(one.cause(), InterruptCause::Timeout);
  const StopScope scope(one);
  {
    const StopScope inner(other);
    EXPECT_EQ(InterruptSignal(), SIGINT);
  }
  EXPECT_EQ(WhyInterrupted(), InterruptCause::Timeout);
  EXPECT_EQ(InterruptSignal(), 0);
}

TEST(Interrupt, TimeLimit) {
  StopToken stop;
  const StopScope scope(stop);
  { const TimeLimit generous(stop, std::chrono::hours(1)); }
  EXPECT_FALSE(Interrupted());
  const TimeLimit limit(stop, std::chrono::milliseconds(5));
  for (int i = 0; i < 1000 && !Interrupted(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(WhyInterrupted(), InterruptCause::Timeout);
  EXPECT_EQ(InterruptedError().id.text(), "limit-timeout");
}

}  // namespace
}  // namespace hlo
