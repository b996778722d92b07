#include "farreach/cache/lookup_writer.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/bytes.h"

namespace turntable::cache {
namespace {

using Json = Driver::Json;

struct Field {
  const char* name;
  std::size_t at;  // bytes of the key
  std::size_t size;
};
constexpr std::array<Field, 5> kFields = {{{"keylolo", 0, 4},
                                           {"keylohi", 4, 4},
                                           {"keyhilo", 8, 4},
                                           {"keyhihilo", 12, 2},
                                           {"keyhihihi", 14, 2}}};

// A control command's number, or its text in base 16 as tables are read.
std::uint64_t number(const Json& value) {
  return value.is_string() ? std::stoull(value.get<std::string>(), nullptr, 0)
                           : value.get<std::uint64_t>();
}

}  // namespace

Json lookup_key(const Key& key) {
  Json fields;
  for (const Field& field : kFields) {
    const std::uint8_t* at = key.data() + field.at;
    if (field.size == 4) {
      fields[field.name] = load_big_endian<std::uint32_t>(at);
    } else {
      fields[field.name] = load_big_endian<std::uint16_t>(at);
    }
  }
  return fields;
}

Key key_of_lookup(const Json& fields) {
  Key key{};
  for (const Field& field : kFields) {
    const std::uint64_t value = number(fields.at(field.name));
    if (field.size == 4) {
      store_big_endian(static_cast<std::uint32_t>(value), key.data() + field.at);
    } else {
      store_big_endian(static_cast<std::uint16_t>(value), key.data() + field.at);
    }
  }
  return key;
}

void write_lookups(Driver& driver, std::span<const Lookup> lookups) {
  std::vector<Driver::Column> key;
  for (const Field& field : kFields) {
    key.push_back({field.name, {}});
    std::vector<std::uint64_t>& numbers = key.back().numbers;
    numbers.reserve(lookups.size());
    for (const Lookup& lookup : lookups) {
      const std::uint8_t* at = lookup.key.data() + field.at;
      numbers.push_back(field.size == 4 ? load_big_endian<std::uint32_t>(at)
                                        : load_big_endian<std::uint16_t>(at));
    }
  }
  Driver::Column slot{"slot", {}};
  for (const Lookup& lookup : lookups) slot.numbers.push_back(lookup.slot);
  driver.write_entries(kCacheLookup, key, "cached_at", {slot});
}

LookupWriter::Change::Change(LookupWriter& writer, const Key& key, std::optional<Slot> slot)
    : writer_(writer), key_(key), slot_(slot) {}

LookupWriter::Change::~Change() {
  if (listed_ != nullptr) listed_->remove(this);
}

void LookupWriter::Change::await_suspend(std::coroutine_handle<> waiting) {
  waiting_ = waiting;
  writer_.waiting_.push_back(this);
  listed_ = &writer_.waiting_;
  if (writer_.flush_ == 0) {
    writer_.flush_ = writer_.timers_.call_soon([&writer = writer_] { writer.flush(); });
  }
}

LookupWriter::~LookupWriter() {
  if (flush_ != 0) timers_.cancel(flush_);
}

LookupWriter::Change LookupWriter::insert(const Key& key, Slot slot) {
  return {*this, key, slot};
}

LookupWriter::Change LookupWriter::remove(const Key& key) {
  return {*this, key, std::nullopt};
}

void LookupWriter::write_waiting() {
  std::vector<Lookup> lookups;
  Json removals = Json::array();
  for (const Change* change : waiting_) {
    if (change->slot_) {
      lookups.push_back({change->key_, *change->slot_});
    } else {
      removals.push_back(
          {{"op", "delete"}, {"table", kCacheLookup}, {"key", lookup_key(change->key_)}});
    }
  }
  if (!removals.empty()) driver_.write_tables(removals);
  if (!lookups.empty()) write_lookups(driver_, lookups);
}

void LookupWriter::flush() {
  flush_ = 0;
  std::exception_ptr failure;
  try {
    write_waiting();
  } catch (...) {
    failure = std::current_exception();
  }
  written_.splice(written_.end(), waiting_);
  for (Change* change : written_) {
    change->failure_ = failure;
    change->listed_ = &written_;
  }
  // Whoever is resumed may destroy others that wait here.
  while (!written_.empty()) {
    Change* const next = written_.front();
    written_.pop_front();
    next->listed_ = nullptr;
    next->waiting_.resume();
  }
}

}  // namespace turntable::cache
