#include "bfrt_server/write_batch.h"

#include <algorithm>
#include <deque>
#include <functional>

#include "common/packed_numbers.h"

namespace turntable::bfrt_server {
namespace {

using Json = nlohmann::json;
using Form = EntryCommand::Form;

// Packets wait while the switch runs one command; so many entries take it about a millisecond.
constexpr std::size_t kEntriesPerCommand = 1024;
// All of an atomic batch is one command, which has to end before the switch's own deadline.
constexpr std::size_t kMostAtomicEntries = 100'000;
// Of commands that wait for their answer: what a socket takes although nobody reads.
constexpr std::size_t kMostBytesAhead = 64 << 10;

bool is_fixed(const WriteBatch::What& what) {
  const auto* entry = std::get_if<WriteBatch::Entry>(&what);
  return entry != nullptr && entry->fixed;
}

}  // namespace

void WriteBatch::add(What what, std::string context, std::function<void()> done) {
  steps_.push_back({current_, std::move(what), std::move(context), std::move(done)});
}

bool WriteBatch::add_row(const EntryRows::Kind& kind, const EntryRows::Row& row) {
  auto* last = steps_.empty() ? nullptr : std::get_if<Rows>(&steps_.back().what);
  if (last == nullptr || last->rows.kind() != kind || last->rows.size() == kEntriesPerCommand)
    return false;
  last->rows.add(current_, row);
  return true;
}

bool WriteBatch::has_news() const {
  return std::any_of(replaced_.begin(), replaced_.end(), std::identity()) ||
         !std::all_of(statuses_.begin(), statuses_.end(),
                      [](const grpc::Status& status) { return status.ok(); });
}

void WriteBatch::run() {
  if (atomicity_ != Atomicity::kContinueOnError) return run_atomic();
  for (std::size_t first = 0; first < steps_.size();) {
    check_wanted();
    if (is_of_entries(steps_[first])) {
      first = run_entries(first);
    } else if (std::holds_alternative<Cell>(steps_[first].what)) {
      first = run_cells(first);
    } else {
      run_act(steps_[first++]);
    }
  }
}

void WriteBatch::check_wanted() const {
  if (abandoned_())
    throw Failure(grpc::StatusCode::CANCELLED, "the client has gone; the rest is not done");
}

bool WriteBatch::is_of_entries(const Step& step) {
  return std::holds_alternative<Entry>(step.what) || std::holds_alternative<Rows>(step.what);
}

bool WriteBatch::is_sure(const Step& step) {
  const auto* act = std::get_if<Act>(&step.what);
  return act != nullptr && act->is_sure;
}

// One table_write does all, or nothing, between two packets.
void WriteBatch::run_atomic() {
  if (steps_.empty()) return;
  if (std::ranges::all_of(steps_, is_sure)) {
    for (Step& step : steps_) run_act(step);
    return;
  }
  const bool fixed = is_fixed(steps_.front().what);
  const auto is_of_its_kind = [&](const Step& step) {
    return is_of_entries(step) && is_fixed(step.what) == fixed;
  };
  if (!std::all_of(steps_.begin(), steps_.end(), is_of_its_kind)) {
    throw not_supported(
        "a batch that is all or nothing holds entries of the program's match-action tables only, "
        "of $pre and $mirror only, or deletes ports only; send other updates with "
        "CONTINUE_ON_ERROR;");
  }
  const auto command_in = [&](Form form) {
    EntryCommand command(ignores_not_found_ && !fixed);
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (const auto* rows = std::get_if<Rows>(&steps_[i].what)) {
        command.add(i, rows->rows, form);
      } else {
        command.add(i, std::get<Entry>(steps_[i].what).update);
      }
    }
    return command;
  };
  EntryCommand in_columns = command_in(Form::kColumns);
  if (in_columns.size() > kMostAtomicEntries) {
    throw no_space("a batch that is all or nothing has at most " +
                   std::to_string(kMostAtomicEntries) + " updates, this one has " +
                   std::to_string(in_columns.size()) + ";");
  }
  const auto attempt = [&](EntryCommand& command) {
    try {
      command.read_not_found(
          link_.call("table_write", command.take(/*continues=*/false)),
          [&](EntryCommand::Place place, const CommandError& error) { refuse(place, error); });
      finish({0, steps_.size()});
      return true;
    } catch (const CommandError& error) {
      if (is_lost(error.code())) throw from_switch("table_write", error);
      if (!command.has_columns()) refuse(command.place_in(error), own_words(error));
      return false;
    }
  };
  if (attempt(in_columns) || !in_columns.has_columns()) return;
  // Nothing was done. Which update was in the way is said where each is one of its own.
  EntryCommand one_by_one = command_in(Form::kOneByOne);
  attempt(one_by_one);
}

