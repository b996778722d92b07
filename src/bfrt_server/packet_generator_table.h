// tf1.pktgen.port_cfg, app_cfg and pkt_buffer: the packet generators of the pipes that clients see.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

class PacketGeneratorTable final : public TableAccess {
 public:
  PacketGeneratorTable(const bfrt::Table& table, std::uint32_t pipes)
      : TableAccess(table), pipes_(pipes) {}

  void write(const EntryWrite& update, WriteBatch& batch) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;

 private:
  // As softswitch's commands name it.
  std::string short_name() const;
  nlohmann::json data_of(const bfrt_proto::TableData& data, const std::string& context) const;
  // The pipes of a call's target: one, or all that clients see. Throws Failure.
  std::pair<std::uint32_t, std::uint32_t> pipes_of(const bfrt_proto::TargetDevice& target,
                                                   const std::string& context) const;

  std::uint32_t pipes_;
};

}  // namespace turntable::bfrt_server
