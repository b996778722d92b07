#include "bfrt_server/packet_generator_table.h"

#include <utility>

#include "bfrt_server/write_batch.h"
#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using bfrt_proto::Update;

constexpr const char* kBuffer = "buffer";
constexpr const char* kAppCounters[] = {"trigger_counter", "batch_counter", "pkt_counter"};

}  // namespace

std::string PacketGeneratorTable::short_name() const {
  return table().name.substr(table().name.rfind('.') + 1);
}

std::pair<std::uint32_t, std::uint32_t> PacketGeneratorTable::pipes_of(
    const bfrt_proto::TargetDevice& target, const std::string& context) const {
  if (target.pipe_id() == kAllPipes) return {0, pipes_};
  if (target.pipe_id() < pipes_) return {target.pipe_id(), target.pipe_id() + 1};
  throw invalid(context + ": pipe " + std::to_string(target.pipe_id()) +
                " is not below the number of pipes, " + std::to_string(pipes_) + ";");
}

// Clients send the bytes of the buffer as one string or as a list.
Json PacketGeneratorTable::data_of(const bfrt_proto::TableData& data,
                                   const std::string& context) const {
  if (short_name() != "pkt_buffer" || data.fields_size() != 1 || !data.fields(0).has_stream())
    return TableAccess::data_of(data, context, /*complete=*/false);
  const std::string& bytes = data.fields(0).stream();
  return {{kBuffer, std::vector<std::uint8_t>(bytes.begin(), bytes.end())}};
}

void PacketGeneratorTable::write(const EntryWrite& update, WriteBatch& batch) {
  const std::string what = context(update.type);
  Json written = {{"table", short_name()}};
  if (update.type == Update::DELETE && !update.entry.has_key()) {
    written["op"] = "clear";
  } else if (update.type == Update::MODIFY) {
    written["key"] = key_of(update.entry.key(), what);
    written["data"] = data_of(update.entry.data(), what);
    if (const bfrt::Action* action = action_of(update.entry.data(), what))
      written["action"] = action->name;
  } else {
    throw cannot("its entries are there already; use MODIFY, or DELETE without a key;");
  }
  Json updates = Json::array();
  const auto [first, end] = pipes_of(update.target, what);
  for (std::uint32_t pipe = first; pipe < end; ++pipe) {
    written["pipe"] = pipe;
    updates.push_back(written);
  }
  auto& link = batch.link();
  batch.add(WriteBatch::Act{[&link, updates] {
              link.call("pktgen_write", {{"updates", updates}});
            }},
            what);
}

void PacketGeneratorTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                                    ReadAnswers& answers) {
  const bool has_key = read.entry.has_key();
  if (!has_key && short_name() != "app_cfg")
    throw cannot("entries are read one by one, with a key;");
  Json question = {{"table", short_name()}};
  if (has_key) question["key"] = key_of(read.entry.key(), reading());
  const auto [first, end] = pipes_of(read.target, reading());
  Json entries;
  try {
    for (std::uint32_t pipe = first; pipe < end; ++pipe) {
      question["pipe"] = pipe;
      Json of_pipe = link.call("pktgen_read", question).at("entries");
      for (std::size_t i = 0; pipe != first && i < of_pipe.size(); ++i) {
        for (const char* counter : kAppCounters) {
          if (!of_pipe[i]["data"].contains(counter)) continue;
          entries[i]["data"][counter] = entries[i]["data"][counter].get<std::uint64_t>() +
                                        of_pipe[i]["data"][counter].get<std::uint64_t>();
        }
      }
      if (pipe == first) entries = std::move(of_pipe);
    }
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
  for (const Json& each : entries) {
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    put_key(each.at("key"), entry);
    const bfrt::Action* action =
        each.contains("action") ? table().action(each.at("action").get<std::string>()) : nullptr;
    if (!read.key_only()) put_data(each.at("data"), action, read.entry.data(), entry);
  }
}

}  // namespace turntable::bfrt_server
