#include "dataplane/trace_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/trace_values.h"

namespace turntable::dataplane {
namespace {

using OrderedJson = nlohmann::ordered_json;
using Words = std::vector<std::string>;

constexpr std::size_t kColumns = 100;
constexpr std::size_t kLabelColumn = 4, kTextColumn = 14;

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::string duration(std::int64_t ns) {
  std::array<char, 32> text{};
  if (ns < 1000) {
    std::snprintf(text.data(), text.size(), "%lld ns", static_cast<long long>(ns));
  } else if (ns < 1'000'000) {
    std::snprintf(text.data(), text.size(), "%.1f µs", static_cast<double>(ns) / 1e3);
  } else {
    std::snprintf(text.data(), text.size(), "%.3f ms", static_cast<double>(ns) / 1e6);
  }
  return text.data();
}

// UTC, as logs and tcpdump -ttt with TZ=UTC have it; without a time of day, the switch's clock.
std::string arrival(const OrderedJson& trace) {
  if (!trace.contains("realtime_ns")) return "at " + trace.at("time_ns").dump() + " ns";
  const auto ns = trace.at("realtime_ns").get<std::int64_t>();
  const std::time_t seconds = ns / 1'000'000'000;
  std::tm time{};
  gmtime_r(&seconds, &time);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "at %02d:%02d:%02d.%06lld UTC", time.tm_hour, time.tm_min,
                time.tm_sec, static_cast<long long>(ns % 1'000'000'000 / 1000));
  return text.data();
}

// Without padding.
Words fields_of(const OrderedJson& object) {
  Words words;
  for (const auto& [name, value] : object.items()) {
    if (!name.starts_with('_')) words.push_back(name + "=" + trace_value_text(name, value));
  }
  return words;
}

// 10.0.0.0/8, 5..9, 0x10 &&& 0xf0.
std::string matched(const std::string& name, const OrderedJson& value) {
  const auto part = [&](const char* which) { return trace_value_text(name, value.at(which)); };
  if (!value.is_object()) return trace_value_text(name, value);
  if (value.contains("prefix_len")) return part("value") + "/" + part("prefix_len");
  if (value.contains("low")) return part("low") + ".." + part("high");
  return part("value") + "&&&" + part("mask");
}

class Writer {
 public:
  void title(const std::string& text) {
    text_ += "━━ " + text + " ";
    for (std::size_t column = columns_of(text) + 4; column < kColumns; ++column) text_ += "━";
    text_ += "\n";
  }
  void heading(const std::string& text) { text_ += "  " + text + "\n"; }

  // Words that do not fit go to a further line.
  void line(const std::string& label, const Words& words) {
    std::string line = std::string(kLabelColumn, ' ') + label;
    line.append(std::max(kTextColumn, columns_of(line) + 1) - columns_of(line), ' ');
    bool is_first = true;
    for (const std::string& word : words) {
      if (!is_first && columns_of(line) + 1 + columns_of(word) > kColumns) {
        text_ += line + "\n";
        line = std::string(kTextColumn + 2, ' ');
        is_first = true;
      }
      line += (is_first ? "" : " ") + word;
      is_first = false;
    }
    text_ += line + "\n";
  }

  std::string take() { return std::move(text_) + "\n"; }

 private:
  std::string text_;
};

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

class Step {
 public:
  explicit Step(Writer& writer) : writer_(writer) {}

  void events(const OrderedJson& events) {
    // The whole path first, then what was extracted on it.
    const auto in_parser = [](const OrderedJson& event) { return event.contains("parser"); };
    if (std::any_of(events.begin(), events.end(), in_parser)) parser(events);
    Words unchanged;  // headers emitted as they came, one after the other
    for (const OrderedJson& event : events) {
      if (in_parser(event)) continue;
      if (event.contains("emit") && event.size() == 1) {
        unchanged.push_back(event.at("emit"));
        continue;
      }
      if (!unchanged.empty()) writer_.line("emit", std::exchange(unchanged, {}));
      this->event(event);
    }
    if (!unchanged.empty()) writer_.line("emit", unchanged);
  }

 private:
  void parser(const OrderedJson& events) {
    Words words;
    std::string top;
    for (const OrderedJson& event : events) {
      if (!event.contains("parser")) continue;
      const std::string name = event.at("parser");
      if (words.empty()) words.push_back((top = name) + ":");
      std::string word = words.size() > 1 ? "→ " : "";
      if (event.contains("result")) {
        word += event.at("result").get<std::string>();
      } else {
        word += (name == top ? "" : name.substr(name.rfind('.') + 1) + ".") +
                event.at("state").get<std::string>();
      }
      words.push_back(word);
    }
    writer_.line("parser", words);
  }

  void event(const OrderedJson& event) {
    const auto& [kind, name] = *event.items().begin();
    const std::string subject = name.is_string() ? name.get<std::string>() : name.dump();
    if (kind == "extract") {
      with_fields("extract", subject, event.at("fields"));
    } else if (kind == "table") {
      table(subject, event);
    } else if (kind == "register") {
      register_access(subject, event);
    } else if (kind == "emit") {
      emit(subject, event);
    } else if (kind == "digest") {
      with_fields("digest", subject, event.at("fields"));
    } else {  // counter, meter, random, mirror, resubmit: a name and some numbers
      OrderedJson rest = event;
      rest.erase(rest.begin());
      with_fields(kind, subject, rest);
    }
  }

  void with_fields(const std::string& label, const std::string& subject,
                   const OrderedJson& fields) {
    Words words = {subject};
    append(words, fields_of(fields));
    writer_.line(label, words);
  }

  void table(const std::string& name, const OrderedJson& event) {
    Words words = {name};
    if (event.contains("key")) append(words, fields_of(event.at("key")));
    std::string result = event.at("hit") ? "hit" : "miss";
    if (event.contains("entry")) {
      std::string separator = ": ";
      for (const auto& [key, value] : event.at("entry").items()) {
        result += separator + matched(key, value);
        separator = ", ";
      }
      if (event.contains("priority")) result += "; priority " + event.at("priority").dump();
    }
    if (event.contains("key")) words.push_back("(" + result + ")");
    writer_.line("table", words);
    Words action = {"→ " + event.at("action").get<std::string>()};
    append(action, fields_of(event.at("data")));
    writer_.line("", action);
  }

  void register_access(const std::string& name, const OrderedJson& event) {
    const OrderedJson& before = event.at("before");
    Words words = {name + "[" + event.at("index").dump() + "]"};
    if (before.is_null()) {
      words.push_back("(outside of the register)");
    } else if (before == event.at("after")) {
      words.push_back(before.dump() + " (unchanged)");
    } else {
      words.push_back(before.dump() + " → " + event.at("after").dump());
    }
    words.push_back("by " + event.at("by").get<std::string>());
    if (event.contains("returns")) words.push_back("returns " + event.at("returns").dump());
    writer_.line("register", words);
  }

  void emit(const std::string& name, const OrderedJson& event) {
    Words words = {name};
    if (event.contains("added")) {
      words.emplace_back("(added)");
      append(words, fields_of(event.at("added")));
    }
    if (event.contains("changed")) {
      for (const auto& [field, change] : event.at("changed").items()) {
        words.push_back(field + "=" + trace_value_text(field, change.at("before")) + " → " +
                        trace_value_text(field, change.at("after")));
      }
    }
    writer_.line("emit", words);
  }

  Writer& writer_;
};

std::string text_of(const OrderedJson& step) {
  const auto number = [&](const char* name) { return step.at(name).dump(); };
  const std::string kind = step.at("step");
  const std::string port = step.contains("port") ? "port " + number("port") : "";
  if (kind == "ingress" || kind == "egress") {
    std::string text = kind + ", " + port;
    if (step.contains("resubmitted")) text += ", resubmitted";
    if (step.contains("rid") && step.at("rid") != 0) text += ", rid " + number("rid");
    const auto after_ns = step.at("after_ns").get<std::int64_t>();
    return after_ns == 0 ? text : text + ", +" + duration(after_ns);
  }
  if (kind == "queued") {
    std::string text = "queued for " + port + ", queue " + number("qid");
    if (step.at("rid") != 0) text += ", rid " + number("rid");
    return step.at("bypass_egress") ? text + ", bypasses egress" : text;
  }
  if (kind == "sent") return "sent to " + port + ", " + number("bytes") + " bytes";
  if (kind == "recirculated") return "recirculated through " + port;
  if (kind == "dropped") return "dropped at " + port + ": " + step.at("reason").get<std::string>();
  return kind + " of frame " + number("of");  // copy, mirror
}

}  // namespace

std::string trace_text(const OrderedJson& trace) {
  Writer writer;
  writer.title("packet " + trace.at("packet").dump() + " · port " + trace.at("port").dump() +
               " · " + trace.at("bytes").dump() + " bytes · " + arrival(trace));
  const OrderedJson& steps = trace.at("steps");
  const bool has_copies = std::any_of(
      steps.begin(), steps.end(), [](const OrderedJson& step) { return step.at("frame") != 1; });
  for (const OrderedJson& step : steps) {
    const std::string frame = has_copies ? "frame " + step.at("frame").dump() + " " : "";
    writer.heading(frame + text_of(step));
    if (step.contains("events")) Step(writer).events(step.at("events"));
    if (step.contains("decision") && !step.at("decision").empty())
      writer.line("decision", fields_of(step.at("decision")));
  }
  return writer.take();
}

}  // namespace turntable::dataplane
