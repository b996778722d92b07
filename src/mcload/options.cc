#include "mcload/options.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/program_options.h"
#include "mcload/generator.h"
#include "net/credentials.h"
#include "placement/cpu_list.h"

namespace turntable::mcload {
namespace {

// What the command line says, before it is looked at together.
struct Texts {
  std::vector<std::string> servers;
  std::string search, scan, latency = "intended", blocking_note;
  std::optional<double> own_rate;
  std::optional<std::uint64_t> own_connections, own_depth;
  std::uint64_t records = 10'000, content_seed = 1, threads = 1, connections = 1, depth = 1;
  std::optional<std::uint64_t> repeats;
  std::optional<double> resolution;
  std::uint64_t spin_us = 0;
  double qps = 0;
  double lambda_mul = 1;
  bool binary = false, affinity = false, no_nodelay = false, no_load = false;
  bool round_robin = false, skip = false, moderate = false, blocking = false, verbose = false,
       quiet = false;
  std::optional<std::string> username, password;
};

constexpr double kMostScanRates = 10'000;
constexpr double kMostSeed = 1e18;  // agents read it as a signed number

std::vector<double> numbers(const std::string& option, const std::string& text, std::size_t count,
                            const std::string& expected) {
  std::vector<double> found;
  const char* at = text.c_str();
  while (found.size() < count) {
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    const bool is_last = found.size() + 1 == count;
    if (end == at || !(number > 0) || number > 1e12 || *end != (is_last ? '\0' : ':')) break;
    found.push_back(number);
    at = end + 1;
  }
  if (found.size() == count) return found;
  throw std::invalid_argument(option + " " + text + ": expected " + expected);
}

void require_within(const std::string& what, double number, double least, double most) {
  if (number >= least && number <= most) return;
  std::ostringstream message;
  message << what << ": " << number << "; expected a number from " << least << " to " << most;
  throw std::invalid_argument(message.str());
}

void add_load_options(ProgramOptions& app, Texts& t, Options& o) {
  app.option("-s,--server", t.servers, "HOST, HOST:PORT or /PATH of memcached; may be repeated");
  app.flag("--binary", t.binary, "Use the binary protocol");
  app.option("-q,--qps", t.qps, "Requests per second of all hosts; 0: as fast as it goes")
      .shows_default()
      .within(0, kMaxRate);
  app.option("-t,--time", o.seconds, "Seconds that are measured")
      .shows_default()
      .within(0.001, 1e5);
  app.option("-w,--warmup", o.warmup_s, "Seconds of load before").shows_default().within(0, 1e5);
  app.option("-W,--wait", o.connect_wait_s, "Seconds to wait for connections")
      .shows_default()
      .within(0.001, 1e4);
  app.option("-K,--keysize", o.content.key_size, "Length of keys (a distribution)").shows_default();
  app.option("-V,--valuesize", o.content.value_size, "Length of values (a distribution)")
      .shows_default();
  app.option("-r,--records", t.records, "Number of records; each server has an equal share")
      .shows_default()
      .within(1, Content::kMaxRecords);
  app.option("-u,--update", o.generator.update, "Share of SETs").shows_default().within(0, 1);
  app.option("-T,--threads", t.threads, "Threads").shows_default().within(1, kMaxThreads);
  app.option("-c,--connections", t.connections, "Connections per server and thread")
      .shows_default()
      .within(1, kMaxConnections);
  app.option("-d,--depth", t.depth, "Requests under way per connection")
      .shows_default()
      .within(1, kMaxDepth);
  app.option("-i,--iadist", o.generator.arrivals,
             "Arrivals: exponential, uniform, fixed, normal, pareto:…, gev:…, fb_ia")
      .shows_default();
  app.flag("--affinity", t.affinity, "Thread i on the i-th processor");
  app.flag("--no_nodelay", t.no_nodelay, "Without TCP_NODELAY");
  app.flag("--loadonly", o.only_load, "Store the records and end");
  app.flag("--noload", t.no_load, "Do not store the records");
}

void add_agent_options(ProgramOptions& app, Texts& t, Options& o) {
  app.flag("-A,--agentmode", o.is_agent, "Be an agent of a master on another host");
  app.option("-a,--agent", o.agents, "HOST or HOST:PORT of an agent; may be repeated");
  app.option("-p,--agent_port", o.agent_port, "Port of agents").shows_default().within(1, 65'535);
  app.option("--secret", o.secret_file, net::kSecretHelp);
  app.option("-C,--measure_connections", t.own_connections, "Connections of the master itself")
      .within(1, kMaxConnections);
  app.option("-D,--measure_depth", t.own_depth, "Depth of the master itself").within(1, kMaxDepth);
  app.option("-Q,--measure_qps", t.own_rate, "Of the rate, what the master itself sends")
      .within(kLeastRate, kMaxRate);
}

void add_own_options(ProgramOptions& app, Texts& t, Options& o) {
  app.option("--search", t.search, "PERCENTILE:US: search the highest rate that holds it");
  app.option("--search-repeats", t.repeats, "Measurements of each rate (default 3)")
      .within(1, PeakSettings::kMostRepeats);
  app.option("--search-resolution", t.resolution, "Where the search ends (default 0.02)")
      .within(PeakSettings::kFinest, PeakSettings::kCoarsest);
  app.option("--scan", t.scan, "MIN:MAX:STEP: measure these rates");
  app.option("--save", o.save, "File for the distribution of the latencies");
  app.option("--json", o.json, "File for everything that was measured; - is standard output");
  app.option("--latency", t.latency,
             "Latencies of the table: from the intended instant, or the send")
      .shows_default()
      .one_of({"intended", "send"});
  app.flag("--reload", o.reload, "Store the records although they are there");
  app.option("--seed", o.generator.seed, "Of arrivals and requests")
      .shows_default()
      .within(0, kMostSeed);
  app.option("--content-seed", t.content_seed, "Of the sizes of records")
      .shows_default()
      .within(0, kMostSeed);
  app.option("--spin-us", t.spin_us, "Awake so long before a request is due")
      .shows_default()
      .within(0, kMaxSpinUs);
  app.flag("--realtime", o.generator.frame.realtime, "Run before all ordinary threads, if allowed");
  app.option("--drain", o.drain_s, "Seconds to wait for the last answers")
      .shows_default()
      .within(0, 3600);
}

// mutilate's, which mean nothing to an open loop, or mean something else.
void add_foreign_options(ProgramOptions& app, Texts& t) {
  app.flag("-R,--roundrobin", t.round_robin, "Ignored: connections are drawn");
  app.flag("-S,--skip", t.skip, "Ignored: late requests are never skipped");
  app.flag("--moderate", t.moderate, "Ignored: late requests are sent at once");
  app.flag("-B,--blocking", t.blocking, "Ignored: sleeping is always precise");
  app.option("-l,--lambda_mul", t.lambda_mul, "Refused: all hosts send the same share");
  app.flag("-v,--verbose", t.verbose, "Ignored");
  app.flag("--quiet", t.quiet, "Ignored");
  app.option("-U,--username", t.username, "Refused: no authentication");
  app.option("-P,--password", t.password, "Refused: no authentication");
}

void note_foreign(const Texts& t, std::vector<std::string>& notes) {
  const auto note = [&](bool is_given, const char* text) {
    if (is_given) notes.emplace_back(text);
  };
  note(t.round_robin, "-R: ignored; the connection of each request is drawn");
  note(t.skip, "-S: ignored; late requests are never skipped, their lateness counts");
  note(t.moderate, "--moderate: ignored; late requests are sent at once, their lateness counts");
  note(t.blocking, "-B: ignored; threads always sleep until something is due");
  if (t.username || t.password)
    throw std::invalid_argument(
        "--username, --password: SASL is not supported; expected a memcached "
        "without authentication");
  if (t.lambda_mul != 1)
    throw std::invalid_argument("-l: not supported; every agent sends the same share of -q");
}

void read_modes(const Texts& t, Options& o) {
  if (!t.search.empty()) {
    o.search = parse_search(t.search);
    o.search->seconds = o.seconds;
    o.search->warmup_s = o.warmup_s;
    if (t.repeats) o.search->repeats = static_cast<int>(*t.repeats);
    if (t.resolution) o.search->resolution = *t.resolution;
  }
  if (o.search && o.search->limit_us >= 1e6 * o.drain_s) {
    std::ostringstream message;
    message << "--search " << t.search << ": expected a limit below --drain, " << o.drain_s
            << " s: a request without an answer counts with that";
    throw std::invalid_argument(message.str());
  }
  if (!t.scan.empty()) o.scan = parse_scan(t.scan);
  if (o.search && o.scan) throw std::invalid_argument("--search, --scan: expected one of them");
  if (!o.agents.empty() && o.is_agent)
    throw std::invalid_argument("-A, -a: a master is no agent; expected one of them");
  if ((o.is_agent || !o.agents.empty()) && o.secret_file.empty()) {
    throw std::invalid_argument(
        "-A, -a: expected --secret FILE, the same on all hosts (`head -c 32 "
        "/dev/urandom | base64 > FILE; chmod 600 FILE`)");
  }
  if (t.servers.empty() && !o.is_agent)
    throw std::invalid_argument("expected --server HOST[:PORT] or /PATH");
  if (o.only_load && t.no_load)
    throw std::invalid_argument("--loadonly, --noload: expected one of them");
  if (o.reload && t.no_load)
    throw std::invalid_argument("--reload, --noload: expected one of them");
}

void check_results(const Options& o) {
  const bool has_file = !o.save.empty() || !o.json.empty();
  if (o.only_load && (o.search || o.scan || has_file)) {
    throw std::invalid_argument(
        "--loadonly measures nothing; expected no --search, --scan, --save or --json beside it");
  }
  if (o.scan && !o.save.empty()) {
    throw std::invalid_argument(
        "--save holds one distribution, and --scan has one for each rate; expected --json FILE");
  }
  if (!o.save.empty() && o.save == o.json)
    throw std::invalid_argument("--save, --json " + o.save + ": expected two files");
}

std::string rate_text(double rate_per_s) {
  std::ostringstream text;
  text << rate_per_s << "/s";
  return text.str();
}

// With agents each of them sends an equal share of what the master leaves.
void read_master(const Texts& t, Options& o) {
  if (t.own_connections) o.own_connections = static_cast<std::uint32_t>(*t.own_connections);
  if (t.own_depth) o.own_depth = static_cast<std::uint32_t>(*t.own_depth);
  o.own_rate_per_s = t.own_rate;
  if (o.agents.empty()) {
    if (t.own_connections || t.own_depth || t.own_rate)
      o.notes.emplace_back("-C, -D, -Q: ignored; there are no agents (-a)");
    return;
  }
  std::vector<std::string> agents = o.agents;
  std::sort(agents.begin(), agents.end());
  if (const auto twice = std::adjacent_find(agents.begin(), agents.end()); twice != agents.end())
    throw std::invalid_argument("-a " + *twice + ": is given twice; expected each agent once");
  if (!o.own_rate_per_s) return;
  const double least_per_s = *o.own_rate_per_s + kLeastRate * static_cast<double>(o.agents.size());
  if (o.search) {
    o.search->least_per_s = least_per_s;
    return;
  }
  const double lowest_per_s = o.scan ? o.scan->from_per_s : t.qps;
  if (lowest_per_s >= least_per_s) return;
  throw std::invalid_argument(
      "-Q " + rate_text(*o.own_rate_per_s) + ": the agents send the rest of the rate (" +
      (o.scan ? "--scan begins at " : "-q is ") + rate_text(lowest_per_s) +
      (lowest_per_s > 0 ? "" : ", a closed loop without a rate") + "); expected less than that");
}

// Also what is offered at rates that are known later.
void check_offered(GeneratorSettings offered) {
  if (offered.is_closed_loop) offered.rate_per_s = kMaxRate;
  offered.is_closed_loop = false;
  check_load(offered);
}

void put_together(const Texts& t, Options& o) {
  note_foreign(t, o.notes);
  read_modes(t, o);
  GeneratorSettings& g = o.generator;
  for (const std::string& server : t.servers) g.servers.push_back(ServerAddress::parse(server));
  g.protocol = t.binary ? Protocol::kBinary : Protocol::kAscii;
  g.threads = static_cast<std::uint32_t>(t.threads);
  g.connections = static_cast<std::uint32_t>(t.connections);
  g.depth = static_cast<std::uint32_t>(t.depth);
  g.rate_per_s = t.qps;
  g.is_closed_loop = t.qps == 0;
  g.no_delay = !t.no_nodelay;
  g.frame.spin_ns = static_cast<std::int64_t>(t.spin_us) * 1000;
  g.connect_timeout_ns = static_cast<std::int64_t>(o.connect_wait_s * 1e9);
  if (t.affinity) {
    g.cpus = allowed_cpus();
    g.one_cpu_each = true;
  }
  const std::uint64_t servers = std::max<std::uint64_t>(1, t.servers.size());
  o.content.records = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, t.records / servers));
  o.content.seed = t.content_seed;
  o.load = !t.no_load;
  o.from_send = t.latency == "send";
  if (t.qps > 0) require_within("-q", t.qps, kLeastRate, kMaxRate);
  check_results(o);
  read_master(t, o);
  check_offered(g);
}

}  // namespace

