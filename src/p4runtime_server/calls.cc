#include "p4runtime_server/calls.h"

#include <algorithm>

#include "bfrt_server/entry_command.h"
#include "google/rpc/status.pb.h"
#include "p4runtime_server/action_profiles.h"
#include "p4runtime_server/direct_entries.h"
#include "p4runtime_server/indexed_entries.h"
#include "p4runtime_server/refusal.h"
#include "p4runtime_server/replication_entries.h"
#include "p4runtime_server/table_entries.h"
#include "p4runtime_server/value_sets.h"

namespace turntable::p4runtime_server {
namespace {

using Json = nlohmann::json;
using bfrt_server::EntryCommand;
using p4::v1::Entity;
using p4::v1::Update;
using p4::v1::WriteRequest;

// Packets wait while the switch runs one command; so many entries take it about a millisecond.
constexpr std::size_t kEntriesPerCommand = 1024;
// All of an atomic batch is one command, which has to end before the switch's own deadline.
constexpr std::size_t kMostAtomicEntries = 100'000;
// More are refused: a status is kept for each, though the update may have no bytes.
constexpr int kMostUpdates = 1'000'000;
// One message of Read's answer: far below the 4 MiB that clients take by default.
constexpr std::size_t kBytesPerMessage = 1 << 20;

Refusal not_here(const Entity& entity) {
  if (entity.entity_case() == Entity::ENTITY_NOT_SET)
    return invalid("the entity is missing, or of a kind that P4Runtime 1.4 has not");
  const auto* field = Entity::descriptor()->FindFieldByNumber(entity.entity_case());
  return not_supported(field->name() + " is not served here yet");
}

// OK, or UNKNOWN with an error for each.
grpc::Status status_of_all(const std::vector<grpc::Status>& statuses, const std::string& message) {
  if (std::all_of(statuses.begin(), statuses.end(),
                  [](const grpc::Status& each) { return each.ok(); }))
    return grpc::Status::OK;
  google::rpc::Status details;
  details.set_code(grpc::StatusCode::UNKNOWN);
  details.set_message(message);
  for (const grpc::Status& each : statuses) {
    p4::v1::Error error;
    error.set_canonical_code(each.error_code());
    error.set_message(each.error_message());
    details.add_details()->PackFrom(error);
  }
  return {grpc::StatusCode::UNKNOWN, message, details.SerializeAsString()};
}

bool is_lost(const CommandError& error) {
  return error.code() == "unavailable" || error.code() == "timeout";
}

class Batch {
 public:
  Batch(RunningProgram& program, const WriteRequest& request)
      : program_(program),
        request_(request),
        statuses_(static_cast<std::size_t>(request.updates_size())) {}

  void run_one_by_one() {
    for (int i = 0; i < request_.updates_size(); ++i) {
      try {
        add(i);
      } catch (const Refusal& refusal) {
        fail(i, refusal);
      }
      if (gathered_.size() == kEntriesPerCommand) flush(/*continues=*/true);
    }
    flush(/*continues=*/true);
  }

  void run_as_one() {
    if (statuses_.size() > kMostAtomicEntries) {
      throw Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED,
                    "a batch that is all or nothing has at most " +
                        std::to_string(kMostAtomicEntries) + " updates");
    }
    for (int i = 0; i < request_.updates_size(); ++i) {
      if (is_alone(request_.updates(i).entity())) {
        throw not_supported(
            "a batch that is all or nothing has entries of tables, members and groups of profiles "
            "alone; send the rest with CONTINUE_ON_ERROR");
      }
    }
    try {
      for (int i = 0; i < request_.updates_size(); ++i) add(i);
    } catch (const Refusal& refusal) {  // nothing has been done
      return abort(gathered_.size(), refusal);
    }
    flush(/*continues=*/false);
  }

  grpc::Status status() const { return status_of_all(statuses_, "some updates failed"); }

 private:
  struct Gathered {
    int number;
    SwitchUpdate what;
  };

  // What is done by commands of its own rather than in a table_write with others.
  static bool is_alone(const Entity& entity) {
    return entity.has_counter_entry() || entity.has_meter_entry() || entity.has_register_entry() ||
           entity.has_packet_replication_engine_entry() || entity.has_value_set_entry();
  }

  void fail(int number, const Refusal& refusal) {
    statuses_[static_cast<std::size_t>(number)] = refusal.status();
  }

  // All or nothing: this one is why nothing was done.
  void abort(std::size_t culprit, const Refusal& refusal) {
    std::fill(statuses_.begin(), statuses_.end(),
              grpc::Status(grpc::StatusCode::ABORTED, ""));  // short: there may be many
    statuses_.at(culprit) = refusal.status();
  }

