#include "farreach/cache/switch_tables.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace turntable::cache {
namespace {

using Json = Driver::Json;

constexpr std::uint16_t kCpuSession = 1;  // CPU_SESSION of p4/shared/cache/headers.p4
constexpr std::uint16_t kFirstClientSession = 2;
constexpr double kDraws = 65536;  // of the random number that `sampling` matches

Json session(std::size_t number, std::uint16_t port) {
  return {{"op", "upsert"},
          {"table", "$mirror.cfg"},
          {"key", {{"$sid", number}}},
          {"data",
           {{"$session_enable", true},
            {"$direction", "BOTH"},
            {"$ucast_egress_port", port},
            {"$ucast_egress_port_valid", true}}}};
}

Json cleared(const char* table) {
  return {{"op", "clear"}, {"table", table}};
}

}  // namespace

Json mirror_sessions(const std::vector<Client>& clients, std::uint16_t cpu_port) {
  Json updates = Json::array({session(kCpuSession, cpu_port)});
  for (std::size_t i = 0; i < clients.size(); ++i) {
    updates.push_back(session(kFirstClientSession + i, clients[i].port));
  }
  return updates;
}

Json ports_of(const std::vector<Client>& clients, std::uint16_t cpu_port) {
  Json updates = Json::array({cleared("client_session"), cleared("control_port")});
  for (std::size_t i = 0; i < clients.size(); ++i) {
    updates.push_back({{"op", "insert"},
                       {"table", "client_session"},
                       {"key", {{"client_addr", clients[i].address}}},
                       {"action", "answer_by"},
                       {"data", {{"session", kFirstClientSession + i}}}});
  }
  updates.push_back({{"op", "insert"},
                     {"table", "control_port"},
                     {"key", {{"ingress_port", cpu_port}, {"beyond_slots", 0}}},
                     {"action", "from_agent"}});
  return updates;
}

Json hot_threshold(std::uint16_t threshold) {
  return Json::array({{{"op", "set_default"},
                       {"table", "hot_threshold"},
                       {"action", "set_hot_threshold"},
                       {"data", {{"threshold", threshold}}}}});
}

Json sampling(double probability) {
  Json updates = Json::array({cleared("sampling")});
  const auto draws = std::lround(probability * kDraws);
  if (draws > 0) {
    updates.push_back({{"op", "insert"},
                       {"table", "sampling"},
                       {"key", {{"random", {{"low", 0}, {"high", draws - 1}}}}},
                       {"priority", 0},
                       {"action", "sample"}});
  }
  return updates;
}

std::vector<std::string> periodic_registers(bool write_back) {
  std::vector<std::string> names = {"frequency.cells"};
  for (const char* row : {"row_0", "row_1", "row_2", "row_3"}) {
    names.push_back(std::string("sketch.") + row + ".cells");
  }
  if (write_back) return names;
  for (const char* row : {"row_0", "row_1", "row_2"}) {
    names.push_back(std::string("bloom_filter.") + row + ".cells");
  }
  return names;
}

}  // namespace turntable::cache
