#include "mcload/delay_line/replies.h"

#include <nlohmann/json.hpp>

namespace turntable::mcload {
namespace {

constexpr std::uint16_t kNotFound = 1;
constexpr std::uint16_t kUnknownCommand = 0x81;

void put(std::string& out, std::uint64_t number, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) out.push_back(static_cast<char>(number >> (8 * i) & 0xff));
}

void append_binary(std::string& out, const ServerRequest& request, bool is_hit,
                   std::string_view value) {
  const bool is_get = request.kind == ServerRequest::Kind::kGet;
  const bool is_known = is_get || request.kind == ServerRequest::Kind::kSet;
  const std::uint32_t extras = is_get && is_hit ? 4 : 0;
  const std::string_view body = is_get && is_hit ? value : is_get ? "Not found" : "";
  put(out, 0x81, 1);
  put(out, request.opcode, 1);
  put(out, 0, 2);
  put(out, extras, 1);
  put(out, 0, 1);
  put(out, !is_known ? kUnknownCommand : is_get && !is_hit ? kNotFound : 0, 2);
  put(out, extras + body.size(), 4);
  put(out, request.opaque, 4);
  put(out, 0, 8);
  put(out, 0, extras);
  out.append(body);
}

}  // namespace

void append_reply(std::string& out, const ServerRequest& request, std::string_view key, bool is_hit,
                  std::string_view value) {
  if (request.is_binary) return append_binary(out, request, is_hit, value);
  switch (request.kind) {
    case ServerRequest::Kind::kGet:
      if (is_hit) {
        out.append("VALUE ").append(key).append(" 0 ").append(std::to_string(value.size()));
        out.append("\r\n").append(value).append("\r\n");
      }
      out.append("END\r\n");
      return;
    case ServerRequest::Kind::kSet:
      out.append("STORED\r\n");
      return;
    case ServerRequest::Kind::kVersion:
      out.append("VERSION delay-line\r\n");
      return;
    case ServerRequest::Kind::kStatsReset:
      out.append("RESET\r\n");
      return;
    case ServerRequest::Kind::kQuit:
      return;
    default:
      out.append("ERROR\r\n");
  }
}

void append_log_reply(std::string& out, const nlohmann::json& log) {
  for (const auto& [name, value] : log.items()) {
    out.append("STAT ").append(name).append(" ");
    out.append(value.is_string() ? value.get<std::string>() : value.dump()).append("\r\n");
  }
  out.append("END\r\n");
}

}  // namespace turntable::mcload
