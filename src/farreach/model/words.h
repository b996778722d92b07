// Names for traces.
#pragma once

#include <string>

#include "farreach/model/data.h"

namespace turntable::model {

inline std::string key_name(unsigned key) {
  return key == 0 ? "A" : "B";
}

inline std::string client_name(unsigned client) {
  return client == 0 ? "client 1" : "client 2";
}

inline std::string write_name(Byte write) {
  return "w" + std::to_string(write & (kLarge - 1));
}

inline std::string name_of(const Record& record) {
  if (record.write == 0) return "the load's record";
  return write_name(record.write) + (is_large(record.write) ? " (large)" : "") + " #" +
         std::to_string(record.number);
}

inline std::string operation_name(Byte write, unsigned key) {
  if (write == 0) return "GET " + key_name(key);
  return (is_large(write) ? "large PUT " : "PUT ") + key_name(key) + " " + write_name(write);
}

}  // namespace turntable::model
