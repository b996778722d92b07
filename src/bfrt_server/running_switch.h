// softswitch as it runs now, and the state that a driver keeps beside it: schemas, ports, copies of
// registers and counters. When softswitch ends all of that ends with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "bfrt/schema.h"
#include "bfrt_server/ports.h"
#include "bfrt_server/queue_tables.h"
#include "bfrt_server/switch_link.h"
#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

struct SwitchOptions {
  std::filesystem::path directory;
  std::string name = "softswitch";
  std::uint32_t pipes = 2;          // that clients see of a switch with one state for all
  std::optional<PortMap> port_map;  // without: in the order of connectors
  Ports::Begin ports = Ports::Begin::kAdded;
};

// Thread-safe.
class RunningSwitch {
 public:
  // Throws CommandError where softswitch does not answer, std::runtime_error where its schema is
  // not understood.
  explicit RunningSwitch(const SwitchOptions& options);
  // Another program of the same switch: ports and queues go on as they are.
  RunningSwitch(const SwitchOptions& options, const RunningSwitch& before);

  const std::string& program() const { return facts_.name; }
  const std::string& program_schema() const { return program_schema_text_; }
  const std::string& fixed_schema() const { return fixed_schema_text_; }
  const bfrt::Schema& schema() const { return schema_; }

  // nullptr: no table has the id.
  TableAccess* table(std::uint32_t id) const;
  const bfrt::Table* described(const std::string& name) const;

  SwitchLink& link() { return link_; }
  Ports& ports() { return *ports_; }

 private:
  RunningSwitch(const SwitchOptions& options, PipesShown pipes);
  RunningSwitch(const SwitchOptions& options, PipesShown pipes, std::shared_ptr<Ports> ports,
                std::shared_ptr<Shapers> shapers);

  void add_program_table(const bfrt::Table& table);
  void add_fixed_table(const bfrt::Table& table);
  nlohmann::json device_facts() const;

  PipesShown pipes_;
  SwitchLink link_;
  std::shared_ptr<Ports> ports_;
  std::shared_ptr<Shapers> shapers_;
  ProgramFacts facts_;
  std::string program_schema_text_;
  std::string fixed_schema_text_;
  bfrt::Schema schema_;
  bfrt::Schema fixed_schema_;
  std::map<std::uint32_t, std::unique_ptr<TableAccess>> tables_;  // by id
};

}  // namespace turntable::bfrt_server
