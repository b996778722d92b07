#include "bfrt_server/fixed_schema.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;

// A field of the schema, written as it is read: number(3, "$N_LANES", 32).read_only().
class SchemaField {
 public:
  SchemaField(int id, const char* name, Json type) : id_(id), name_(name), type_(std::move(type)) {}

  SchemaField mandatory() && { return mandatory_ = true, std::move(*this); }
  SchemaField read_only() && { return read_only_ = true, std::move(*this); }
  SchemaField list() && { return repeated_ = true, std::move(*this); }
  SchemaField or_else(Json value) && {
    type_["default_value"] = std::move(value);
    return std::move(*this);
  }

  Json key() const {
    Json document = described();
    document["mandatory"] = true;
    document["match_type"] = "Exact";
    return document;
  }
  Json parameter() const {
    Json document = described();
    document["mandatory"] = mandatory_;
    return document;
  }
  Json datum() const {
    return {{"mandatory", mandatory_}, {"read_only", read_only_}, {"singleton", described()}};
  }

 private:
  Json described() const {
    Json document = {{"id", id_},
                     {"name", name_},
                     {"repeated", repeated_},
                     {"annotations", Json::array()},
                     {"type", type_}};
    // Clients show such values as ports.
    if (name_ == "$DEV_PORT")
      document["annotations"] = {{{"name", "$bfrt_port_type_class"}, {"value", "dev_port"}}};
    return document;
  }

  int id_;
  std::string name_;
  Json type_;
  bool mandatory_ = false;
  bool read_only_ = false;
  bool repeated_ = false;
};

using Fields = std::vector<SchemaField>;

SchemaField number(int id, const char* name, int bits) {
  return {id, name, {{"type", "uint" + std::to_string(bits)}}};
}
SchemaField truth(int id, const char* name) {
  return {id, name, {{"type", "bool"}}};
}
SchemaField text(int id, const char* name, const std::vector<std::string>& choices = {}) {
  Json type = {{"type", "string"}};
  if (!choices.empty()) type["choices"] = choices;
  return {id, name, std::move(type)};
}

Json table(const char* name, std::uint32_t id, const char* type, int size, const Fields& keys,
           const Fields& data, const std::vector<std::string>& attributes = {}) {
  Json document = {{"name", name},
                   {"id", id},
                   {"table_type", type},
                   {"size", size},
                   {"annotations", Json::array()},
                   {"depends_on", Json::array()},
                   {"has_const_default_action", false},
                   {"key", Json::array()},
                   {"data", Json::array()},
                   {"supported_operations", Json::array()},
                   {"attributes", attributes}};
  for (const SchemaField& key : keys) document["key"].push_back(key.key());
  for (const SchemaField& datum : data) document["data"].push_back(datum.datum());
  return document;
}

const std::vector<std::string> kSpeeds = {"BF_SPEED_NONE", "BF_SPEED_1G",  "BF_SPEED_10G",
                                          "BF_SPEED_25G",  "BF_SPEED_40G", "BF_SPEED_40G_NB",
                                          "BF_SPEED_50G",  "BF_SPEED_100G"};
const std::vector<std::string> kPriorities = {"LOW", "0", "1", "2", "3",
                                              "4",   "5", "6", "7", "HIGH"};

