#include "workload/recorded_reader.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "common/command_error.h"

namespace turntable::workload {
namespace {

constexpr std::size_t kLongestLine = 1 << 20;
constexpr unsigned kReadAtOnce = 1 << 18;
// Of UTF-8, as spreadsheets write it: no part of the first key.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Verb {
  std::string_view name;
  OperationType type;
  bool inserts = false;
  bool of_ycsb = false;
};
constexpr std::array kVerbs = {
    Verb{"get", OperationType::kGet},
    Verb{"read", OperationType::kGet, false, true},
    Verb{"put", OperationType::kPut},
    Verb{"set", OperationType::kPut},
    Verb{"update", OperationType::kPut, false, true},
    Verb{"write", OperationType::kPut},
    Verb{"insert", OperationType::kPut, true, true},
    Verb{"add", OperationType::kPut, true},
    Verb{"delete", OperationType::kDelete, false, true},
};
constexpr const char* kExpectedVerbs =
    "get (read), put (set, update, write), insert (add) or delete: the store knows no others, so "
    "take such lines out of the file";

std::string lower(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

const Verb* find_verb(std::string_view text) {
  const std::string name = lower(text);
  const auto* found = std::find_if(kVerbs.begin(), kVerbs.end(),
                                   [&](const Verb& verb) { return verb.name == name; });
  return found == kVerbs.end() ? nullptr : found;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = line.find(separator);
    parts.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    line.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Bytes that are no printable ASCII as \xE9: a file may hold any, and messages are UTF-8.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string made = "\"";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte >= ' ' && byte <= '~') {
      made += c;
    } else {
      made += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return made + (text.size() > kShown ? "...\"" : "\"");
}

// YCSB prints other lines too, such as `YCSB Client 0.17.0` and `[OVERALL], RunTime(ms), 1000`.
bool is_word_of_capitals(std::string_view word) {
  return !word.empty() && word != "YCSB" &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// The first three words of `READ usertable user1 [ <all fields>]`, and what follows.
struct Words {
  std::array<std::string_view, 3> first;
  std::string_view rest;
};

std::optional<Words> operation_line(std::string_view line) {
  Words words;
  for (std::string_view& word : words.first) {
    const std::size_t end = line.find(' ');
    word = line.substr(0, end);
    if (word.empty()) return std::nullopt;
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  }
  words.rest = line;
  if (!is_word_of_capitals(words.first[0])) return std::nullopt;
  return words;
}

// Of `[ field0=VALUE field1=VALUE ]`: the bytes of all values. A value may hold any character.
std::optional<std::uint64_t> bytes_of_fields(std::string_view fields) {
  if (fields.size() < 4 || !fields.starts_with("[ ") || !fields.ends_with(" ]")) {
    return std::nullopt;
  }
  fields = fields.substr(2, fields.size() - 4);
  std::uint64_t bytes = 0;
  while (!fields.empty()) {
    const std::size_t equals = fields.find('=');
    if (!fields.starts_with("field") || equals == std::string_view::npos) return std::nullopt;
    fields.remove_prefix(equals + 1);
    std::size_t end = fields.find(" field");
    const auto is_name = [&](std::size_t begin) {
      const std::size_t digits = fields.find_first_not_of("0123456789", begin + 6);
      return digits != std::string_view::npos && digits > begin + 6 && fields[digits] == '=';
    };
    while (end != std::string_view::npos && !is_name(end)) end = fields.find(" field", end + 1);
    bytes += std::min(end, fields.size());
    fields.remove_prefix(end == std::string_view::npos ? fields.size() : end + 1);
  }
  return bytes;
}

}  // namespace

KeyId recorded_key_id(std::string_view key) {
  constexpr std::string_view kOfYcsb = "user";
  if (key.starts_with(kOfYcsb) && key.size() > kOfYcsb.size()) {
    const std::string_view digits = key.substr(kOfYcsb.size());
    const auto id = digits.size() > 1 && digits[0] == '0' ? std::nullopt : number_of(digits);
    if (id && *id <= std::uint64_t{1} << 63) return *id;
  }
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a 64
  for (const char c : key) hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211;
  return hash >> 1;
}

void RecordedReader::Closer::operator()(void* file) const {
  gzclose_r(static_cast<gzFile>(file));
}

RecordedReader::RecordedReader(const std::string& file)
    : file_(file), stream_(gzopen(file.c_str(), "rbe")), buffer_(kLongestLine) {
  if (!stream_) {
    throw bad_argument("trace " + file + ": cannot be opened: " + std::strerror(errno) +
                       "; expected a file of requests that this host can read, at the same path "
                       "on the controller, server hosts and client hosts");
  }
  gzbuffer(static_cast<gzFile>(stream_.get()), kReadAtOnce);
  recognize();
}

RecordedReader::~RecordedReader() = default;

void RecordedReader::fail(const std::string& what, const std::string& expected) const {
  throw bad_argument("trace " + file_ + ":" + std::to_string(number_) + ": " + what +
                     "; expected " + expected);
}

bool RecordedReader::next_line() {
  auto* const stream = static_cast<gzFile>(stream_.get());
  const char* read = gzgets(stream, buffer_.data(), static_cast<int>(buffer_.size()));
  int code = Z_OK;
  const char* message = gzerror(stream, &code);
  ++number_;
  if (code != Z_OK && code != Z_STREAM_END) {
    // What has been decompressed ahead may be many lines behind this one.
    throw bad_argument("trace " + file_ + ": " +
                       (code == Z_ERRNO ? std::strerror(errno) : message) +
                       "; expected a whole file of text, or of gzip");
  }
  if (read == nullptr) return false;
  line_ = std::string_view(buffer_.data());
  if (!line_.ends_with('\n') && gzeof(stream) == 0) {
    fail("no end of the line", "text, in lines of less than " + std::to_string(kLongestLine) +
                                   " bytes, without zero bytes");
  }
  if (number_ == 1 && line_.starts_with(kByteOrderMark)) line_.remove_prefix(kByteOrderMark.size());
  while (line_.ends_with('\n') || line_.ends_with('\r')) line_.remove_suffix(1);
  return true;
}

// By the first line that is not empty.
void RecordedReader::recognize() {
  do {
    if (!next_line()) fail_empty();
  } while (trimmed(line_).empty());
  is_ycsb_ = operation_line(line_).has_value() || line_.find(',') == std::string_view::npos;
  is_pending_ = true;
  if (is_ycsb_) return;
  const auto names = split(line_, ',');
  if (names.size() >= 2 && find_verb(names[1]) == nullptr) read_header(names);
}

void RecordedReader::read_header(const std::vector<std::string_view>& names) {
  constexpr std::size_t kNone = SIZE_MAX;
  Columns columns{.key = kNone, .operation = kNone, .value = kNone};
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = lower(names[i]);
    std::replace(name.begin(), name.end(), ' ', '_');
    if (name == "key" || name == "anonymized_key") columns.key = i;
    if (name == "operation" || name == "op") columns.operation = i;
    if (name == "value_size" || name == "value_bytes" || name == "size") columns.value = i;
  }
  if (columns.key == kNone && columns.operation == kNone) return;  // a bad line, but no header
  if (columns.key == kNone || columns.operation == kNone || columns.value == kNone) {
    fail("the header " + quoted(line_), "columns `key`, `operation` and `value_size`");
  }
  columns.least = columns.most = names.size();
  columns_ = columns;
  is_pending_ = false;
}

bool RecordedReader::next(RecordedRequest& request) {
  for (;;) {
    if (!is_pending_ && !next_line()) {
      if (!has_request_) fail_empty();
      return false;
    }
    is_pending_ = false;
    if (trimmed(line_).empty()) continue;
    if (!is_ycsb_) {
      request = of_csv();
      return has_request_ = true;
    }
    if (of_ycsb(request)) return has_request_ = true;
  }
}

void RecordedReader::fail_empty() const {
  throw bad_argument("trace " + file_ +
                     ": no request; expected lines `key,operation,value size`, or those of YCSB's "
                     "BasicDB");
}

RecordedRequest RecordedReader::of_csv() const {
  const auto fields = split(line_, ',');
  if (fields.size() < columns_.least || fields.size() > columns_.most) {
    const std::string columns = columns_.least == columns_.most
                                    ? std::to_string(columns_.most) + " columns, as in the header"
                                    : "key,operation,value size";
    fail(std::to_string(fields.size()) + " columns: " + quoted(line_), columns);
  }
  const std::string_view key = fields[columns_.key];
  if (key.empty() || key.find('"') != std::string_view::npos) {
    fail("key " + quoted(key), "a key without commas and quotation marks");
  }
  const Verb* verb = find_verb(fields[columns_.operation]);
  if (verb == nullptr) fail("operation " + quoted(fields[columns_.operation]), kExpectedVerbs);
  const std::string_view size = columns_.value < fields.size() ? fields[columns_.value] : "";
  return {recorded_key_id(key), verb->type, verb->inserts, value_bytes(size, verb->type)};
}

std::uint32_t RecordedReader::value_bytes(std::string_view text, OperationType type) const {
  if (type == OperationType::kDelete) return 0;
  const bool writes = type == OperationType::kPut;
  if (text.empty() && !writes) return 0;
  const auto bytes = number_of(text);
  if (!bytes || *bytes > kLongestRecordedValue || (*bytes == 0 && writes)) {
    const std::string most = std::to_string(kLongestRecordedValue);
    fail("value size " + quoted(text),
         writes ? "bytes that a put writes, from 1 to " + most + " (one datagram)"
                : "bytes from 1 to " + most + " (one datagram), or 0 or nothing: not known");
  }
  return static_cast<std::uint32_t>(*bytes);
}

// False: the line is something else that YCSB prints.
bool RecordedReader::of_ycsb(RecordedRequest& request) const {
  const auto words = operation_line(line_);
  if (!words) return false;
  const Verb* verb = find_verb(words->first[0]);
  if (verb == nullptr || !verb->of_ycsb) {
    fail("operation " + quoted(words->first[0]),
         "READ, UPDATE, INSERT or DELETE: hash partitions cannot SCAN, and the store knows no "
         "others");
  }
  request = {recorded_key_id(words->first[2]), verb->type, verb->inserts, 0};
  if (verb->type != OperationType::kPut) return true;
  const auto bytes = bytes_of_fields(words->rest);
  if (!bytes) {
    fail(quoted(line_), "`" + std::string(words->first[0]) +
                            " TABLE KEY [ field0=VALUE ... ]`, as YCSB's BasicDB prints it");
  }
  request.value_bytes = value_bytes(std::to_string(*bytes), verb->type);
  return true;
}

}  // namespace turntable::workload
