#include "bfrt_server/hash_tables.h"

#include <algorithm>
#include <cctype>

#include "bfrt_server/write_batch.h"
#include "common/command_error.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using bfrt_proto::Update;

// An SDE takes names of algorithms in lower case, too.
bfrt_proto::TableData with_upper_case(bfrt_proto::TableData data) {
  for (bfrt_proto::DataField& field : *data.mutable_fields()) {
    if (!field.has_str_val()) continue;
    std::string& text = *field.mutable_str_val();
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  }
  return data;
}

}  // namespace

void HashSettingTable::write(const EntryWrite& update, WriteBatch& batch) {
  const bool of_default = update.entry.is_default_entry();
  const std::string what = context(update.type, of_default);
  auto& link = batch.link();
  const bool clears = update.type == Update::DELETE && !update.entry.has_key();
  if (clears || (of_default && update.type == Update::RESET)) {
    const auto reset = [this, &link] { link.call("hash_reset", {{"table", table().name}}); };
    return batch.add(WriteBatch::Act{reset}, what);
  }
  if (!of_default) throw cannot("it has no entry but the default one;");
  if (update.type != Update::MODIFY)
    throw not_supported("the default entry can only be modified or reset table:" + table().name);
  const auto set = [args = settings(update.entry.data(), what), &link] {
    link.call("hash_write", args);
  };
  batch.add(WriteBatch::Act{set}, what);
}

void HashSettingTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                                ReadAnswers& answers) {
  try {
    const Json result = link.call("hash_read", {{"table", table().name}});
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    entry.set_is_default_entry(true);
    if (read.key_only()) return;
    const bfrt::Action* action = table().action(result.value("action", ""));
    put_data(result.at("data"), action, read.entry.data(), entry);
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

Json HashConfigureTable::settings(const bfrt_proto::TableData& data,
                                  const std::string& context) const {
  return {{"table", table().name}, {"data", data_of(data, context, /*complete=*/true)}};
}

// What is left out has its default; a seed that is left out is the algorithm's.
Json HashAlgorithmTable::settings(const bfrt_proto::TableData& data,
                                  const std::string& context) const {
  const bfrt_proto::TableData named = with_upper_case(data);
  Json args = {{"table", table().name}, {"data", data_of(named, context, /*complete=*/true)}};
  if (const bfrt::Action* action = action_of(data, context)) args["action"] = action->name;
  return args;
}

void HashComputeTable::write(const EntryWrite&, WriteBatch&) {
  throw cannot("values of a hash can only be read;");
}

void HashComputeTable::read_one(std::size_t number, const EntryRead& read, SwitchLink& link,
                                ReadAnswers& answers) {
  if (!read.entry.has_key()) throw invalid("Table key cannot be empty table:" + table().name);
  const Json key = key_of(read.entry.key(), reading());
  try {
    const Json result = link.call("hash_read", {{"table", table().name}, {"key", key}});
    bfrt_proto::TableEntry& entry = answers.add(number, read);
    put_key(key, entry);
    if (!read.key_only()) put_data(result.at("data"), nullptr, read.entry.data(), entry);
  } catch (const CommandError& error) {
    throw from_switch(reading(), error);
  }
}

}  // namespace turntable::bfrt_server
