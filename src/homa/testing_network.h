// Nodes on a network that loses, doubles, delays and reorders datagrams, in a time of its own.
// Every node calls and serves; every request asks for a response of some size, and both have
// content that can be checked. Watches (testing_watch.h) follow every node.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "homa/endpoint.h"
#include "homa/testing_watch.h"

namespace turntable::homa {

struct NetworkSettings {
  Settings transport;
  unsigned nodes = 4;
  std::uint64_t calls = 10000;  // of all nodes
  unsigned outstanding = 8;     // of a node
  std::uint64_t seed = 1;
  double loss = 0;
  double doubled = 0;
  std::uint64_t min_delay = 1;  // a datagram takes from min_delay to max_delay; an uplink sends one
  std::uint64_t max_delay = 1;  // datagram in a unit of time, or all at once
  bool at_once = false;
  std::uint64_t tick_every = 200;
  std::vector<std::uint32_t> sizes;  // of messages, each as probable
};

struct NetworkResult {
  std::uint64_t responses = 0;
  std::uint64_t aborted = 0;
  std::uint64_t wrong_bytes = 0;
  std::uint64_t answered_twice = 0;
  std::uint64_t executed = 0;
  std::uint64_t executed_again = 0;
  std::uint64_t lost = 0;
  std::uint64_t unanswered = 0;  // when nothing happened any more, or for too long
  std::uint64_t broken_rules = 0;
  std::string first_broken_rule;
  Statistics transport;  // of all nodes
};

NetworkResult run_network(const NetworkSettings& settings);

}  // namespace turntable::homa
