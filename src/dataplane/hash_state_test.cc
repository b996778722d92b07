#include "dataplane/hash_state.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common/command_error.h"
#include "dataplane/program_control.h"

namespace turntable::dataplane {
namespace {

using Json = nlohmann::json;

// A program with a hash of two fields, or with none.
class HashProgram {
 public:
  explicit HashProgram(const char* first_field = "hdr.a", bool has_hash = true)
      : hash_({.bits = 24,
               .zeros_behind = 0,
               .width = 64,
               .used_low = 0,
               .used_bits = 64,
               .fields = {{first_field, 16, false}, {"hdr.b", 8, false}},
               .pairs = {},
               .constants = {0}},
              named_hash_algorithm("CRC_16", 64)) {
    Json tables = Json::array();
    for (const char* part : {"Configure", "Algorithm", "Compute"}) {
      std::string name = part;
      name[0] = static_cast<char>(name[0] - 'A' + 'a');
      tables.push_back({{"name", "pipe.h." + name},
                        {"table_type", std::string("DynHash") + part},
                        {"size", 1},
                        {"has_const_default_action", false},
                        {"attributes", Json::array()}});
    }
    if (!has_hash) tables.clear();
    const Json schema = {{"tables", tables}, {"learn_filters", Json::array()}};
    control_ = std::make_unique<ProgramControl>("hashing", schema.dump(), digests_);
    if (has_hash) control_->add_hash("pipe.h", hash_);
  }

  Json run(const char* command, const Json& args) { return control_->execute(command, args); }
  ProgramControl& control() { return *control_; }
  Json algorithm() { return run("hash_read", {{"table", "h.algorithm"}}); }
  Json fields() { return run("hash_read", {{"table", "h.configure"}}); }

 private:
  DigestQueue digests_;
  DynamicHash hash_;
  std::unique_ptr<ProgramControl> control_;
};

void configure(HashProgram& program) {
  program.run("hash_write", {{"table", "h.configure"},
                             {"data", {{"hdr.a", {{{"order", 2}, {"start_bit", 3}}}}}}});
  program.run("hash_write", {{"table", "h.algorithm"},
                             {"action", "pre_defined"},
                             {"data", {{"algorithm_name", "CRC_64_WE"}, {"rotate", 5}}}});
}

TEST(HashState, goes_on_in_the_next_program) {
  HashProgram before;
  configure(before);
  HashProgram after;
  after.control().take_state(before.control().read_state());
  EXPECT_EQ(after.fields(), before.fields());
  EXPECT_EQ(after.algorithm(), before.algorithm());
  const Json value = {{"table", "h.compute"}, {"key", {{"hdr.a", 0x1234}, {"hdr.b", 7}}}};
  EXPECT_EQ(after.run("hash_read", value), before.run("hash_read", value));
}

TEST(HashState, of_a_seed_alone_is_a_seed_alone) {
  HashProgram before;
  before.run("hash_write", {{"table", "h.algorithm"}, {"data", {{"seed", 77}}}});
  HashProgram after;
  after.control().take_state(before.control().read_state());
  EXPECT_EQ(after.algorithm(), before.algorithm());
  EXPECT_EQ(after.algorithm().at("data").at("seed"), 77);
  EXPECT_EQ(after.algorithm().at("data").at("algorithm_name"), "CRC_16");
}

TEST(HashState, without_a_place_is_refused_unless_nothing_was_set) {
  HashProgram before;
  HashProgram without("hdr.a", /*has_hash=*/false);
  without.control().take_state(before.control().read_state());
  configure(before);
  HashProgram renamed("hdr.c");
  for (HashProgram* after : {&without, &renamed}) {
    try {
      after->control().take_state(before.control().read_state());
      ADD_FAILURE() << "taken";
    } catch (const CommandError& error) {
      EXPECT_EQ(error.code(), "state_conflict");
    }
  }
}

}  // namespace
}  // namespace turntable::dataplane
