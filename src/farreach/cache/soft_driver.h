// The software switch's driver: its control socket, and the interface of its CPU port.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "farreach/cache/driver.h"
#include "net/event_loop.h"
#include "node/control_client.h"

namespace turntable::cache {

class SoftDriver final : public Driver {
 public:
  // The switch is the node `switch_name` of `run_directory`; it may start later. `interface` is the
  // control plane's end of the CPU port; throws std::runtime_error that names it. Needs
  // CAP_NET_RAW.
  SoftDriver(net::EventLoop& loop, std::filesystem::path run_directory, std::string switch_name,
             const std::string& interface);
  ~SoftDriver() override;

  void reconnect() override { client_.reset(); }
  void write_tables(const Json& updates) override;
  void write_entries(const std::string& table, const std::vector<Column>& key,
                     const std::string& action, const std::vector<Column>& data) override;
  Json read_table(const std::string& table) override;
  std::string read_default(const std::string& table) override;
  std::size_t count_entries(const std::string& table) override;
  std::vector<std::uint64_t> read_register(const std::string& name, std::uint32_t first,
                                           std::uint32_t count) override;
  void write_register(const std::string& name, std::uint32_t first,
                      const std::vector<std::uint64_t>& values) override;
  void write_registers(const std::vector<Cells>& ranges) override;
  void clear_register(const std::string& name) override;
  void clear_registers() override;
  std::vector<std::uint64_t> read_counter(const std::string& name) override;
  void send(const ControlFrame& frame) override;

 private:
  Json call(const std::string& command, const Json& args);
  std::unique_ptr<node::ControlClient> take_client();
  void receive();

  net::EventLoop& loop_;
  const std::filesystem::path run_directory_;
  const std::string switch_name_;
  UniqueFd cpu_port_;
  std::unique_ptr<node::ControlClient> client_;
};

}  // namespace turntable::cache
