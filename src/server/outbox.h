// What waits for one client: messages in their order, and the newest frame. Bounded (server/limits.h), whatever the
// client does and whatever is sent. Not thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "server/limits.h"

namespace server {

// Shared: one text or frame goes to several clients, each of which lets go of it in its own time.
using Bytes = std::shared_ptr<const std::string>;

struct Outgoing {
  Bytes bytes;  // null when nothing waits
  bool is_frame = false;
};

class Outbox {
 public:
  // False when more would wait than may; then the message is not taken.
  [[nodiscard]] bool put_message(Bytes text) {
    if (messages_.size() == max_waiting_messages || text->size() > max_waiting_bytes - waiting_bytes_) return false;
    waiting_bytes_ += text->size();
    messages_.push_back(std::move(text));
    return true;
  }

  // In place of one that still waits.
  void put_frame(Bytes frame) { frame_ = std::move(frame); }

  // Messages first: a frame never overtakes one.
  Outgoing take() {
    if (messages_.empty()) return {std::move(frame_), true};
    Outgoing next{std::move(messages_.front()), false};
    messages_.pop_front();
    waiting_bytes_ -= next.bytes->size();
    return next;
  }

 private:
  std::deque<Bytes> messages_;
  std::size_t waiting_bytes_ = 0;  // of the messages
  Bytes frame_;
};

}  // namespace server
