#include "dataplane/trace_recorder.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/hex.h"
#include "dataplane/entry_codec.h"
#include "dataplane/packed_key.h"
#include "dataplane/packet_reader.h"
#include "dataplane/schema.h"
#include "dataplane/trace_values.h"

namespace turntable::dataplane {
namespace {

using OrderedJson = nlohmann::ordered_json;  // the order of fields is that of headers and keys

uint128 bits_of(std::span<const std::uint8_t> bytes, std::size_t offset, std::size_t width) {
  uint128 value = 0;
  for (std::size_t bit = offset; bit < offset + width; ++bit)
    value = value << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1U);
  return value;
}

// `fields` is "name:bits name:bits", as generated code says it.
OrderedJson decode(std::string_view fields, std::span<const std::uint8_t> bytes) {
  OrderedJson values = OrderedJson::object();
  std::size_t offset = 0;
  while (!fields.empty()) {
    const std::string_view field = fields.substr(0, fields.find(' '));
    fields.remove_prefix(std::min(field.size() + 1, fields.size()));
    const std::size_t colon = field.find(':');
    std::size_t width = 0;
    std::from_chars(field.data() + colon + 1, field.data() + field.size(), width);
    const std::string name(field.substr(0, colon));
    values[name] = trace_value(name, static_cast<int>(width), bits_of(bytes, offset, width));
    offset += width;
  }
  return values;
}

OrderedJson cell_of(const RegisterArray& cells, std::uint64_t index) {
  if (index >= cells.size()) return nullptr;
  const auto place = static_cast<std::uint32_t>(index);
  if (cells.fields() == 1) return cells.raw(place, 0);
  return {cells.raw(place, 0), cells.raw(place, 1)};
}

const char* result_of(std::uint16_t error) {
  switch (error) {
    case kParserOk:
      return "accept";
    case kParserNoMatch:
      return "reject: no match";
    case kParserPartialHeader:
      return "reject: the packet ended inside a header";
    case kParserTimeout:
      return "reject: too many states";
    case kParserChecksum:
      return "reject: verify failed";
    default:
      return "reject";
  }
}

}  // namespace

struct TraceRecorder::State {
  struct Extracted {
    const void* header;
    OrderedJson fields;
  };

  std::unordered_map<std::string, TableSchema> tables;
  std::vector<LearnFilter> filters;
  OrderedJson events = OrderedJson::array();
  std::vector<Extracted> extracted;

  OrderedJson key(const TableSchema& schema, const std::uint64_t* words) const {
    OrderedJson key = OrderedJson::object();
    for (const auto& [name, field] : schema.keys)
      key[name] = trace_value(name, field.width, unpack_field(words, field.offset, field.width));
    return key;
  }

  // What the entry matches, in the control plane's form.
  OrderedJson entry(const TableSchema& schema, const Table& entries, std::uint32_t number) const {
    OrderedJson entry = EntryCodec(schema, entries).key(number);
    for (const auto& [name, field] : schema.keys) {
      if (!entry.at(name).is_object()) continue;
      for (auto& [part, value] : entry.at(name).items()) {
        if (part != "prefix_len" && value.is_number())
          value = trace_value(name, field.width, value.get<std::uint64_t>());
      }
    }
    return entry;
  }

  // `words`: of an entry, behind those of its direct externs.
  OrderedJson data(const ActionSchema& action, const std::uint64_t* words) const {
    OrderedJson data = OrderedJson::object();
    for (const auto& [name, width, word] : action.data) {
      const uint128 high = width > 64 ? words[word + 1] : 0;
      data[name] = trace_value(name, width, high << 64 | words[word]);
    }
    return data;
  }
};

TraceRecorder::TraceRecorder(std::string_view schema_json) : state_(std::make_unique<State>()) {
  const auto document = nlohmann::json::parse(schema_json);
  for (TableSchema& table : read_schema(document)) {
    const std::string name = table.name;
    state_->tables.emplace(name, std::move(table));
  }
  state_->filters = read_learn_filters(document);
}

TraceRecorder::~TraceRecorder() = default;

void TraceRecorder::begin() {
  is_on_ = true;
  state_->events = OrderedJson::array();
  state_->extracted.clear();
}

nlohmann::ordered_json TraceRecorder::take() {
  is_on_ = false;
  return std::move(state_->events);
}

void TraceRecorder::state(const char* parser, const char* state) {
  if (is_on_) state_->events.push_back({{"parser", parser}, {"state", state}});
}