  void add(int number) {
    const Update& update = request_.updates(number);
    const Entity& entity = update.entity();
    switch (entity.entity_case()) {
      case Entity::kTableEntry:
        return gather(number, write_table_entry(program_, update.type(), entity.table_entry()));
      case Entity::kDirectCounterEntry:
        return gather(number,
                      write_direct_counter(program_, update.type(), entity.direct_counter_entry()));
      case Entity::kDirectMeterEntry:
        return gather(number,
                      write_direct_meter(program_, update.type(), entity.direct_meter_entry()));
      case Entity::kActionProfileMember:
        return gather(number,
                      write_member(program_, update.type(), entity.action_profile_member()));
      case Entity::kActionProfileGroup:
        return gather(number, write_group(program_, update.type(), entity.action_profile_group()));
      case Entity::kCounterEntry:
        return act(number, [&] { write_counter(program_, update.type(), entity.counter_entry()); });
      case Entity::kMeterEntry:
        return act(number, [&] { write_meter(program_, update.type(), entity.meter_entry()); });
      case Entity::kRegisterEntry:
        return act(number,
                   [&] { write_register(program_, update.type(), entity.register_entry()); });
      case Entity::kPacketReplicationEngineEntry:
        return act(number, [&] {
          write_replication(program_, update.type(), entity.packet_replication_engine_entry());
        });
      case Entity::kValueSetEntry:
        return act(number,
                   [&] { write_value_set(program_, update.type(), entity.value_set_entry()); });
      default:
        throw not_here(entity);
    }
  }

  void gather(int number, SwitchUpdate what) { gathered_.push_back({number, std::move(what)}); }

  // After what comes before it.
  template <typename Act>
  void act(int number, const Act& run) {
    flush(/*continues=*/true);
    try {
      run();
    } catch (const CommandError& error) {
      if (is_lost(error)) throw;
      fail(number, from_switch(bfrt_server::own_words(error)));
    }
  }

  void flush(bool continues) {
    if (gathered_.empty()) return;
    EntryCommand command;
    for (std::size_t i = 0; i < gathered_.size(); ++i)
      command.add(i, std::move(gathered_[i].what.update));
    try {
      const Json result = program_.link().call("table_write", command.take(continues));
      if (continues) {
        command.read_answer(
            result,
            [&](EntryCommand::Place place, const CommandError& error) {
              fail(gathered_.at(place.step).number, from_switch(error));
            },
            [](EntryCommand::Place) {});
      }
    } catch (const CommandError& error) {
      if (is_lost(error)) throw;
      const auto own = bfrt_server::own_words(error);
      if (continues) {
        for (const Gathered& each : gathered_) fail(each.number, from_switch(own));
      } else {
        abort(command.place_in(error).step, from_switch(own));
      }
    }
    for (const Gathered& each : gathered_) {
      if (statuses_[static_cast<std::size_t>(each.number)].ok()) each.what.done();
    }
    gathered_.clear();
  }

  RunningProgram& program_;
  const WriteRequest& request_;
  std::vector<grpc::Status> statuses_;
  std::vector<Gathered> gathered_;
};

void read_entity(RunningProgram& program, const Entity& wanted, const Entities& found) {
  switch (wanted.entity_case()) {
    case Entity::kTableEntry:
      return read_table_entries(program, wanted.table_entry(), found);
    case Entity::kDirectCounterEntry:
      return read_direct_counters(program, wanted.direct_counter_entry(), found);
    case Entity::kDirectMeterEntry:
      return read_direct_meters(program, wanted.direct_meter_entry(), found);
    case Entity::kActionProfileMember:
      return read_members(program, wanted.action_profile_member(), found);
    case Entity::kActionProfileGroup:
      return read_groups(program, wanted.action_profile_group(), found);
    case Entity::kCounterEntry:
      return read_counters(program, wanted.counter_entry(), found);
    case Entity::kMeterEntry:
      return read_meters(program, wanted.meter_entry(), found);
    case Entity::kRegisterEntry:
      return read_registers(program, wanted.register_entry(), found);
    case Entity::kPacketReplicationEngineEntry:
      return read_replication(program, wanted.packet_replication_engine_entry(), found);
    case Entity::kValueSetEntry:
      return read_value_sets(program, wanted.value_set_entry(), found);
    default:
      throw not_here(wanted);
  }
}

}  // namespace

grpc::Status write(RunningProgram& program, const WriteRequest& request) {
  if (request.updates_size() > kMostUpdates) {
    throw Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED,
                  "a batch has at most " + std::to_string(kMostUpdates) + " updates");
  }
  Batch batch(program, request);
  switch (request.atomicity()) {
    case WriteRequest::CONTINUE_ON_ERROR:
      batch.run_one_by_one();
      break;
    case WriteRequest::ROLLBACK_ON_ERROR:
    case WriteRequest::DATAPLANE_ATOMIC:
      batch.run_as_one();
      break;
    default:
      throw invalid("there is no atomicity " + std::to_string(request.atomicity()));
  }
  return batch.status();
}

ReadAnswer read(RunningProgram& program, const p4::v1::ReadRequest& request) {
  ReadAnswer answer;
  std::size_t bytes = kBytesPerMessage;  // of the last message: the first entity begins one
  std::vector<grpc::Status> statuses;
  for (const Entity& wanted : request.entities()) {
    grpc::Status& status = statuses.emplace_back();
    try {
      read_entity(program, wanted, [&](Entity&& entity) {
        if (bytes >= kBytesPerMessage) {
          answer.messages.emplace_back();
          bytes = 0;
        }
        bytes += entity.ByteSizeLong();
        *answer.messages.back().add_entities() = std::move(entity);
      });
    } catch (const Refusal& refusal) {
      status = refusal.status();
    } catch (const CommandError& error) {
      if (is_lost(error)) throw;
      status = from_switch(error).status();
    }
  }
  answer.status = status_of_all(statuses, "some requests failed");
  return answer;
}

}  // namespace turntable::p4runtime_server
