#include "bfrt_driver/switch_calls.h"

namespace turntable::bfrt_driver {
namespace {

constexpr std::uint32_t kAllPipes = 0xFFFF;
constexpr std::uint32_t kAll = 0xFF;

void set_all(bfrt_proto::TargetDevice& target) {
  target.set_pipe_id(kAllPipes);
  target.set_direction(kAll);
  target.set_prsr_id(kAll);
}

bfrt_proto::TableEntry& add(bfrt_proto::ReadRequest& request, const bfrt::Table& table,
                            SwitchCalls::From from) {
  auto& entry = *request.add_entities()->mutable_table_entry();
  entry.set_table_id(table.id);
  entry.mutable_table_flags()->set_from_hw(from == SwitchCalls::From::kHardware);
  return entry;
}

}  // namespace

const SwitchSchema& SwitchCalls::schema() {
  if (!schema_) schema_ = connection_.bound(deadline_);
  return *schema_;
}

const bfrt::Table& SwitchCalls::table_of(const nlohmann::json& args) {
  const auto named = args.find("table");
  if (named == args.end() || !named->is_string())
    throw bad_argument("\"table\" is missing; expected a table's name");
  return schema().table(*named);
}

bfrt_proto::WriteRequest SwitchCalls::write_request(bfrt_proto::WriteRequest::Atomicity atomicity) {
  bfrt_proto::WriteRequest request;
  set_all(*request.mutable_target());
  request.set_atomicity(atomicity);
  return request;
}

bfrt_proto::WriteRequest& SwitchCalls::write_request(
    google::protobuf::Arena& arena, bfrt_proto::WriteRequest::Atomicity atomicity) {
  auto& request = *google::protobuf::Arena::CreateMessage<bfrt_proto::WriteRequest>(&arena);
  set_all(*request.mutable_target());
  request.set_atomicity(atomicity);
  return request;
}

bfrt_proto::ReadRequest SwitchCalls::read_request() {
  bfrt_proto::ReadRequest request;
  set_all(*request.mutable_target());
  return request;
}

void SwitchCalls::write(bfrt_proto::WriteRequest& request) {
  if (request.updates().empty()) return;
  connection_.write(request, deadline_);
}

SwitchCalls::Entries SwitchCalls::read(const bfrt_proto::ReadRequest& request,
                                       SwitchConnection::Missing missing) {
  Entries entries;
  for (auto& entity : connection_.read(request, deadline_, missing)) {
    if (entity.has_table_entry()) entries.push_back(std::move(*entity.mutable_table_entry()));
  }
  return entries;
}

SwitchCalls::Entries SwitchCalls::read_all(const bfrt::Table& table, From from) {
  auto request = read_request();
  add(request, table, from);
  Entries entries = read(request, SwitchConnection::Missing::kIsLeftOut);
  std::erase_if(entries, [](const auto& entry) { return entry.is_default_entry(); });
  return entries;
}

SwitchCalls::Entries SwitchCalls::read_default(const bfrt::Table& table, From from) {
  auto request = read_request();
  add(request, table, from).set_is_default_entry(true);
  return read(request, SwitchConnection::Missing::kIsLeftOut);
}

SwitchCalls::Entries SwitchCalls::read_some(const bfrt::Table& table, std::size_t count,
                                            const PutKey& put_key, From from,
                                            SwitchConnection::Missing missing) {
  auto request = read_request();
  for (std::size_t i = 0; i < count; ++i) put_key(i, add(request, table, from));
  return read(request, missing);
}

std::uint64_t SwitchCalls::usage(const bfrt::Table& table) {
  auto request = read_request();
  request.add_entities()->mutable_table_usage()->set_table_id(table.id);
  std::uint64_t entries = 0;
  for (const auto& entity : connection_.read(request, deadline_))
    entries += entity.table_usage().usage();
  return entries;
}

bool SwitchCalls::sync(const bfrt::Table& table) {
  for (const char* operation : {"Sync", "SyncCounters", "SyncRegisters"}) {
    if (!has_operation(table, operation)) continue;
    auto request = write_request();
    auto& update = *request.add_updates();
    update.set_type(bfrt_proto::Update::INSERT);
    auto& wanted = *update.mutable_entity()->mutable_table_operation();
    wanted.set_table_id(table.id);
    wanted.set_table_operations_type(operation);
    write(request);
    return true;
  }
  return false;
}

}  // namespace turntable::bfrt_driver
