// The program's P4Info, and its objects by id, by name, and by the names that softswitch has.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "p4/config/v1/p4info.pb.h"

namespace turntable::p4runtime_server {

namespace config = p4::config::v1;

// Objects stay where they are while this lives. A lookup throws Refusal NOT_FOUND, which says what
// there is not.
class ProgramInfo {
 public:
  // `text` in protobuf's text format; `pipe`: what softswitch's names of tables begin with;
  // `selectors`: by profile, both with softswitch's names. Throws std::runtime_error where the text
  // is no P4Info.
  ProgramInfo(const std::string& text, std::string pipe,
              std::map<std::string, std::string> selectors);
  ProgramInfo(const ProgramInfo&) = delete;
  ProgramInfo& operator=(const ProgramInfo&) = delete;

  const config::P4Info& document() const { return document_; }

  const config::Table& table(std::uint32_t id) const;
  const config::Action& action(std::uint32_t id) const;
  const config::ActionProfile& profile(std::uint32_t id) const;
  const config::Counter& counter(std::uint32_t id) const;
  const config::Meter& meter(std::uint32_t id) const;
  const config::Register& register_of(std::uint32_t id) const;
  const config::ValueSet& value_set(std::uint32_t id) const;

  const config::Action& action(const std::string& name) const;
  const config::Digest& digest(std::uint32_t id) const;
  // By softswitch's name. nullptr: there is none.
  const config::Digest* digest(const std::string& on_switch) const;

  // That of a table's entries. nullptr: they have none.
  const config::DirectCounter* direct_counter(const config::Table& table) const;
  const config::DirectMeter* direct_meter(const config::Table& table) const;

  // softswitch's name of a table, counter, meter, register, profile or value set.
  std::string on_switch(const config::Preamble& preamble) const {
    return pipe_ + "." + preamble.name();
  }
  // Of an action profile's selector, which P4Info does not name: that of softswitch's schema.
  // Empty: it has none.
  const std::string& selector_of(const config::ActionProfile& profile) const;

 private:
  config::P4Info document_;
  std::string pipe_;
  std::map<std::uint32_t, const config::Table*> tables_;
  std::map<std::uint32_t, const config::Action*> actions_;
  std::map<std::string, const config::Action*> actions_by_name_;
  std::map<std::uint32_t, const config::ActionProfile*> profiles_;
  std::map<std::uint32_t, const config::Counter*> counters_;
  std::map<std::uint32_t, const config::Meter*> meters_;
  std::map<std::uint32_t, const config::DirectCounter*> direct_counters_;  // by table
  std::map<std::uint32_t, const config::DirectMeter*> direct_meters_;
  std::map<std::uint32_t, const config::Register*> registers_;
  std::map<std::uint32_t, const config::ValueSet*> value_sets_;
  std::map<std::uint32_t, const config::Digest*> digests_;
  std::map<std::string, const config::Digest*> digests_by_name_;  // softswitch's
  std::map<std::string, std::string> selectors_;                  // softswitch's names
};

}  // namespace turntable::p4runtime_server