Fields port_configuration() {
  return {
      text(1, "$SPEED", kSpeeds),
      text(2, "$FEC",
           {"BF_FEC_TYP_NONE", "BF_FEC_TYP_FIRECODE", "BF_FEC_TYP_REED_SOLOMON", "BF_FEC_TYP_FC",
            "BF_FEC_TYP_RS"}),
      number(3, "$N_LANES", 32).or_else(1),
      truth(4, "$PORT_ENABLE").or_else(false),
      text(5, "$AUTO_NEGOTIATION", {"PM_AN_DEFAULT", "PM_AN_FORCE_ENABLE", "PM_AN_FORCE_DISABLE"}),
      text(6, "$LOOPBACK_MODE",
           {"BF_LPBK_NONE", "BF_LPBK_MAC_NEAR", "BF_LPBK_MAC_FAR", "BF_LPBK_PCS_NEAR",
            "BF_LPBK_SERDES_NEAR", "BF_LPBK_SERDES_FAR"}),
      number(7, "$TX_MTU", 32).or_else(10240),
      number(8, "$RX_MTU", 32).or_else(10240),
      number(9, "$TX_PFC_EN_MAP", 32).or_else(0),
      number(10, "$RX_PFC_EN_MAP", 32).or_else(0),
      truth(11, "$TX_PAUSE_FRAME_EN").or_else(false),
      truth(12, "$RX_PAUSE_FRAME_EN").or_else(false),
      truth(13, "$CUT_THROUGH_EN").or_else(false),
      text(14, "$PORT_DIR", {"PM_PORT_DIR_DEFAULT", "PM_PORT_DIR_TX_ONLY", "PM_PORT_DIR_RX_ONLY"}),
      text(15, "$MEDIA_TYPE",
           {"BF_MEDIA_TYPE_COPPER", "BF_MEDIA_TYPE_OPTICAL", "BF_MEDIA_TYPE_UNKNOWN"})
          .read_only(),
      truth(21, "$IS_VALID").read_only(),
      truth(22, "$IS_INTERNAL").read_only(),
      number(23, "$CONN_ID", 32).read_only(),
      number(24, "$CHNL_ID", 32).read_only(),
      truth(25, "$PORT_UP").read_only(),
      text(26, "$PORT_NAME").read_only()};
}

// In the order of their ids, which begin with 1.
Fields port_counters() {
  constexpr const char* kNames[] = {
      "$FramesReceivedOK",
      "$FramesReceivedAll",
      "$FramesReceivedwithFCSError",
      "$FrameswithanyError",
      "$OctetsReceivedinGoodFrames",
      "$OctetsReceived",
      "$FramesReceivedwithUnicastAddresses",
      "$FramesReceivedwithMulticastAddresses",
      "$FramesReceivedwithBroadcastAddresses",
      "$FramesReceivedoftypePAUSE",
      "$FramesReceivedwithLengthError",
      "$FramesReceivedUndersized",
      "$FramesReceivedOversized",
      "$FragmentsReceived",
      "$JabberReceived",
      "$PriorityPauseFrames",
      "$CRCErrorStomped",
      "$FrameTooLong",
      "$RxVLANFramesGood",
      "$FramesDroppedBufferFull",
      "$FramesReceivedLength_lt_64",
      "$FramesReceivedLength_eq_64",
      "$FramesReceivedLength_65_127",
      "$FramesReceivedLength_128_255",
      "$FramesReceivedLength_256_511",
      "$FramesReceivedLength_512_1023",
      "$FramesReceivedLength_1024_1518",
      "$FramesReceivedLength_1519_2047",
      "$FramesReceivedLength_2048_4095",
      "$FramesReceivedLength_4096_8191",
      "$FramesReceivedLength_8192_9215",
      "$FramesReceivedLength_9216",
      "$FramesTransmittedOK",
      "$FramesTransmittedAll",
      "$FramesTransmittedwithError",
      "$OctetsTransmittedwithouterror",
      "$OctetsTransmittedTotal",
      "$FramesTransmittedUnicast",
      "$FramesTransmittedMulticast",
      "$FramesTransmittedBroadcast",
      "$FramesTransmittedPause",
      "$FramesTransmittedPriPause",
      "$FramesTransmittedVLAN",
      "$FramesTransmittedLength_lt_64",
      "$FramesTransmittedLength_eq_64",
      "$FramesTransmittedLength_65_127",
      "$FramesTransmittedLength_128_255",
      "$FramesTransmittedLength_256_511",
      "$FramesTransmittedLength_512_1023",
      "$FramesTransmittedLength_1024_1518",
      "$FramesTransmittedLength_1519_2047",
      "$FramesTransmittedLength_2048_4095",
      "$FramesTransmittedLength_4096_8191",
      "$FramesTransmittedLength_8192_9215",
      "$FramesTransmittedLength_9216",
      "$Pri0FramesTransmitted",
      "$Pri1FramesTransmitted",
      "$Pri2FramesTransmitted",
      "$Pri3FramesTransmitted",
      "$Pri4FramesTransmitted",
      "$Pri5FramesTransmitted",
      "$Pri6FramesTransmitted",
      "$Pri7FramesTransmitted",
      "$Pri0FramesReceived",
      "$Pri1FramesReceived",
      "$Pri2FramesReceived",
      "$Pri3FramesReceived",
      "$Pri4FramesReceived",
      "$Pri5FramesReceived",
      "$Pri6FramesReceived",
      "$Pri7FramesReceived",
      "$TransmitPri0Pause1USCount",
      "$TransmitPri1Pause1USCount",
      "$TransmitPri2Pause1USCount",
      "$TransmitPri3Pause1USCount",
      "$TransmitPri4Pause1USCount",
      "$TransmitPri5Pause1USCount",
      "$TransmitPri6Pause1USCount",
      "$TransmitPri7Pause1USCount",
      "$ReceivePri0Pause1USCount",
      "$ReceivePri1Pause1USCount",
      "$ReceivePri2Pause1USCount",
      "$ReceivePri3Pause1USCount",
      "$ReceivePri4Pause1USCount",
      "$ReceivePri5Pause1USCount",
      "$ReceivePri6Pause1USCount",
      "$ReceivePri7Pause1USCount",
      "$ReceiveStandardPause1USCount",
      "$FramesTruncated",
      "$TimeInSec",
      "$TimeinNSec",
      "$TX_PPS",
      "$RX_PPS",
      "$TX_RATE",
      "$RX_RATE",
  };
  Fields fields;
  int id = 0;
  for (const char* name : kNames) fields.push_back(number(++id, name, 64).or_else(0));
  return fields;
}

