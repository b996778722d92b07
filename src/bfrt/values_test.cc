#include "bfrt/values.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace turntable::bfrt {
namespace {

using namespace std::string_literals;
using nlohmann::json;

Field number_of(int width) {
  Field field;
  field.id = 3;
  field.name = "f";
  field.width = width;
  return field;
}

Field of_kind(Field::Kind kind, bool repeated = false) {
  Field field = number_of(16);
  field.kind = kind;
  field.repeated = repeated;
  return field;
}

Field matched(Field::Match match) {
  Field field = number_of(16);
  field.match = match;
  return field;
}

// What a value becomes on its way there and back.
json round_trip(const Field& field, const json& value) {
  bfrt_proto::DataField message;
  set_datum(field, value, message);
  EXPECT_EQ(message.field_id(), field.id);
  return datum(field, message);
}

json key_round_trip(const Field& field, const json& value) {
  bfrt_proto::KeyField message;
  set_key(field, value, message);
  return key(field, message);
}

TEST(Values, of_data_come_back) {
  EXPECT_EQ(round_trip(number_of(9), 511U), 511U);
  EXPECT_EQ(round_trip(number_of(64), 0xFFFFFFFFFFFFFFFFU), 0xFFFFFFFFFFFFFFFFU);
  EXPECT_EQ(round_trip(number_of(128), "0x10000000000000000"), "0x10000000000000000");
  EXPECT_EQ(round_trip(of_kind(Field::Kind::kBool), true), true);
  EXPECT_EQ(round_trip(of_kind(Field::Kind::kText), "x"), "x");
  EXPECT_EQ(round_trip(of_kind(Field::Kind::kNumber, true), {1U, 2U}), json({1U, 2U}));
  EXPECT_EQ(round_trip(of_kind(Field::Kind::kBool, true), {true, false}), json({true, false}));
}

// Of a list of containers, each with a number that must be there and one that need not.
Field containers() {
  Field field = of_kind(Field::Kind::kContainer, true);
  Field order = number_of(64);
  order.id = 5;
  order.name = "order";
  order.mandatory = true;
  Field length = number_of(8);
  length.id = 6;
  length.name = "length";
  field.container = {order, length};
  return field;
}

TEST(Values, of_containers_come_back) {
  const json list = {{{"order", 1U}, {"length", 4U}}, {{"order", 2U}}};
  EXPECT_EQ(round_trip(containers(), list), list);
  EXPECT_EQ(round_trip(containers(), json::array()), json::array());
}

TEST(Values, of_containers_are_checked) {
  bfrt_proto::DataField message;
  message.set_stream("x");
  EXPECT_THROW(datum(containers(), message), ValueError);  // no containers
  auto* container = message.mutable_container_arr_val()->add_container();
  set_datum(containers().container[1], 4U, *container->add_val());
  EXPECT_THROW(datum(containers(), message), ValueError);  // without an order
  set_datum(containers().container[0], 4U, *container->add_val());
  EXPECT_EQ(datum(containers(), message), json({{{"order", 4U}, {"length", 4U}}}));
  set_datum(containers().container[0], 5U, *container->add_val());
  EXPECT_THROW(datum(containers(), message), ValueError);  // with two
  container->mutable_val()->RemoveLast();
  set_datum(number_of(8), 5U, *container->add_val());
  EXPECT_THROW(datum(containers(), message), ValueError);  // of another id
}

TEST(Values, of_numbers_are_big_endian) {
  bfrt_proto::DataField message;
  set_datum(number_of(16), 0x0102U, message);
  EXPECT_EQ(message.stream(), "\x01\x02"s);
}

TEST(Values, of_keys_come_back) {
  EXPECT_EQ(key_round_trip(matched(Field::Match::kExact), 7U), 7U);
  const json ternary = {{"value", 1U}, {"mask", 3U}};
  EXPECT_EQ(key_round_trip(matched(Field::Match::kTernary), ternary), ternary);
  const json prefix = {{"value", 256U}, {"prefix_len", 8U}};
  EXPECT_EQ(key_round_trip(matched(Field::Match::kLpm), prefix), prefix);
  const json range = {{"low", 1U}, {"high", 9U}};
  EXPECT_EQ(key_round_trip(matched(Field::Match::kRange), range), range);
}

TEST(Values, of_the_wrong_length_are_refused) {
  bfrt_proto::DataField message;
  message.set_stream("\x01");
  EXPECT_THROW(datum(number_of(16), message), ValueError);
  message.set_stream("\x01\x02\x03");
  EXPECT_THROW(datum(number_of(16), message), ValueError);
  message.set_stream("\xFF\xFF");
  EXPECT_THROW(datum(number_of(9), message), ValueError);
}

TEST(Values, of_another_kind_are_refused) {
  bfrt_proto::DataField message;
  message.set_bool_val(true);
  EXPECT_THROW(datum(number_of(16), message), ValueError);
  EXPECT_THROW(datum(of_kind(Field::Kind::kText), message), ValueError);
  EXPECT_THROW(datum(of_kind(Field::Kind::kNumber, true), message), ValueError);
  bfrt_proto::KeyField key_message;
  key_message.mutable_lpm()->set_value("\x01\x02");
  EXPECT_THROW(key(matched(Field::Match::kExact), key_message), ValueError);
  key_message.mutable_lpm()->set_prefix_len(17);
  EXPECT_THROW(key(matched(Field::Match::kLpm), key_message), ValueError);
}

TEST(Values, outside_the_choices_are_refused) {
  Field speed = of_kind(Field::Kind::kText);
  speed.choices = {"BF_SPEED_10G"};
  bfrt_proto::DataField message;
  message.set_str_val("10G");
  EXPECT_THROW(datum(speed, message), ValueError);
  message.set_str_val("BF_SPEED_10G");
  EXPECT_EQ(datum(speed, message), "BF_SPEED_10G");
}

}  // namespace
}  // namespace turntable::bfrt