PeakSettings parse_search(const std::string& text) {
  const auto found = numbers("--search", text, 2, "PERCENTILE:LIMIT_US, for instance 99:500");
  require_within("--search " + text + ", PERCENTILE", found[0], PeakSettings::kLeastPercentile,
                 PeakSettings::kMostPercentile);
  require_within("--search " + text + ", LIMIT_US", found[1], PeakSettings::kLeastLimitUs,
                 PeakSettings::kMostLimitUs);
  PeakSettings settings;
  settings.percentile = found[0];
  settings.limit_us = found[1];
  return settings;
}

Scan parse_scan(const std::string& text) {
  const auto found = numbers("--scan", text, 3, "MIN:MAX:STEP, for instance 10000:50000:10000");
  if (found[1] < found[0])
    throw std::invalid_argument("--scan " + text + ": expected MAX not below MIN");
  require_within("--scan " + text + ", MIN", found[0], kLeastRate, kMaxRate);
  require_within("--scan " + text + ", MAX", found[1], found[0], kMaxRate);
  require_within("--scan " + text + ", rates", (found[1] - found[0]) / found[2], 0, kMostScanRates);
  return {found[0], found[1], found[2]};
}

ParsedOptions parse_options(int argc, char** argv) {
  ProgramOptions app("mcload", "Offers a memcached an open load and measures its latencies");
  Texts texts;
  ParsedOptions parsed;
  parsed.options.content.records = 10'000;
  add_load_options(app, texts, parsed.options);
  add_own_options(app, texts, parsed.options);
  add_agent_options(app, texts, parsed.options);
  add_foreign_options(app, texts);
  parsed.status = app.parse(argc, argv);
  if (!parsed.status) put_together(texts, parsed.options);
  return parsed;
}

}  // namespace turntable::mcload