void add_ports(Json& tables) {
  const SchemaField dev_port = number(1, "$DEV_PORT", 32);
  const Fields answer = {number(1, "$DEV_PORT", 32).read_only()};
  tables.push_back(table("$PORT", 0xFF010001, "PortConfigure", 256, {dev_port},
                         port_configuration(), {"port_status_notif_cb"}));
  tables.push_back(table("$PORT_STAT", 0xFF010002, "PortStat", 256, {dev_port}, port_counters(),
                         {"poll_intvl_ms"}));
  tables.push_back(table("$PORT_HDL_INFO", 0xFF010003, "PortHdlInfo", 256,
                         {number(1, "$CONN_ID", 32), number(2, "$CHNL_ID", 32)}, answer));
  tables.push_back(table("$PORT_FP_IDX_INFO", 0xFF010004, "PortFpIdxInfo", 256,
                         {number(1, "$FP_IDX", 32)}, answer));
  tables.push_back(
      table("$PORT_STR_INFO", 0xFF010005, "PortStrInfo", 256, {text(1, "$PORT_NAME")}, answer));
}

void add_replication(Json& tables) {
  tables.push_back(table(
      "$pre.mgid", 0xFF020001, "PreMgid", 65536, {number(1, "$MGID", 16)},
      {number(1, "$MULTICAST_NODE_ID", 32).list(), truth(2, "$MULTICAST_NODE_L1_XID_VALID").list(),
       number(3, "$MULTICAST_NODE_L1_XID", 16).list(), number(4, "$MULTICAST_ECMP_ID", 32).list(),
       truth(5, "$MULTICAST_ECMP_L1_XID_VALID").list(),
       number(6, "$MULTICAST_ECMP_L1_XID", 16).list()},
      {"pre_device_config"}));
  tables.push_back(table("$pre.node", 0xFF020002, "PreNode", 1 << 24,
                         {number(1, "$MULTICAST_NODE_ID", 32)},
                         {number(1, "$MULTICAST_RID", 16).mandatory(),
                          number(2, "$MULTICAST_LAG_ID", 8).list().mandatory(),
                          number(3, "$DEV_PORT", 32).list().mandatory()}));
  tables.push_back(table("$pre.prune", 0xFF020005, "PrePrune", kPruneEntries,
                         {number(1, "$MULTICAST_L2_XID", 16)},
                         {number(1, "$DEV_PORT", 32).list().mandatory()}));
  tables.push_back(
      table("$pre.port", 0xFF020006, "PrePort", 288, {number(1, "$DEV_PORT", 32)},
            {number(1, "$MULTICAST_BACKUP_PORT", 32), truth(2, "$MULTICAST_FORWARD_STATE"),
             truth(3, "$MULTICAST_CLEAR_FAST_FAILOVER"), truth(4, "$COPY_TO_CPU_PORT_ENABLE")}));
}

