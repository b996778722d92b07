#include "history/history_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "history/checker.h"

namespace turntable::history {
namespace {

const std::string kHead = "{\"history\":1}\n";

// The example of docs/history-format.md.
const std::string kPut =
    R"({"client":5,"key":2571001333982442796,"op":"put","invoke_ns":1000,"sends_ns":[1000,201000],)"
    R"("response_ns":201900,"version":6597069766663,"number":12,"node":65535,"found":null})";
const std::string kGet =
    R"({"client":6,"key":2571001333982442796,"op":"get","invoke_ns":300000,"sends_ns":[300000],)"
    R"("response_ns":300800,"version":6597069766663,"number":12,"node":65535,"found":true})";
const std::string kLostDelete =
    R"({"client":5,"key":2571001333982442796,"op":"delete","invoke_ns":202000,)"
    R"("sends_ns":[202000,402000],"response_ns":null,"version":null,"number":null,"node":null,)"
    R"("found":null})";
// That reads the record of the load after the put was acknowledged.
const std::string kStaleGet =
    R"({"client":7,"key":2571001333982442796,"op":"get","invoke_ns":400000,"sends_ns":[400000],)"
    R"("response_ns":400800,"version":0,"number":0,"node":3,"found":true})";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

class HistoryFileTest : public ::testing::Test {
 protected:
  HistoryFileTest()
      : directory_(std::filesystem::temp_directory_path() /
                   ("history-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(directory_);
  }
  ~HistoryFileTest() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
    return directory_ / name;
  }

  // What reading files of these contents says, without the directory.
  std::string error_of(const std::vector<std::string>& texts) const {
    std::vector<std::filesystem::path> files;
    for (std::size_t i = 0; i < texts.size(); ++i)
      files.push_back(write(std::string(1, static_cast<char>('a' + i)), texts[i]));
    try {
      read_history(files, std::nullopt);
    } catch (const HistoryFileError& error) {
      std::string text = error.what();
      const std::string prefix = directory_.string() + "/";
      for (std::size_t at; (at = text.find(prefix)) != std::string::npos;)
        text.erase(at, prefix.size());
      return text;
    }
    return "";
  }

  // Of one line behind the head.
  std::string error_of_line(const std::string& line) const {
    return error_of({kHead + line + "\n"});
  }

