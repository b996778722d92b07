// $PORT and the tables beside it.
#pragma once

#include "bfrt_server/ports.h"
#include "bfrt_server/table_access.h"

namespace turntable::bfrt_server {

// $PORT
class PortTable final : public TableAccess {
 public:
  PortTable(const bfrt::Table& table, Ports& ports) : TableAccess(table), ports_(ports) {}

  void write(const EntryWrite& update, WriteBatch& batch) override;
  std::uint32_t usage(const bfrt_proto::TargetDevice& target, SwitchLink& link) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;

 private:
  Ports& ports_;
};

// $PORT_STAT: what softswitch counts; what it does not is not in the answer.
class PortCounterTable final : public TableAccess {
 public:
  PortCounterTable(const bfrt::Table& table, Ports& ports) : TableAccess(table), ports_(ports) {}

  void write(const EntryWrite& update, WriteBatch& batch) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;

 private:
  Ports& ports_;
};

// $PORT_HDL_INFO, $PORT_STR_INFO, $PORT_FP_IDX_INFO: from a place to its port, added or not.
class PortPlaceTable final : public TableAccess {
 public:
  PortPlaceTable(const bfrt::Table& table, Ports& ports) : TableAccess(table), ports_(ports) {}

  void write(const EntryWrite& update, WriteBatch& batch) override;

 protected:
  void read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                ReadAnswers& answers) override;

 private:
  Ports& ports_;
};

}  // namespace turntable::bfrt_server