void add_mirror(Json& tables) {
  Json mirror =
      table("$mirror.cfg", 0xFF040001, "MirrorCfg", 1024, {number(1, "$sid", 16)},
            {truth(5, "$session_enable"), text(6, "$direction", {"INGRESS", "EGRESS", "BOTH"}),
             number(7, "$ucast_egress_port", 32), truth(8, "$ucast_egress_port_valid"),
             number(9, "$egress_port_queue", 32), number(10, "$ingress_cos", 32),
             text(11, "$packet_color", {"GREEN", "YELLOW", "RED"}),
             number(12, "$level1_mcast_hash", 32), number(13, "$level2_mcast_hash", 32),
             number(14, "$mcast_grp_a", 16), truth(15, "$mcast_grp_a_valid"),
             number(16, "$mcast_grp_b", 16), truth(17, "$mcast_grp_b_valid"),
             number(18, "$mcast_l1_xid", 16), number(19, "$mcast_l2_xid", 16),
             number(20, "$mcast_rid", 16), number(21, "$icos_for_copy_to_cpu", 32),
             truth(22, "$copy_to_cpu"), number(23, "$max_pkt_len", 16)});
  mirror["action_specs"] = {{{"id", 2},
                             {"name", "$normal"},
                             {"action_scope", "TableAndDefault"},
                             {"annotations", Json::array()},
                             {"data", Json::array()}}};
  tables.push_back(std::move(mirror));
}

void add_traffic_manager(Json& tables) {
  const SchemaField dev_port = number(1, "dev_port", 32);
  const Fields queue = {number(1, "pg_id", 8), number(2, "pg_queue", 8)};
  const Fields counters = {number(1, "drop_count_packets", 64),
                           number(2, "usage_cells", 64).read_only(),
                           number(3, "watermark_cells", 64)};
  const std::vector<std::string> units = {"PPS", "BPS"};
  const std::vector<std::string> provisioning = {"UPPER", "LOWER", "MIN_ERROR"};
  tables.push_back(table("tf1.tm.port.cfg", 0xFF050010, "TmPortCfg", 288, {dev_port},
                         {number(1, "pg_id", 8).read_only(), number(2, "pg_port_nr", 8).read_only(),
                          number(3, "port_queues_count", 8).read_only(),
                          number(4, "ingress_qid_map", 8).list().read_only(),
                          number(5, "egress_qid_queues", 8).list().read_only()}));
  tables.push_back(table("tf1.tm.port.sched_cfg", 0xFF050016, "TmPortSchedCfg", 288, {dev_port},
                         {truth(1, "max_rate_enable"), text(2, "scheduling_speed", kSpeeds)}));
  tables.push_back(table("tf1.tm.port.sched_shaping", 0xFF050017, "TmPortSchedShaping", 288,
                         {dev_port},
                         {text(1, "unit", units), text(2, "provisioning", provisioning),
                          number(3, "max_rate", 32), number(4, "max_burst_size", 32)}));
  tables.push_back(
      table("tf1.tm.queue.map", 0xFF050022, "TmQueueMap", 2304, queue,
            {number(1, "dev_port", 32).read_only(), number(2, "queue_nr", 8).read_only()}));
  tables.push_back(table("tf1.tm.queue.sched_cfg", 0xFF050025, "TmQueueSchedCfg", 2304, queue,
                         {text(1, "min_priority", kPriorities), truth(2, "min_rate_enable"),
                          number(3, "dwrr_weight", 16), text(4, "max_priority", kPriorities),
                          truth(5, "max_rate_enable"), truth(6, "scheduling_enable")}));
  tables.push_back(table("tf1.tm.queue.sched_shaping", 0xFF050026, "TmQueueSchedShaping", 2304,
                         queue,
                         {text(1, "unit", units), text(2, "provisioning", provisioning),
                          number(3, "min_rate", 32), number(4, "min_burst_size", 32),
                          number(5, "max_rate", 32), number(6, "max_burst_size", 32)}));
  tables.push_back(
      table("tf1.tm.counter.eg_port", 0xFF050042, "TmCounterEgPort", 288, {dev_port}, counters));
  tables.push_back(
      table("tf1.tm.counter.queue", 0xFF050043, "TmCounterQueue", 576, queue, counters));
  tables.push_back(table("tf1.tm.cfg", 0xFF050081, "TmCfg", 1, {},
                         {number(2, "cell_size_bytes", 32).read_only()}));
}

