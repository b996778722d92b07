// tf1.tm.*: the traffic manager. A port group has four ports, a port eight queues:
//
//   dev_port = 128 pipe + 4 pg_id + pg_queue / 8, queue = pg_queue mod 8
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "bfrt_server/ports.h"
#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

// Rates as they were set; softswitch knows only those that are enabled too. Thread-safe.
class Shapers {
 public:
  struct Shaper {
    bool enabled = false;
    std::uint64_t kbit_per_s = 0;
    std::uint64_t burst_bytes = 0;
    std::string provisioning = "UPPER";
  };
  static constexpr int kWholePort = -1;
  using Place = std::pair<DevPort, int>;  // port, and queue or kWholePort

  Shaper at(Place place);
  // Also in softswitch. Throws CommandError.
  void set(Place place, const Shaper& shaper, SwitchLink& link);

 private:
  std::mutex mutex_;
  std::map<Place, Shaper> shapers_;
};

class QueueTable final : public TableAccess {
 public:
  QueueTable(const bfrt::Table& table, Ports& ports, Shapers& shapers, std::uint32_t pipes)
      : TableAccess(table), ports_(ports), shapers_(shapers), pipes_(pipes) {}

  void write(const EntryWrite& update, WriteBatch& batch) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;

 private:
  Shapers::Place place_of(const bfrt_proto::TableKey& key, const bfrt_proto::TargetDevice& target,
                          const std::string& context) const;
  bool is_of_queues() const;
  bool is(const char* ending) const { return table().name.ends_with(ending); }
  nlohmann::json data_at(Shapers::Place place, SwitchLink& link);
  void check_scheduling(const nlohmann::json& values, Shapers::Place place) const;
  void check_shaping(const nlohmann::json& values) const;

  Ports& ports_;
  Shapers& shapers_;
  std::uint32_t pipes_;
};

// tf1.tm.cfg and tf1.dev.device_configuration: one entry without a key, of facts and of settings,
// which mean nothing to softswitch and are kept.
class FactTable final : public TableAccess {
 public:
  // facts: with the settings as they are at first.
  FactTable(const bfrt::Table& table, nlohmann::json facts)
      : TableAccess(table), first_(std::move(facts)), now_(first_) {}

  void write(const EntryWrite& update, WriteBatch& batch) override;
  bool has_default_entry() const override { return true; }

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;

 private:
  bool has_settings() const;

  nlohmann::json first_;
  std::mutex mutex_;
  nlohmann::json now_;
};

}  // namespace turntable::bfrt_server
