// A switch that speaks BF Runtime, inside the test: one program, entries kept as the messages that
// wrote them. Its rules are those of the public server (one client per id and program, which end
// with the stream; details of errors in the trailing metadata); its faults are the test's.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bfrt/bfruntime.grpc.pb.h"
#include "bfrt/google/rpc/status.pb.h"

namespace turntable::bfrt_driver::testing {

constexpr std::uint32_t kRoute = 0x0200'0001;
constexpr std::uint32_t kCells = 0x0200'0002;
constexpr std::uint32_t kPairs = 0x0200'0003;
constexpr std::uint32_t kPorts = 0x0200'0004;
constexpr std::uint32_t kMirror = 0xFF04'0001;
constexpr std::uint32_t kSend = 0x0100'0001;
constexpr std::uint32_t kDrop = 0x0100'0002;
constexpr std::uint32_t kLearn = 0x0300'0001;
constexpr std::uint32_t kPriorityField = 65537;
constexpr std::uint32_t kRegisterIndex = 65557;
constexpr std::uint32_t kCounterIndex = 65556;
constexpr std::uint32_t kCountPackets = 65554;

// The schema of the program "toy".
inline nlohmann::json toy_schema() {
  return nlohmann::json::parse(R"({
    "schema_version": "1.0.0",
    "tables": [
      {"name": "pipe.In.route", "id": 33554433, "table_type": "MatchAction_Direct", "size": 4,
       "key": [
         {"id": 1, "name": "hdr.ip.dst", "match_type": "LPM", "mandatory": false,
          "type": {"type": "bytes", "width": 32}},
         {"id": 2, "name": "ig_md.port", "match_type": "Range", "mandatory": false,
          "type": {"type": "bytes", "width": 9}},
         {"id": 65537, "name": "$MATCH_PRIORITY", "match_type": "Exact", "mandatory": false,
          "type": {"type": "uint32"}}],
       "action_specs": [
         {"id": 16777217, "name": "In.send", "action_scope": "TableAndDefault", "data": [
           {"id": 1, "name": "port", "mandatory": true, "read_only": false,
            "type": {"type": "bytes", "width": 9}},
           {"id": 2, "name": "mac", "mandatory": true, "read_only": false,
            "type": {"type": "bytes", "width": 48}}]},
         {"id": 16777218, "name": "In.drop", "action_scope": "TableAndDefault", "data": []}],
       "data": [{"singleton": {"id": 65554, "name": "$COUNTER_SPEC_PKTS",
                               "type": {"type": "uint64"}}, "mandatory": false, "read_only": false}],
       "supported_operations": ["SyncCounters"], "attributes": []},
      {"name": "pipe.In.cache", "id": 33554437, "table_type": "MatchAction_Direct", "size": 4,
       "key": [
         {"id": 1, "name": "low", "match_type": "Exact", "mandatory": true,
          "type": {"type": "bytes", "width": 12}},
         {"id": 2, "name": "high", "match_type": "Exact", "mandatory": true,
          "type": {"type": "bytes", "width": 16}}],
       "action_specs": [
         {"id": 16777219, "name": "In.cached_at", "action_scope": "TableOnly", "data": [
           {"id": 1, "name": "slot", "mandatory": true, "read_only": false,
            "type": {"type": "bytes", "width": 9}}]}],
       "data": [], "supported_operations": [], "attributes": []},
      {"name": "pipe.In.cells", "id": 33554434, "table_type": "Register", "size": 200,
       "key": [{"id": 65557, "name": "$REGISTER_INDEX", "match_type": "Exact", "mandatory": true,
                "type": {"type": "uint32"}}],
       "data": [{"singleton": {"id": 1, "name": "In.cells.f1",
                               "type": {"type": "bytes", "width": 20}}}],
       "supported_operations": ["Sync"], "attributes": []},
      {"name": "pipe.In.pairs", "id": 33554435, "table_type": "Register", "size": 2,
       "key": [{"id": 65557, "name": "$REGISTER_INDEX", "match_type": "Exact", "mandatory": true,
                "type": {"type": "uint32"}}],
       "data": [{"singleton": {"id": 1, "name": "In.pairs.first",
                               "type": {"type": "bytes", "width": 8}}},
                {"singleton": {"id": 2, "name": "In.pairs.second",
                               "type": {"type": "bytes", "width": 16}}}],
       "supported_operations": ["Sync"], "attributes": []},
      {"name": "pipe.In.ports", "id": 33554436, "table_type": "Counter", "size": 4,
       "key": [{"id": 65556, "name": "$COUNTER_INDEX", "match_type": "Exact", "mandatory": true,
                "type": {"type": "uint32"}}],
       "data": [{"singleton": {"id": 65554, "name": "$COUNTER_SPEC_PKTS",
                               "type": {"type": "uint64"}}}],
       "supported_operations": ["Sync"], "attributes": []}],
    "learn_filters": [
      {"name": "pipe.InDeparser.learn", "id": 50331649, "annotations": [], "fields": [
        {"id": 1, "name": "src", "type": {"type": "bytes", "width": 48}},
        {"id": 2, "name": "port", "type": {"type": "bytes", "width": 9}}]}]})");
}

