#include "bfrt_server/selector_member_table.h"

#include <nlohmann/json.hpp>

#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

constexpr std::string_view kAfterSelector = "_get_member";

}  // namespace

std::string SelectorMemberTable::selector() const {
  return table().name.substr(0, table().name.size() - kAfterSelector.size());
}

void SelectorMemberTable::write(const EntryWrite&, WriteBatch&) {
  throw cannot("it says which member a hash chooses, and is only read;");
}

void SelectorMemberTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                                   ReadAnswers& answers) {
  if (!read.entry.has_key()) throw cannot("read it by group and hash;");
  const nlohmann::json key = key_of(read.entry.key(), reading());
  try {
    nlohmann::json args = {{"table", selector()},
                           {"group", key.at("$SELECTOR_GROUP_ID")},
                           {"hash", key.at("hash_value")}};
    if (shown_.have_states && read.target.pipe_id() != kAllPipes)
      put_pipes({read.target.pipe_id()}, args);
    const nlohmann::json chosen = link.call("selector_member", args);
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    put_key(key, entry);
    if (!read.key_only())
      put_data({{"$ACTION_MEMBER_ID", chosen.at("member")}}, nullptr, read.entry.data(), entry);
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

}  // namespace turntable::bfrt_server
