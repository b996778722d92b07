// Test program: answers for our generators the questions that tests/ycsb asks of YCSB's own
// classes. One question per line on standard input, one answer per line on standard output:
//
//   hash VALUE                        FNV-1a 64, absolute
//   zeta N THETA
//   zipfian ITEMS THETA U             rank; U is the random double times 2^53
//   cumulative ITEMS THETA RANK       probability of a smaller rank; ITEMS 0: scrambled zipfian's
//   scrambled RECORDS U               key number
//   latest RECORDS LAST U             key number
//   uniform RECORDS BITS              key number; BITS is the random long
//   operation READ UPDATE INSERT SCAN READMODIFYWRITE U
//   key NUMBER                        id, wire key, CRC-32, slot
#include <cinttypes>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

#include "workload/key.h"
#include "workload/key_chooser.h"
#include "workload/transaction.h"
#include "workload/zeta.h"

namespace turntable::workload {
namespace {

template <typename Value>
Value take(std::istream& line) {
  Value value;
  if (!(line >> value)) throw std::runtime_error("a field is missing or not a number");
  return value;
}

std::uint64_t take_integer(std::istream& line) {
  return take<std::uint64_t>(line);
}

// U as the 64 bits it comes from.
std::uint64_t take_unit(std::istream& line) {
  return take_integer(line) << 11;
}

std::string hexadecimal(const KeyBytes& bytes) {
  std::string text;
  char digits[3];
  for (const std::uint8_t byte : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

KeyChooser chooser(const char* profile, std::uint64_t records) {
  return KeyChooser(workload_from_json({{"name", profile}, {"records", records}}));
}

std::string real(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string zipfian(std::istream& line) {
  const auto items = take_integer(line);
  const auto theta = take<double>(line);
  return std::to_string(Zipfian(items, theta).rank(unit_interval(take_unit(line))));
}

std::string cumulative(std::istream& line) {
  const auto items = take_integer(line);
  const auto theta = take<double>(line);
  const Zipfian zipfian = items == 0 ? Zipfian::scrambled(theta) : Zipfian(items, theta);
  return real(zipfian.cumulative(take_integer(line)));
}

std::string operation(std::istream& line) {
  static const char* const kNames[] = {"READ", "UPDATE", "INSERT", "SCAN", "READMODIFYWRITE"};
  Proportions p;
  for (double* share : {&p.read, &p.update, &p.insert, &p.scan, &p.read_modify_write}) {
    *share = take<double>(line);
  }
  return kNames[static_cast<unsigned>(TransactionChooser(p).choose(take_unit(line)))];
}

std::string key(std::istream& line) {
  const KeyId id = key_id(take_integer(line));
  return std::to_string(id) + " " + hexadecimal(wire_key(id)) + " " + std::to_string(crc_of(id)) +
         " " + std::to_string(slot_of(id));
}

std::string answer(std::istream& line) {
  const auto question = take<std::string>(line);
  if (question == "hash") return std::to_string(fnv_hash(take_integer(line)));
  if (question == "zeta") {
    const auto n = take_integer(line);
    return real(zeta(n, take<double>(line)));
  }
  if (question == "zipfian") return zipfian(line);
  if (question == "cumulative") return cumulative(line);
  if (question == "scrambled") {
    const auto records = take_integer(line);
    return std::to_string(chooser("workloada", records).candidate(take_unit(line), records - 1));
  }
  if (question == "latest") {
    const auto records = take_integer(line);
    const auto last = take_integer(line);
    return std::to_string(chooser("workloadd", records).candidate(take_unit(line), last));
  }
  if (question == "uniform") {
    const auto records = take_integer(line);
    return std::to_string(chooser("uniform", records).candidate(take_integer(line), records - 1));
  }
  if (question == "operation") return operation(line);
  if (question == "key") return key(line);
  throw std::runtime_error("unknown question " + question);
}

}  // namespace
}  // namespace turntable::workload

int main() {
  std::string text;
  while (std::getline(std::cin, text)) {
    try {
      std::istringstream line(text);
      std::cout << turntable::workload::answer(line) << '\n';
    } catch (const std::exception& error) {
      std::cerr << "ycsb-evaluate: \"" << text << "\": " << error.what() << '\n';
      return 2;
    }
  }
  return 0;
}
