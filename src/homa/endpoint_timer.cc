// What does not come.
#include <utility>

#include "homa/endpoint.h"

namespace turntable::homa {

void Endpoint::tick() {
  ++tick_;
  std::vector<Rpc*> silent_calls;
  std::vector<Rpc*> silent_clients;
  for (auto& [sequence, rpc] : calls_) tick_call(rpc, silent_calls);
  for (auto& [id, rpc] : serving_) tick_serving(rpc, silent_clients);
  for (Rpc* rpc : silent_clients) {
    ++statistics_.requests_dropped;
    forget_serving(*rpc);
  }
  // Grants follow packets; where none came, one message may go on all the same.
  if (!std::exchange(data_since_tick_, false)) grant_one();
  for (Rpc* rpc : silent_calls) abort(*rpc, AbortReason::kServerIsSilent);
}

void Endpoint::tick_call(Rpc& rpc, std::vector<Rpc*>& silent) {
  const IncomingMessage& response = rpc.in.message;
  if (rpc.out.may_send()) {  // the silence is ours
    rpc.silent_ticks = 0;
    return;
  }
  ++rpc.silent_ticks;
  if (rpc.silent_ticks >= settings_.abort_after_ticks) {
    silent.push_back(&rpc);
  } else if (!response.started()) {
    if (rpc.silent_ticks % settings_.ask_every_ticks == 0)
      ask_for(rpc, 0, settings_.rtt_bytes, highest_priority(settings_));
  } else if (rpc.silent_ticks < settings_.resend_after_ticks) {
    return;
  } else if (response.waits_for_grant()) {  // ours again; so that the server does not give up
    rpc.silent_ticks = 0;
    ++statistics_.busy_answers;
    send_control(rpc, {.opcode = Opcode::kBusy});
  } else {
    ask_for_gap(rpc);
  }
}

void Endpoint::tick_serving(Rpc& rpc, std::vector<Rpc*>& silent) {
  const bool ours = rpc.state == RpcState::kExecuting ||
                    (rpc.state == RpcState::kReceiving && rpc.in.message.waits_for_grant()) ||
                    (rpc.state == RpcState::kResponding && rpc.out.may_send());
  if (ours) {
    rpc.silent_ticks = 0;
    return;
  }
  ++rpc.silent_ticks;
  if (rpc.silent_ticks >= settings_.abort_after_ticks) {
    silent.push_back(&rpc);
  } else if (rpc.silent_ticks < settings_.resend_after_ticks) {
    return;
  } else if (rpc.state == RpcState::kReceiving) {
    ask_for_gap(rpc);
  } else if (rpc.state == RpcState::kAwaitingAck) {
    send_control(rpc, {.opcode = Opcode::kNeedAck});
  }
}

void Endpoint::ask_for(Rpc& rpc, std::uint32_t offset, std::uint32_t length,
                       std::uint8_t priority) {
  ++statistics_.resends_asked;
  send_control(rpc, {.opcode = Opcode::kResend,
                     .offset = offset,
                     .length = length,
                     .granted_priority = priority});
}

void Endpoint::ask_for_gap(Rpc& rpc) {
  const auto gap = rpc.in.message.first_gap();
  ask_for(rpc, gap.offset, gap.length, unscheduled_priority(settings_, gap.length));
}

void Endpoint::abort(Rpc& rpc, AbortReason reason) {
  const std::uint64_t tag = rpc.tag;
  ++statistics_.aborted;
  if (reason == AbortReason::kServerIsSilent) send_control(rpc, {.opcode = Opcode::kAbort});
  forget_call(rpc);
  application_.aborted(tag, reason);
}

void Endpoint::forget_call(Rpc& rpc) {
  sending_.erase(rpc.sending);
  grants_.forget(rpc.in);
  calls_.erase(rpc.id.sequence);
}

void Endpoint::forget_serving(Rpc& rpc) {
  sending_.erase(rpc.sending);
  grants_.forget(rpc.in);
  if (settings_.at_most_once && rpc.state != RpcState::kReceiving) {
    Finished& finished = finished_[rpc.id.client];
    if (rpc.id.sequence >= finished.below) finished.sequences.insert(rpc.id.sequence);
  }
  serving_.erase(RpcId{rpc.id});
}

}  // namespace turntable::homa