void TraceRecorder::parsed(const char* parser, std::uint16_t error) {
  if (!is_on_) return;
  state_->events.push_back(
      {{"parser", parser}, {"result", result_of(error)}, {"parser_err", error}});
}

void TraceRecorder::extracted(const char* name, const void* header, const char* fields,
                              std::span<const std::uint8_t> bytes) {
  OrderedJson values = decode(fields, bytes);
  state_->events.push_back({{"extract", name}, {"fields", values}});
  state_->extracted.push_back({header, std::move(values)});
}

// Fields that the pipeline has changed; all of a header that did not arrive.
void TraceRecorder::emitted(const char* name, const void* header, const char* fields,
                            std::span<const std::uint8_t> bytes) {
  const OrderedJson values = decode(fields, bytes);
  OrderedJson event = {{"emit", name}};
  const State::Extracted* before = nullptr;
  for (const auto& extracted : state_->extracted) {
    if (extracted.header == header && extracted.fields.size() == values.size()) before = &extracted;
  }
  if (before == nullptr) {
    event["added"] = values;
  } else {
    for (const auto& [field, value] : values.items()) {
      const OrderedJson& old = before->fields.at(field);
      if (old != value) event["changed"][field] = {{"before", old}, {"after", value}};
    }
  }
  state_->events.push_back(std::move(event));
}

void TraceRecorder::applied(const char* table, const Table& entries, const std::uint64_t* key,
                            const Lookup& found, const char* actions, const Entry& acting,
                            std::size_t data_start) {
  if (!is_on_) return;
  const TableSchema& schema = state_->tables.at(table);
  const ActionSchema& action = state_->tables.at(actions).actions.at(acting.action());
  OrderedJson event = {{"table", table}};
  if (key != nullptr) event["key"] = state_->key(schema, key);
  event["hit"] = found.hit;
  if (found.hit && !schema.all_exact()) {
    const std::uint32_t number = entries.number_of(found.entry);
    event["entry"] = state_->entry(schema, entries, number);
    if (schema.has_priority) event["priority"] = entries.match(number).priority;
  }
  event["action"] = action.name;
  event["data"] = state_->data(action, acting.words() + data_start);
  state_->events.push_back(std::move(event));
}

void TraceRecorder::counted(const char* counter, std::uint64_t index) {
  if (is_on_) state_->events.push_back({{"counter", counter}, {"index", index}});
}

void TraceRecorder::metered(const char* meter, std::uint64_t index, std::uint8_t color) {
  if (is_on_) state_->events.push_back({{"meter", meter}, {"index", index}, {"color", color}});
}

void TraceRecorder::metered(const char* meter, std::uint8_t color) {
  if (is_on_) state_->events.push_back({{"meter", meter}, {"color", color}});
}

void TraceRecorder::drew(const char* random, std::uint64_t value) {
  if (is_on_) state_->events.push_back({{"random", random}, {"value", value}});
}

void TraceRecorder::digest(std::uint32_t filter, std::span<const std::uint8_t> fields) {
  if (!is_on_) return;
  const LearnFilter& schema = state_->filters.at(filter);
  OrderedJson values = OrderedJson::object();
  for (const auto& [name, width] : schema.fields) {
    const auto size = static_cast<std::size_t>((width + 7) / 8);
    values[name] = trace_value(name, width, bits_of(fields, 0, 8 * size));
    fields = fields.subspan(size);
  }
  state_->events.push_back({{"digest", schema.name}, {"fields", values}});
}

void TraceRecorder::mirror(const char* mirror, std::uint16_t session,
                           std::span<const std::uint8_t> header) {
  if (!is_on_) return;
  state_->events.push_back({{"mirror", mirror}, {"session", session}, {"header", to_hex(header)}});
}

void TraceRecorder::resubmit(const char* resubmit, std::span<const std::uint8_t> data) {
  if (is_on_) state_->events.push_back({{"resubmit", resubmit}, {"data", to_hex(data)}});
}

std::size_t TraceRecorder::reading(const char* name, const RegisterArray& cells,
                                   std::uint64_t index, const char* by) {
  const OrderedJson before = cell_of(cells, index);
  state_->events.push_back({{"register", name}, {"index", index}, {"by", by}, {"before", before}});
  return state_->events.size() - 1;
}

void TraceRecorder::has_written(std::size_t event, const RegisterArray& cells,
                                std::uint64_t index) {
  state_->events[event]["after"] = cell_of(cells, index);
}

void TraceRecorder::has_returned(std::size_t event, std::uint64_t output) {
  state_->events[event]["returns"] = output;
}

}  // namespace turntable::dataplane
