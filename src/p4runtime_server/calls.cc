#include "p4runtime_server/calls.h"

#include <algorithm>
#include <set>

#include "bfrt_server/entry_command.h"
#include "google/rpc/status.pb.h"
#include "p4runtime_server/action_profiles.h"
#include "p4runtime_server/digest_entries.h"
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
constexpr int kMostReads = 100'000;  // entities of one call
constexpr std::size_t kMostAnswerBytes = 128 << 20;
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
      throw exhausted("a batch that is all or nothing has at most " +
                      std::to_string(kMostAtomicEntries) + " updates");
    }
    try {
      for (int i = 0; i < request_.updates_size(); ++i) gathered_.push_back({i, once(update(i))});
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

  void fail(int number, const Refusal& refusal) {
    statuses_[static_cast<std::size_t>(number)] = refusal.status();
  }

  // All or nothing: this one is why nothing was done.
  void abort(std::size_t culprit, const Refusal& refusal) {
    std::fill(statuses_.begin(), statuses_.end(),
              grpc::Status(grpc::StatusCode::ABORTED, ""));  // short: there may be many
    statuses_.at(culprit) = refusal.status();
  }

  SwitchUpdate update(int number) {
    const Update& update = request_.updates(number);
    const Entity& entity = update.entity();
    const ProgramInfo& info = program_.info();
    switch (entity.entity_case()) {
      case Entity::kTableEntry:
        return write_table_entry(program_, update.type(), entity.table_entry());
      case Entity::kDirectCounterEntry:
        return write_direct_counter(program_, update.type(), entity.direct_counter_entry());
      case Entity::kDirectMeterEntry:
        return write_direct_meter(program_, update.type(), entity.direct_meter_entry());
      case Entity::kActionProfileMember:
        return write_member(program_, update.type(), entity.action_profile_member());
      case Entity::kActionProfileGroup:
        return write_group(program_, update.type(), entity.action_profile_group());
      case Entity::kCounterEntry:
        return write_counter(info, update.type(), entity.counter_entry());
      case Entity::kMeterEntry:
        return write_meter(info, update.type(), entity.meter_entry());
      case Entity::kRegisterEntry:
        return write_register(info, update.type(), entity.register_entry());
      case Entity::kPacketReplicationEngineEntry:
        return write_replication(program_, update.type(), entity.packet_replication_engine_entry());
      case Entity::kValueSetEntry:
        return write_value_set(info, update.type(), entity.value_set_entry());
      case Entity::kDigestEntry:
        return write_digest(program_, update.type(), entity.digest_entry());
      default:
        throw not_here(entity);
    }
  }

  // Of those that look at what is there, which is not yet what the batch makes it.
  SwitchUpdate once(SwitchUpdate update) {
    if (!update.once.empty() && !seen_.insert(update.once).second) {
      throw invalid(
          "a batch that is all or nothing changes this entry twice; expected one update of it");
    }
    return update;
  }

  // What is several updates of softswitch's is a command, which is done whole or not at all.
  void add(int number) {
    // A set of actions asks which members there are.
    if (request_.updates(number).entity().table_entry().action().has_action_profile_action_set())
      flush(/*continues=*/true);
    SwitchUpdate next = update(number);
    if (!next.update.is_array()) {
      gathered_.push_back({number, std::move(next)});
      return;
    }
    flush(/*continues=*/true);
    try {
      if (!next.update.empty())
        program_.link().call("table_write", {{"updates", std::move(next.update)}});
      next.done();
    } catch (const CommandError& error) {
      if (bfrt_server::is_lost(error.code())) throw;
      fail(number, from_switch(bfrt_server::own_words(error)));
    }
  }

  void flush(bool continues) {
    if (gathered_.empty()) return;
    EntryCommand command;
    for (std::size_t i = 0; i < gathered_.size(); ++i) {
      Json& update = gathered_[i].what.update;
      if (!update.is_array()) update = Json::array({std::move(update)});
      for (Json& each : update) command.add(i, std::move(each));
    }
    try {
      Json result;
      if (command.size() != 0)
        result = program_.link().call("table_write", command.take(continues));
      if (continues) {
        command.read_answer(
            result,
            [&](EntryCommand::Place place, const CommandError& error) {
              fail(gathered_.at(place.step).number, from_switch(error));
            },
            [](EntryCommand::Place) {});
      }
    } catch (const CommandError& error) {
      if (bfrt_server::is_lost(error.code())) throw;
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
  std::set<std::string> seen_;
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
    case Entity::kDigestEntry:
      return read_digests(program, wanted.digest_entry(), found);
    default:
      throw not_here(wanted);
  }
}

}  // namespace

grpc::Status write(RunningProgram& program, const WriteRequest& request) {
  if (request.updates_size() > kMostUpdates) {
    throw exhausted("a batch has at most " + std::to_string(kMostUpdates) + " updates");
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

ReadAnswer read(RunningProgram& program, const p4::v1::ReadRequest& request,
                const std::function<bool()>& is_abandoned) {
  if (request.entities_size() > kMostReads)
    throw exhausted("a read has at most " + std::to_string(kMostReads) + " entities");
  ReadAnswer answer;
  std::size_t answer_bytes = 0;
  const auto check_size = [&] {
    if (answer_bytes > kMostAnswerBytes)
      throw exhausted("the answer has more than " + std::to_string(kMostAnswerBytes) +
                      " bytes; read less at a time");
  };
  std::size_t bytes = kBytesPerMessage;  // of the last message: the first entity begins one
  std::vector<grpc::Status> statuses;
  for (const Entity& wanted : request.entities()) {
    check_size();
    if (is_abandoned()) throw Refusal(grpc::StatusCode::CANCELLED, "nobody waits for the answer");
    grpc::Status& status = statuses.emplace_back();
    try {
      read_entity(program, wanted, [&](Entity&& entity) {
        if (bytes >= kBytesPerMessage) {
          answer.messages.emplace_back();
          bytes = 0;
        }
        const std::size_t entity_bytes = entity.ByteSizeLong();
        bytes += entity_bytes;
        answer_bytes += entity_bytes;
        check_size();
        *answer.messages.back().add_entities() = std::move(entity);
      });
    } catch (const Refusal& refusal) {
      status = refusal.status();
    } catch (const CommandError& error) {
      if (bfrt_server::is_lost(error.code())) throw;
      status = from_switch(error).status();
    }
  }
  answer.status = status_of_all(statuses, "some requests failed");
  return answer;
}

}  // namespace turntable::p4runtime_server