  std::filesystem::path directory_;
};

TEST_F(HistoryFileTest, EveryFieldIsRead) {
  const auto file = write("h", kHead + kPut + "\n" + kGet + "\n" + kLostDelete + "\n");
  const History history = read_history({file}, 1'000'000);
  ASSERT_EQ(history.operations.size(), 3);
  const Operation& put = history.operations[0];
  EXPECT_EQ(put.type, OperationType::kPut);
  EXPECT_EQ(put.client, 5);
  EXPECT_EQ(put.key, 2571001333982442796);
  EXPECT_EQ(put.invoke_ns, 1000);
  EXPECT_EQ(put.response_ns, 201'900);
  EXPECT_EQ(put.copies_gone_ns, 1'201'000) << "of its last transmission";
  EXPECT_EQ(put.version, 6597069766663);
  EXPECT_EQ(put.number, 12);
  const Operation& get = history.operations[1];
  EXPECT_TRUE(get.found);
  EXPECT_EQ(get.version, 6597069766663);
  EXPECT_FALSE(history.operations[2].answered());
  EXPECT_EQ(history.place(2), file.string() + ":4");
  EXPECT_TRUE(check(history.operations).violations.empty());
  EXPECT_EQ(read_history({file}, std::nullopt).operations[0].copies_gone_ns, kNever);
}

TEST_F(HistoryFileTest, PlantedViolationsAreFound) {
  const auto what = [&](const std::vector<std::string>& lines) {
    std::string text = kHead;
    for (const std::string& line : lines) text += line + "\n";
    const Verdict verdict = check(read_history({write("h", text)}, std::nullopt).operations);
    return verdict.violations.empty() ? "" : verdict.violations[0].what;
  };
  EXPECT_EQ(what({kPut, kGet}), "");
  EXPECT_EQ(what({kPut, kGet, kStaleGet}), "two records would each have to be the older one");
  const std::string never_written = "a value was read that nobody wrote";
  EXPECT_EQ(what({kPut, replaced(kGet, "\"version\":6597069766663", "\"version\":null")}),
            never_written);
  EXPECT_EQ(what({replaced(kStaleGet, "\"version\":0", "\"version\":17")}), never_written);
  EXPECT_EQ(what({replaced(kStaleGet, "\"version\":0", "\"version\":null")}), never_written);
  EXPECT_EQ(what({kPut, replaced(replaced(kGet, "6597069766663", "null"), "true", "false")}),
            "two records have one number");
}

TEST_F(HistoryFileTest, ADirectoryIsAllOfItsFiles) {
  write("b.ndjson", kHead + kGet + "\n");
  write("a.ndjson", kHead + kPut + "\n");
  write("notes.txt", "no history");
  const std::vector<std::filesystem::path> files = history_files(directory_);
  ASSERT_EQ(files.size(), 2);
  EXPECT_EQ(files[0].filename(), "a.ndjson");
  EXPECT_EQ(read_history(files, std::nullopt).operations.size(), 2);
  const auto empty = directory_ / "empty";
  std::filesystem::create_directory(empty);
  EXPECT_THROW(history_files(empty), HistoryFileError);
}

TEST_F(HistoryFileTest, WhatIsNoHistoryIsToldWithItsPlace) {
  EXPECT_EQ(error_of({""}), "a:1: the file is empty; expected the first line {\"history\":1}");
  EXPECT_EQ(error_of({"{\"history\":2}\n"}),
            "a:1: this is no head of a history: {\"history\":2}; expected the first line "
            "{\"history\":1} (docs/history-format.md)");
  EXPECT_EQ(error_of({kPut + "\n"}).substr(0, 34), "a:1: this is no head of a history:");
  EXPECT_EQ(error_of_line("[]"),
            "a:2: this is no JSON object: []; expected one object per line "
            "(docs/history-format.md)");
  EXPECT_EQ(error_of_line("{\"client\":").substr(0, 28), "a:2: this is no JSON object:");
  EXPECT_EQ(error_of({kHead + kPut + "\n" + kGet.substr(0, 50)}).substr(0, 32),
            "a:3: the last line is cut off; e");
  EXPECT_EQ(error_of({kHead + kPut}).substr(0, 32), "a:2: the last line is cut off; e")
      << "even if what is there could be read";
  EXPECT_THROW(read_history({directory_ / "none"}, std::nullopt), HistoryFileError);
}

TEST_F(HistoryFileTest, FieldsAreOfTheirTypes) {
  const auto begin = [&](const std::string& line) {
    const std::string error = error_of_line(line);
    return error.substr(0, error.find(';'));
  };
  EXPECT_EQ(begin(replaced(kPut, "\"key\":2571001333982442796,", "")), "a:2: \"key\" is missing");
  EXPECT_EQ(begin(replaced(kPut, "{", "{\"extra\":1,")), "a:2: \"extra\" is no field");
  EXPECT_EQ(begin(replaced(kPut, "\"client\":5", "\"client\":-5")), "a:2: \"client\" is -5");
  EXPECT_EQ(begin(replaced(kPut, "\"client\":5", "\"client\":\"5\"")), "a:2: \"client\" is \"5\"");
  EXPECT_EQ(begin(replaced(kPut, "2571001333982442796", "9223372036854775808")),
            "a:2: \"key\" is 9223372036854775808");
  EXPECT_EQ(begin(replaced(kPut, "\"put\"", "\"swap\"")), "a:2: \"op\" is \"swap\"");
  EXPECT_EQ(begin(replaced(kPut, "[1000,201000]", "[]")), "a:2: \"sends_ns\" is []");
  EXPECT_EQ(begin(replaced(kPut, "[1000,201000]", "[900]")), "a:2: \"sends_ns\" is [900]");
  EXPECT_EQ(begin(replaced(kPut, "[1000,201000]", "[1000,5,7]")),
            "a:2: \"sends_ns\" is [1000,5,7]");
  EXPECT_EQ(begin(replaced(kPut, "201900", "200000")), "a:2: \"response_ns\" is 200000");
  EXPECT_EQ(begin(replaced(kPut, "6597069766663", "null")), "a:2: \"version\" is null");
  EXPECT_EQ(begin(replaced(kPut, "6597069766663", "0")), "a:2: \"version\" is 0");
  EXPECT_EQ(begin(replaced(kPut, "\"number\":12", "\"number\":null")), "a:2: \"number\" is null");
  EXPECT_EQ(begin(replaced(kPut, "\"number\":12", "\"number\":4294967296")),
            "a:2: \"number\" is 4294967296");
  EXPECT_EQ(begin(replaced(kPut, "65535", "65536")), "a:2: \"node\" is 65536");
  EXPECT_EQ(begin(replaced(kPut, "\"found\":null", "\"found\":true")), "a:2: \"found\" is true");
  EXPECT_EQ(begin(replaced(kGet, "true", "null")), "a:2: \"found\" is null");
  EXPECT_EQ(begin(replaced(kGet, "true", "false")), "a:2: \"version\" is 6597069766663");
  EXPECT_EQ(begin(replaced(kLostDelete, "\"number\":null", "\"number\":3")),
            "a:2: \"number\" is 3");
}

TEST_F(HistoryFileTest, FilesOfTwoRunsAreNoHistory) {
  EXPECT_EQ(error_of({kHead + kPut + "\n",
                      kHead + replaced(kPut, "\"client\":5", "\"client\":6") + "\n"}),
            "b:2: version 6597069766663 was written at a:2 already; expected every value once: "
            "each `prepare` begins a history of its own");
  const std::string other =
      replaced(replaced(kGet, "\"client\":6", "\"client\":5"), "300000,", "1500,");
  EXPECT_EQ(error_of({kHead + kPut + "\n", kHead + replaced(other, "[300000]", "[1500]") + "\n"}),
            "b:2: client 5 begins before its operation at a:2 has ended; expected one thing at a "
            "time: are these two runs?");
}

}  // namespace
}  // namespace turntable::history
