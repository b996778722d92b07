// $pre.* and $mirror.cfg, which softswitch has under the same names.
#pragma once

#include <nlohmann/json.hpp>

#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

class ReplicationTable final : public TableAccess {
 public:
  using TableAccess::TableAccess;

  void write(const EntryWrite& update, WriteBatch& batch) override;
  std::uint32_t usage(const bfrt_proto::TargetDevice& target, SwitchLink& link) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;

 private:
  nlohmann::json written_data(const EntryWrite& update, const std::string& context) const;
  void modify_lists(const EntryWrite& update, WriteBatch& batch, const std::string& context);
  bool always_has_entries() const;
  nlohmann::json empty_entry() const;
  nlohmann::json entries(SwitchLink& link) const;
  nlohmann::json readable(SwitchLink& link, const nlohmann::json& key) const;
};

}  // namespace turntable::bfrt_server
