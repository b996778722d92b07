#include "mcload/content.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "common/command_error.h"

namespace turntable::mcload {
namespace {

std::string key_of(const Content& content, std::uint32_t record) {
  std::array<char, Content::kKeyRoom> out{};
  return std::string(content.key(record, out.data()));
}

TEST(Content, KeysHaveTheirSizeAndAreDifferent) {
  const Content content({.records = 1000, .key_size = "fixed:8", .value_size = "3"});
  EXPECT_EQ(key_of(content, 0), "00000000");
  EXPECT_EQ(key_of(content, 999), "00000999");
  EXPECT_EQ(content.value_bytes(5), 3U);
  EXPECT_EQ(content.value(5).size(), 3U);
}

// One in 200 would have a byte: its record's number has up to five digits.
TEST(Content, AFewKeysThatWouldBeTooShortAreLonger) {
  const Content content({.records = 20'000, .key_size = "bimodal:6,1,0.005", .value_size = "1"});
  std::set<std::string> keys;
  std::set<std::size_t> sizes;
  for (std::uint32_t record = 0; record < content.records(); ++record) {
    keys.insert(key_of(content, record));
    sizes.insert(key_of(content, record).size());
  }
  EXPECT_EQ(keys.size(), 20'000U);
  EXPECT_EQ(sizes, (std::set<std::size_t>{5, 6}));
  EXPECT_NE(content.note().find("of 20000 sizes of keys (-K, key_size) were not 5 to 250 bytes"),
            std::string::npos)
      << content.note();
}

TEST(Content, SizesAreFunctionsOfSeedAndRecord) {
  const ContentSettings settings{
      .records = 5000, .key_size = "fb_key", .value_size = "fb_value", .seed = 3};
  const Content one(settings), same(settings);
  ContentSettings changed = settings;
  changed.seed = 4;
  const Content other(changed);
  int differ = 0;
  double key_bytes = 0;
  for (std::uint32_t record = 0; record < 5000; ++record) {
    EXPECT_EQ(one.value_bytes(record), same.value_bytes(record));
    EXPECT_EQ(key_of(one, record), key_of(same, record));
    differ += one.value_bytes(record) != other.value_bytes(record) ? 1 : 0;
    key_bytes += static_cast<double>(key_of(one, record).size());
  }
  EXPECT_GT(differ, 3000);
  EXPECT_NEAR(key_bytes / 5000, 36, 1);  // mean of Facebook's, 36.2
}

// What the constructor says; "" if it takes the sizes.
std::string refusal(const ContentSettings& settings) {
  try {
    return Content(settings).note();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(Content, RefusesSizesThatMemcachedOrTheNumbersOfRecordsDoNotAllow) {
  EXPECT_EQ(refusal({.records = 10'000, .key_size = "250", .value_size = "1000000"}), "");
  EXPECT_EQ(refusal({.records = 10'000, .key_size = "4", .value_size = "0"}), "");
  EXPECT_EQ(refusal({.key_size = "251"})
                .find("size of keys (-K, key_size) \"251\": expected 4 to 250 bytes: "),
            0U);
  EXPECT_NE(refusal({.records = 10'001, .key_size = "4"}).find("the last one, 10000, has 5 digits"),
            std::string::npos);
  EXPECT_EQ(refusal({.value_size = "fixed:1000001"})
                .find("size of values (-V, value_size) \"fixed:1000001\": expected 0 to 1000000 "),
            0U);
  // Five in six are too short for 5 digits or so; half are too long.
  EXPECT_NE(refusal({.records = 20'000, .key_size = "uniform:1,6"})
                .find("are not 5 to 250 bytes; expected one in a hundred at most"),
            std::string::npos);
  EXPECT_NE(refusal({.value_size = "uniform:0,2000000"}), "");
  EXPECT_EQ(refusal({.value_size = "fb_value"}), "");
}

TEST(Content, MarkersTellContentsApart) {
  const ContentSettings settings{.records = 10, .key_size = "30", .value_size = "20", .seed = 1};
  std::set<std::string> markers = {Content(settings).marker()};
  EXPECT_EQ(Content(settings).marker(), *markers.begin());
  for (auto change : std::vector<void (*)(ContentSettings&)>{
           [](ContentSettings& s) { s.records = 11; }, [](ContentSettings& s) { s.seed = 2; },
           [](ContentSettings& s) { s.key_size = "31"; },
           [](ContentSettings& s) { s.value_size = "21"; }}) {
    ContentSettings changed = settings;
    change(changed);
    EXPECT_TRUE(markers.insert(Content(changed).marker()).second);
  }
}

TEST(Content, RefusesWrongArguments) {
  using Json = nlohmann::json;
  const Json right = {{"records", 5}, {"key_size", "30"}, {"value_size", "fb_value"}, {"seed", 1}};
  EXPECT_EQ(ContentSettings::from_json("test", right).records, 5U);
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, Json>>{{"records", 0},
                                                 {"records", "5"},
                                                 {"key_size", "x"},
                                                 {"value_size", "normal:1"},
                                                 {"seed", -1},
                                                 {"size", 3}}) {
    Json wrong = right;
    wrong[name] = value;
    EXPECT_THROW(ContentSettings::from_json("test", wrong), CommandError) << name;
  }
}

}  // namespace
}  // namespace turntable::mcload
