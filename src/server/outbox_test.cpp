#include "server/outbox.h"

#include <gtest/gtest.h>

namespace server {
namespace {

Bytes make(std::string text) { return std::make_shared<const std::string>(std::move(text)); }

TEST(Outbox, GivesMessagesInTheirOrderAndThenTheFrame) {
  Outbox outbox;
  outbox.put_frame(make("frame"));
  ASSERT_TRUE(outbox.put_message(make("first")));
  ASSERT_TRUE(outbox.put_message(make("second")));
  EXPECT_EQ(*outbox.take().bytes, "first");
  EXPECT_EQ(*outbox.take().bytes, "second");
  const Outgoing frame = outbox.take();
  EXPECT_EQ(*frame.bytes, "frame");
  EXPECT_TRUE(frame.is_frame);
  EXPECT_EQ(outbox.take().bytes, nullptr);
}

TEST(Outbox, HoldsTheNewestFrameAndLetsGoOfOlderOnes) {
  Outbox outbox;
  const Bytes old = make("old");
  outbox.put_frame(old);
  outbox.put_frame(make("new"));
  EXPECT_EQ(old.use_count(), 1) << "the outbox still holds a frame that it will never give";
  EXPECT_EQ(*outbox.take().bytes, "new");
  EXPECT_EQ(outbox.take().bytes, nullptr);
}

TEST(Outbox, TakesSoManyMessages) {
  Outbox outbox;
  const Bytes text = make("x");
  for (std::size_t i = 0; i < max_waiting_messages; ++i) ASSERT_TRUE(outbox.put_message(text));
  EXPECT_FALSE(outbox.put_message(text));
  outbox.take();
  EXPECT_TRUE(outbox.put_message(text));
}

TEST(Outbox, TakesSoManyBytes) {
  Outbox outbox;
  const Bytes half = make(std::string(max_waiting_bytes / 2, 'x'));
  ASSERT_TRUE(outbox.put_message(half));
  ASSERT_TRUE(outbox.put_message(half));
  EXPECT_FALSE(outbox.put_message(make("x")));
  EXPECT_TRUE(outbox.put_message(make("")));
  outbox.take();
  EXPECT_TRUE(outbox.put_message(make("x")));
  EXPECT_FALSE(Outbox().put_message(make(std::string(max_waiting_bytes + 1, 'x'))));
}

}  // namespace
}  // namespace server