// Small commands are sent before those before them are answered.
std::size_t WriteBatch::run_entries(std::size_t first) {
  CommandSequence sequence(link_);
  std::deque<Sent> waiting;
  std::size_t bytes = 0;
  const auto wait_for_all_but = [&](std::size_t most_bytes) {
    while (!waiting.empty() && bytes > most_bytes) {
      receive(waiting.front(), sequence);
      bytes -= waiting.front().bytes;
      waiting.pop_front();
    }
  };
  while (first < steps_.size() && is_of_entries(steps_[first])) {
    check_wanted();
    Sent next = next_command(first);
    first = next.steps.end;
    wait_for_all_but(kMostBytesAhead - next.bytes);
    try {
      sequence.send("table_write", next.command.take(/*continues=*/true));
    } catch (const CommandError& error) {
      throw from_switch("table_write", error);
    }
    bytes += next.bytes;
    waiting.push_back(std::move(next));
  }
  wait_for_all_but(0);
  return first;
}

WriteBatch::Sent WriteBatch::next_command(std::size_t first) {
  Sent sent{EntryCommand(), {first, first}, 0};
  const bool fixed = is_fixed(steps_[first].what);
  for (std::size_t& end = sent.steps.end; end < steps_.size(); ++end) {
    Step& step = steps_[end];
    if (!is_of_entries(step) || is_fixed(step.what) != fixed) break;
    const auto* rows = std::get_if<Rows>(&step.what);
    const std::size_t entries = rows == nullptr ? 1 : rows->rows.size();
    if (end > first && sent.command.size() + entries > kEntriesPerCommand) break;
    if (rows != nullptr) {
      sent.command.add(end, rows->rows, Form::kColumns);
    } else {
      sent.command.add(end, std::move(std::get<Entry>(step.what).update));
    }
  }
  sent.bytes = std::min(sent.command.bytes(), kMostBytesAhead);
  return sent;
}

void WriteBatch::receive(const Sent& sent, CommandSequence& sequence) {
  Json result;
  try {
    result = sequence.receive();
  } catch (const CommandError& error) {
    if (is_lost(error.code())) throw from_switch("table_write", error);
    return refuse(sent.steps, error);
  }
  sent.command.read_answer(
      result, [&](EntryCommand::Place place, const CommandError& error) { refuse(place, error); },
      [&](EntryCommand::Place place) { replaced_[number(place)] = true; });
  finish(sent.steps);
}

std::size_t WriteBatch::run_cells(std::size_t first) {
  const auto& front = std::get<Cell>(steps_[first].what);
  std::vector<std::uint64_t> values;
  std::size_t end = first;
  for (; end < steps_.size(); ++end) {
    const auto* cell = std::get_if<Cell>(&steps_[end].what);
    if (cell == nullptr || cell->table != front.table || cell->pipes != front.pipes ||
        cell->index != front.index + (end - first))
      break;
    values.insert(values.end(), cell->values.begin(), cell->values.end());
  }
  Json args = {
      {"table", front.table->name}, {"first", front.index}, {"values", pack_numbers(values)}};
  put_pipes(front.pipes, args);
  try {
    link_.call("register_write", std::move(args));
    finish({first, end});
  } catch (const CommandError& error) {
    if (is_lost(error.code())) throw from_switch("register_write", error);
    refuse(Range{first, end}, error);
  }
  return end;
}

void WriteBatch::run_act(Step& step) {
  try {
    std::get<Act>(step.what).run();
    if (step.done) step.done();
  } catch (const Failure& failure) {
    fail(step.number, failure);
  } catch (const CommandError& error) {
    if (is_lost(error.code())) throw from_switch(step.context, error);
    fail(step.number, from_switch(step.context, error.code(), std::string(error.what()) + ";"));
  }
}

// Of updates without an error.
void WriteBatch::finish(Range steps) {
  for (std::size_t i = steps.first; i < steps.end; ++i) {
    const Step& step = steps_[i];
    if (step.done && statuses_[step.number].ok()) step.done();
    const auto* run = std::get_if<Rows>(&step.what);
    if (run == nullptr || !run->done) continue;
    for (std::size_t row = 0; row < run->rows.size(); ++row) {
      if (statuses_[run->rows.number(row)].ok()) run->done(run->rows, row);
    }
  }
}

std::size_t WriteBatch::number(EntryCommand::Place place) const {
  const auto* run = std::get_if<Rows>(&steps_.at(place.step).what);
  return run == nullptr ? steps_[place.step].number : run->rows.number(place.row);
}

void WriteBatch::refuse(EntryCommand::Place place, const CommandError& error) {
  fail(number(place),
       from_switch(steps_[place.step].context, error.code(), std::string(error.what()) + ";"));
}

void WriteBatch::refuse(Range steps, const CommandError& error) {
  for (std::size_t step = steps.first; step < steps.end; ++step) {
    const auto* run = std::get_if<Rows>(&steps_[step].what);
    const std::size_t rows = run == nullptr ? 1 : run->rows.size();
    for (std::size_t row = 0; row < rows; ++row) refuse(EntryCommand::Place{step, row}, error);
  }
}

}  // namespace turntable::bfrt_server
