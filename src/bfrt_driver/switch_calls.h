// Reads and writes of one table at a bound switch: what several commands share.
#pragma once

#include <google/protobuf/arena.h>

#include <functional>
#include <string>
#include <vector>

#include "bfrt_driver/switch_connection.h"

namespace turntable::bfrt_driver {

class SwitchCalls {
 public:
  explicit SwitchCalls(SwitchConnection& connection)
      : SwitchCalls(connection, connection.call_deadline()) {}
  SwitchCalls(SwitchConnection& connection, Deadline deadline)
      : connection_(connection), deadline_(deadline) {}

  // The schema of the switch as it is bound now.
  const SwitchSchema& schema();
  // args["table"]. Throws CommandError.
  const bfrt::Table& table_of(const nlohmann::json& args);

  // All pipes unless an update says otherwise. All or nothing is for entries only: a switch does
  // not take back what was done to registers, counters, meters or ports.
  static bfrt_proto::WriteRequest write_request(
      bfrt_proto::WriteRequest::Atomicity atomicity = bfrt_proto::WriteRequest::CONTINUE_ON_ERROR);
  // The same on the arena: a request of many updates, whose parts are freed all at once.
  static bfrt_proto::WriteRequest& write_request(google::protobuf::Arena& arena,
                                                 bfrt_proto::WriteRequest::Atomicity atomicity);
  static bfrt_proto::ReadRequest read_request();
  void write(bfrt_proto::WriteRequest& request);

  enum class From : std::uint8_t { kDriver, kHardware };
  using Entries = std::vector<bfrt_proto::TableEntry>;

  // All entries, without the default one.
  Entries read_all(const bfrt::Table& table, From from = From::kDriver);
  // The default entry; empty where the switch has none.
  Entries read_default(const bfrt::Table& table, From from = From::kDriver);
  // `put_key` completes each of `count` entries with its key.
  using PutKey = std::function<void(std::size_t, bfrt_proto::TableEntry&)>;
  Entries read_some(const bfrt::Table& table, std::size_t count, const PutKey& put_key, From from,
                    SwitchConnection::Missing missing = SwitchConnection::Missing::kIsAnError);
  // How many entries it has.
  std::uint64_t usage(const bfrt::Table& table);

  // Makes the values of the hardware those that reads from the driver see. True: the table has such
  // an operation, and it is done. Else they have to be read from hardware one by one.
  bool sync(const bfrt::Table& table);

  SwitchConnection& connection() { return connection_; }
  Deadline deadline() const { return deadline_; }

 private:
  Entries read(const bfrt_proto::ReadRequest& request, SwitchConnection::Missing missing);

  SwitchConnection& connection_;
  Deadline deadline_;
  SwitchConnection::Schema schema_;
};

}  // namespace turntable::bfrt_driver
