// The control plane of a generated program: finds its tables and counters by BfRt name and answers
// the commands of docs/architecture.md §5.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dataplane/action_profiles.h"
#include "dataplane/control.h"
#include "dataplane/counter.h"
#include "dataplane/digest_queue.h"
#include "dataplane/dynamic_hash.h"
#include "dataplane/filter.h"
#include "dataplane/hash_codec.h"
#include "dataplane/meter.h"
#include "dataplane/random.h"
#include "dataplane/register.h"
#include "dataplane/schema.h"
#include "dataplane/table.h"

namespace turntable::dataplane {

class ProgramControl final : public ControlPlane {
 public:
  // `schema_json` is the program's bfrt.json, `p4info` its P4Info, which is only told. The objects
  // registered must outlive this one.
  ProgramControl(std::string program, std::string_view schema_json, DigestQueue& digests,
                 std::string_view p4info = "");

  void add_table(const std::string& name, Table& table) {
    tables_.emplace(name, &table);
    if (table.ages()) aging_.push_back(&table);
  }
  void add_counter(const std::string& name, Counter& counter) { counters_.emplace(name, &counter); }
  void add_register(const std::string& name, RegisterArray& cells) {
    registers_.emplace(name, &cells);
  }

  void add_meter(const std::string& name, Meter& meter) { meters_.emplace(name, &meter); }
  void add_filter(const std::string& name, FilterArray& filter) { filters_.emplace(name, &filter); }
  void add_hash(const std::string& name, DynamicHash& hash) { hashes_.emplace(name, &hash); }
  void add_random(Random& random);
  ActionProfiles& profiles() { return profiles_; }

  std::vector<std::string> commands() const override;
  void at(std::uint64_t now_ns) override {
    for (Table* table : aging_) table->at(now_ns);
  }
  nlohmann::json execute(std::string_view command, const nlohmann::json& args) override;
  std::unique_ptr<TableWrite> write_tables(const nlohmann::json& args) override;
  void share_hits(const std::string& table, ControlPlane& other) override;
  nlohmann::json read_state() override;
  void take_state(const nlohmann::json& state) override;
  std::size_t digests_waiting() const override { return digests_.size(); }

 private:
  using Handler = nlohmann::json (ProgramControl::*)(const nlohmann::json&);
  static const std::map<std::string, Handler, std::less<>>& handlers();

  nlohmann::json table_write(const nlohmann::json& args);
  nlohmann::json table_read(const nlohmann::json& args);
  nlohmann::json aging_update(const nlohmann::json& args);
  nlohmann::json aging_events(const nlohmann::json& args);
  nlohmann::json aging_read(const nlohmann::json& args);
  nlohmann::json table_info(const nlohmann::json& args);
  nlohmann::json schema(const nlohmann::json& args);
  nlohmann::json p4info(const nlohmann::json& args);
  nlohmann::json counter_read(const nlohmann::json& args);
  nlohmann::json counter_write(const nlohmann::json& args);
  nlohmann::json counter_clear(const nlohmann::json& args);
  nlohmann::json register_read(const nlohmann::json& args);
  nlohmann::json register_write(const nlohmann::json& args);
  nlohmann::json register_clear(const nlohmann::json& args);
  nlohmann::json meter_write(const nlohmann::json& args);
  nlohmann::json meter_read(const nlohmann::json& args);
  nlohmann::json meter_clear(const nlohmann::json& args);
  nlohmann::json meter_byte_count_adjust(const nlohmann::json& args);
  nlohmann::json selector_member(const nlohmann::json& args);
  nlohmann::json filter_write(const nlohmann::json& args);
  nlohmann::json filter_read(const nlohmann::json& args);
  nlohmann::json hash_write(const nlohmann::json& args);
  nlohmann::json hash_read(const nlohmann::json& args);
  nlohmann::json hash_reset(const nlohmann::json& args);
  nlohmann::json settings_reset(const nlohmann::json& args);
  nlohmann::json digest_read(const nlohmann::json& args);
  nlohmann::json random_seed(const nlohmann::json& args);

  void apply(TableBatch& batch, const nlohmann::json& update, RowOutcomes* rows = nullptr) const;
  bool has_cells(const TableSchema& schema) const;
  void apply_to_cells(TableBatch& batch, const TableSchema& schema,
                      const nlohmann::json& update) const;
  const TableSchema& resolve(const nlohmann::json& args) const;
  Table* table_of(const TableSchema& schema) const;
  Table& aging_table(const TableSchema& schema) const;
  Table& match_table(const TableSchema& schema) const;
  nlohmann::json read_indexed(const TableSchema& schema, Counter& counter,
                              const nlohmann::json& args) const;
  void clear_counter(const TableSchema& schema);
  Counter& counter_of(const TableSchema& schema) const;
  RegisterArray& register_of(const TableSchema& schema) const;
  FilterArray& filter_of(const TableSchema& schema) const;
  Meter& meter_of(const TableSchema& schema) const;
  HashCodec hash_of(const nlohmann::json& args) const;

  const TableSchema* find_schema(const std::string& name) const;  // nullptr: there is none
  void take_table(const std::string& name, const nlohmann::json& state);
  void take_groups(const std::string& name, const nlohmann::json& groups);
  void take_cells(const std::string& name, const nlohmann::json& state);
  void take_byte_count_adjust(const std::string& name, std::int32_t bytes);

  std::string program_;
  nlohmann::json document_;
  std::string p4info_;
  std::vector<TableSchema> schemas_;
  std::vector<std::string> names_;  // of schemas_
  std::map<std::string, Table*> tables_;
  std::vector<Table*> aging_;  // of tables_
  ActionProfiles profiles_{tables_};
  std::map<std::string, Counter*> counters_;
  std::map<std::string, RegisterArray*> registers_;
  std::map<std::string, Meter*> meters_;
  std::map<std::string, FilterArray*> filters_;
  std::map<std::string, DynamicHash*> hashes_;
  std::vector<Random*> randoms_;
  DigestQueue& digests_;
  std::vector<LearnFilter> learn_filters_;
};

}  // namespace turntable::dataplane
