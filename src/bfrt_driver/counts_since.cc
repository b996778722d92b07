#include "bfrt_driver/counts_since.h"

namespace turntable::bfrt_driver {
namespace {

constexpr const char* kDefault = "default";

// Of a key, whatever the order of its fields.
std::string identity(const bfrt_proto::TableEntry& entry) {
  if (entry.is_default_entry()) return kDefault;
  std::map<std::uint32_t, std::string> fields;
  for (const auto& field : entry.key().fields())
    fields[field.field_id()] = field.SerializeAsString();
  std::string text;
  for (const auto& [id, bytes] : fields) text += std::to_string(bytes.size()) + ":" + bytes;
  return text;
}

}  // namespace

void CountsSince::clear(std::uint64_t epoch, const bfrt_proto::TableEntry& entry,
                        const nlohmann::json& counts) {
  const std::lock_guard lock(mutex_);
  if (epoch != epoch_) before_.clear();
  epoch_ = epoch;
  before_[{entry.table_id(), identity(entry)}] = counts;
}

nlohmann::json CountsSince::since(std::uint64_t epoch, const bfrt_proto::TableEntry& entry,
                                  nlohmann::json counts) const {
  const std::lock_guard lock(mutex_);
  const auto before = before_.find({entry.table_id(), identity(entry)});
  if (epoch != epoch_ || before == before_.end()) return counts;
  for (const auto& [name, old] : before->second.items()) {
    if (!counts.contains(name)) continue;
    const auto now = counts[name].get<std::uint64_t>();
    const auto then = old.get<std::uint64_t>();
    counts[name] = now < then ? now : now - then;  // less: the entry is another one by now
  }
  return counts;
}

void CountsSince::applied(const bfrt_proto::WriteRequest& request) {
  const std::lock_guard lock(mutex_);
  if (before_.empty()) return;
  for (const auto& update : request.updates()) {
    const auto& entry = update.entity().table_entry();
    const bool anew =
        update.type() == bfrt_proto::Update::DELETE || update.type() == bfrt_proto::Update::INSERT;
    if (entry.is_default_entry()) {
      before_.erase({entry.table_id(), kDefault});  // a default action that is set counts anew
    } else if (anew && entry.has_key()) {
      before_.erase({entry.table_id(), identity(entry)});
    } else if (anew) {
      std::erase_if(before_, [&](const auto& one) {
        return one.first.first == entry.table_id() && one.first.second != kDefault;
      });
    }
  }
}

}  // namespace turntable::bfrt_driver
