// Keys on their way into a slot or out of it.
#pragma once

#include <map>
#include <vector>

#include "farreach/cache/messages.h"
#include "net/task.h"

namespace turntable::cache {

// A key's steps are in order: whoever finds it in transit waits.
class Transits {
 public:
  void begin(const Key& key) { waiting_.emplace(key, std::vector<net::Completion<bool>*>()); }
  void end(const Key& key) {
    const auto node = waiting_.extract(key);
    for (net::Completion<bool>* const waiting : node.mapped()) waiting->complete(true);
  }
  net::Task<void> until_ended(Key key) {
    net::Completion<bool> ended;
    waiting_.at(key).push_back(&ended);
    co_await ended;
  }

  bool contains(const Key& key) const { return waiting_.contains(key); }
  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }
  const Key& any() const { return waiting_.begin()->first; }

 private:
  std::map<Key, std::vector<net::Completion<bool>*>> waiting_;
};

}  // namespace turntable::cache