// With the ids of an SDE, as `number` and `truth` take them.
void add_packet_generator(Json& tables) {
  tables.push_back(
      table("tf1.pktgen.port_cfg", 0xFF030001, "PktgenPortCfg", 256, {number(1, "dev_port", 32)},
            {truth(1, "recirculation_enable"), truth(2, "pktgen_enable"),
             truth(3, "pattern_matching_enable"), truth(4, "clear_port_down_enable")}));
  Json applications = table(
      "tf1.pktgen.app_cfg", 0xFF030002, "PktgenAppCfg", 8, {number(1, "app_id", 32)},
      {truth(12, "app_enable"), number(13, "pkt_len", 16), number(14, "pkt_buffer_offset", 16),
       number(15, "pipe_local_source_port", 32), truth(16, "increment_source_port"),
       number(17, "batch_count_cfg", 16), number(18, "packets_per_batch_cfg", 16),
       number(19, "ibg", 32), number(20, "ibg_jitter", 32), number(21, "ipg", 32),
       number(22, "ipg_jitter", 32), number(23, "batch_counter", 64), number(24, "pkt_counter", 64),
       number(25, "trigger_counter", 64)});
  const auto trigger = [](int id, const char* name, const Fields& fields) {
    Json action = {{"id", id}, {"name", name}, {"data", Json::array()}};
    for (const SchemaField& field : fields) action["data"].push_back(field.parameter());
    return action;
  };
  const SchemaField timer = number(1, "timer_nanosec", 32);
  applications["action_specs"] = {
      trigger(1, "trigger_timer_one_shot", {timer}), trigger(2, "trigger_timer_periodic", {timer}),
      trigger(3, "trigger_port_down", {}),
      trigger(4, "trigger_recirc_pattern",
              {number(4, "pattern_value", 32), number(5, "pattern_mask", 32)})};
  tables.push_back(std::move(applications));
  const SchemaField buffer = {1, "buffer", {{"type", "bytes"}, {"width", 8}}};
  tables.push_back(table("tf1.pktgen.pkt_buffer", 0xFF030003, "PktgenPktBufferCfg", 1024,
                         {number(1, "pkt_buffer_offset", 32), number(2, "pkt_buffer_size", 32)},
                         {SchemaField(buffer).list()}));
}

void add_device(Json& tables) {
  tables.push_back(table(
      "tf1.dev.device_configuration", 0xFF060001, "DevConfigure", 1, {},
      {text(1, "sku").read_only(), number(2, "num_pipes", 32).read_only(),
       number(3, "num_stages", 32).read_only(), number(4, "num_max_ports", 32).read_only(),
       number(5, "num_front_ports", 32).read_only(), number(6, "pcie_cpu_port", 32).read_only(),
       number(7, "eth_cpu_port_list", 32).list().read_only(),
       number(8, "internal_port_list", 32).list().read_only(),
       number(9, "external_port_list", 32).list().read_only(),
       number(10, "recirc_port_list", 32).list().read_only(),
       truth(11, "intr_based_link_monitoring").read_only(),
       truth(12, "flow_learn_intr_mode").or_else(false),
       number(13, "lrt_dr_timeout_usec", 32).or_else(0),
       number(14, "flow_learn_timeout_usec", 32).or_else(500),
       truth(15, "inactive_node_delete").or_else(false),
       truth(16, "selector_member_order").or_else(false)}));
}

}  // namespace

Json fixed_schema() {
  Json tables = Json::array();
  add_ports(tables);
  add_replication(tables);
  add_mirror(tables);
  add_traffic_manager(tables);
  add_packet_generator(tables);
  add_device(tables);
  return {{"schema_version", "1.0.0"}, {"tables", std::move(tables)}};
}

}  // namespace turntable::bfrt_server