inline nlohmann::json fixed_schema() {
  return nlohmann::json::parse(R"({
    "schema_version": "1.0.0",
    "tables": [
      {"name": "$mirror.cfg", "id": 4278452225, "table_type": "MirrorCfg", "size": 1024,
       "key": [{"id": 1, "name": "$sid", "match_type": "Exact", "mandatory": true,
                "type": {"type": "uint16"}}],
       "action_specs": [{"id": 1, "name": "$normal", "data": [
          {"id": 1, "name": "$session_enable", "type": {"type": "bool"}},
          {"id": 2, "name": "$direction", "type": {"type": "string",
           "choices": ["INGRESS", "EGRESS", "BOTH"]}},
          {"id": 3, "name": "$ucast_egress_port", "type": {"type": "uint32"}}]},
         {"id": 2, "name": "$coalescing", "data": []}],
       "data": [], "supported_operations": [], "attributes": []}]})");
}

class FakeSwitch final : public bfrt_proto::BfRuntime::Service {
 public:
  explicit FakeSwitch(std::string name = "toy", int port = 0) : program(std::move(name)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(),
                             &port_);
    // As a switch that is started again: the port of one that has just ended is free.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetMaxReceiveMessageSize(-1);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    if (!server_) throw std::runtime_error("the fake switch cannot listen");
  }
  ~FakeSwitch() override { end(); }

  // As when its process is killed: no stream is left.
  void end() {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int port() const { return port_; }

  // Set before or between calls, under `mutex`.
  std::mutex mutex;
  std::string program;
  nlohmann::json schema = toy_schema();
  std::set<std::uint32_t> ids;         // of clients with a stream
  std::optional<std::uint32_t> owner;  // the client that has the program
  int busy = 0;                        // so many calls are answered with UNAVAILABLE
  int refused = 0;                     // subscriptions
  int pipes = 1;
  bool drop_on_write = false;           // the stream and the call end in a Write
  std::map<int, grpc::Status> failing;  // by update of a Write
  std::vector<bfrt_proto::WriteRequest> writes;
  std::vector<bfrt_proto::ReadRequest> reads;
  std::vector<std::string> operations;
  using Key = std::pair<std::uint32_t, std::string>;
  std::map<Key, bfrt_proto::TableEntry> entries;
  std::map<std::uint32_t, bfrt_proto::TableEntry> defaults;
  // Of register cells, by index and pipe; a cell that is not here is zero.
  std::map<std::pair<std::uint32_t, int>, std::vector<std::string>> cells;

  // To all clients.
  void push(const bfrt_proto::StreamMessageResponse& message) {
    const std::lock_guard lock(mutex);
    for (auto& [context, stream] : streams_) stream->Write(message);
  }
  void drop_streams() {
    const std::lock_guard lock(mutex);
    for (auto& [context, stream] : streams_) context->TryCancel();
  }

 private:
  using Stream =
      grpc::ServerReaderWriter<bfrt_proto::StreamMessageResponse, bfrt_proto::StreamMessageRequest>;

  grpc::Status StreamChannel(grpc::ServerContext* context, Stream* stream) override {
    bfrt_proto::StreamMessageRequest request;
    if (!stream->Read(&request)) return grpc::Status::OK;
    const std::uint32_t id = request.client_id();
    {
      const std::lock_guard lock(mutex);
      if (!ids.insert(id).second) {
        ++refused;
        return {grpc::StatusCode::INVALID_ARGUMENT,
                "Two clients with the same client_id " + std::to_string(id)};
      }
      bfrt_proto::StreamMessageResponse accepted;
      *accepted.mutable_subscribe() = request.subscribe();
      accepted.mutable_subscribe()->mutable_status()->set_code(0);
      stream->Write(accepted);
      streams_.emplace_back(context, stream);
    }
    while (stream->Read(&request)) {
    }
    const std::lock_guard lock(mutex);
    std::erase_if(streams_, [&](const auto& one) { return one.first == context; });
    ids.erase(id);
    if (owner == id) owner.reset();
    return grpc::Status::OK;
  }

  std::optional<grpc::Status> refusal(std::uint32_t client) {
    if (busy > 0) {
      --busy;
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "configuration in flight");
    }
    if (!ids.contains(client)) return grpc::Status(grpc::StatusCode::UNAVAILABLE, "not subscribed");
    if (owner != client)
      return grpc::Status(grpc::StatusCode::UNKNOWN, "unable to get bound program");
    return std::nullopt;
  }

  grpc::Status SetForwardingPipelineConfig(
      grpc::ServerContext*, const bfrt_proto::SetForwardingPipelineConfigRequest* request,
      bfrt_proto::SetForwardingPipelineConfigResponse*) override {
    const std::lock_guard lock(mutex);
    if (request->config_size() != 1 || request->config(0).p4_name() != program)
      return {grpc::StatusCode::NOT_FOUND, "no such program"};
    if (owner && *owner != request->client_id()) {
      return {grpc::StatusCode::ALREADY_EXISTS, "client " + std::to_string(*owner) +
                                                    " is bound, not client " +
                                                    std::to_string(request->client_id())};
    }
    owner = request->client_id();
    return grpc::Status::OK;
  }

  grpc::Status GetForwardingPipelineConfig(
      grpc::ServerContext*, const bfrt_proto::GetForwardingPipelineConfigRequest*,
      bfrt_proto::GetForwardingPipelineConfigResponse* response) override {
    const std::lock_guard lock(mutex);
    auto& config = *response->add_config();
    config.set_p4_name(program);
    config.set_bfruntime_info(schema.dump());
    response->mutable_non_p4_config()->set_bfruntime_info(fixed_schema().dump());
    return grpc::Status::OK;
  }

  grpc::Status Write(grpc::ServerContext*, const bfrt_proto::WriteRequest* request,
                     bfrt_proto::WriteResponse*) override {
    if (drop_on_write) {
      drop_streams();
      return {grpc::StatusCode::UNAVAILABLE, "connection reset"};
    }
    const std::lock_guard lock(mutex);
    if (const auto no = refusal(request->client_id())) return *no;
    writes.push_back(*request);
    if (!failing.empty()) return with_details(request->updates_size());
    for (const auto& update : request->updates()) apply(update);
    return grpc::Status::OK;
  }

  // One for each update up to the last that failed, as the public server does.
  grpc::Status with_details(int updates) {
    google::rpc::Status detailed;
    for (int i = 0; i < updates && i <= failing.rbegin()->first; ++i) {
      bfrt_proto::Error error;
      if (const auto failed = failing.find(i); failed != failing.end()) {
        error.set_canonical_code(failed->second.error_code());
        error.set_message(failed->second.error_message());
      }
      detailed.add_details()->PackFrom(error);
    }
    return {grpc::StatusCode::UNKNOWN, "Write Error Status", detailed.SerializeAsString()};
  }

  void apply(const bfrt_proto::Update& update) {
    if (update.entity().has_table_operation()) {
      operations.push_back(update.entity().table_operation().table_operations_type());
      return;
    }
    const auto& entry = update.entity().table_entry();
    if (entry.is_default_entry()) {
      defaults[entry.table_id()] = entry;
    } else if (update.type() == bfrt_proto::Update::DELETE && !entry.has_key()) {
      std::erase_if(entries, [&](const auto& one) { return one.first.first == entry.table_id(); });
    } else if (update.type() == bfrt_proto::Update::DELETE) {
      entries.erase({entry.table_id(), entry.key().SerializeAsString()});
    } else {
      entries[{entry.table_id(), entry.key().SerializeAsString()}] = entry;
    }
  }

  grpc::Status Read(grpc::ServerContext*, const bfrt_proto::ReadRequest* request,
                    grpc::ServerWriter<bfrt_proto::ReadResponse>* writer) override {
    const std::lock_guard lock(mutex);
    if (const auto no = refusal(request->client_id())) return *no;
    reads.push_back(*request);
    bfrt_proto::ReadResponse response;
    for (const auto& entity : request->entities()) {
      if (entity.has_table_usage()) {
        auto& usage = *response.add_entities()->mutable_table_usage();
        usage.set_table_id(entity.table_usage().table_id());
        usage.set_usage(count(entity.table_usage().table_id()));
      } else {
        read(entity.table_entry(), response);
      }
    }
    writer->Write(response);
    return grpc::Status::OK;
  }

  std::uint32_t count(std::uint32_t table) const {
    std::uint32_t n = 0;
    for (const auto& [key, unused] : entries) n += key.first == table ? 1 : 0;
    return n;
  }

  void read(const bfrt_proto::TableEntry& wanted, bfrt_proto::ReadResponse& response) {
    const std::uint32_t table = wanted.table_id();
    if (wanted.is_default_entry()) {
      if (defaults.contains(table))
        *response.add_entities()->mutable_table_entry() = defaults.at(table);
    } else if (table == kCells || table == kPairs) {
      read_register(wanted, response);
    } else if (wanted.has_key()) {
      const auto found = entries.find({table, wanted.key().SerializeAsString()});
      if (found != entries.end()) *response.add_entities()->mutable_table_entry() = found->second;
    } else {
      for (const auto& [key, entry] : entries) {
        if (key.first == table) *response.add_entities()->mutable_table_entry() = entry;
      }
    }
  }

  static std::string index_bytes(std::uint32_t index) {
    return {static_cast<char>(index >> 24U), static_cast<char>(index >> 16U),
            static_cast<char>(index >> 8U), static_cast<char>(index)};
  }

  void read_register(const bfrt_proto::TableEntry& wanted, bfrt_proto::ReadResponse& response) {
    const bool pair = wanted.table_id() == kPairs;
    for (std::uint32_t index = 0; index < (pair ? 2U : 200U); ++index) {
      if (wanted.has_key() && wanted.key().fields(0).exact().value() != index_bytes(index))
        continue;
      auto& entry = *response.add_entities()->mutable_table_entry();
      entry.set_table_id(wanted.table_id());
      auto& key = *entry.mutable_key()->add_fields();
      key.set_field_id(kRegisterIndex);
      key.mutable_exact()->set_value(index_bytes(index));
      for (std::uint32_t field = 1; field <= (pair ? 2U : 1U); ++field) {
        for (int pipe = 0; pipe < pipes; ++pipe) {
          auto& value = *entry.mutable_data()->add_fields();
          value.set_field_id(field);
          const auto cell = cells.find({index, pipe});
          const std::size_t size = pair ? field : 3;
          value.set_stream(cell == cells.end() ? std::string(size, '\0')
                                               : cell->second.at(field - 1));
        }
      }
    }
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::vector<std::pair<grpc::ServerContext*, Stream*>> streams_;
};

}  // namespace turntable::bfrt_driver::testing
