// One client's stream of messages in both directions. Nothing here waits for the client: reading
// and writing go on by themselves.
#pragma once

#include <grpcpp/support/server_callback.h>

#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "bfrt_server/outbox.h"

namespace turntable::bfrt_server {

// Deletes itself when gRPC is done with it. Thread-safe.
template <typename Request, typename Response>
class MessageStream : public grpc::ServerBidiReactor<Request, Response> {
 public:
  void OnReadDone(bool ok) final {
    if (!ok) return finish(grpc::Status::OK);  // the client has left, or sends nothing more
    if (const auto status = handle(request_)) return finish(*status);
    const std::lock_guard lock(mutex_);
    if (!end_) this->StartRead(&request_);
  }

  void OnWriteDone(bool ok) final {
    const std::lock_guard lock(mutex_);
    outbox_.pop();
    writing_ = false;
    if (end_) return this->Finish(*end_);
    if (!ok || outbox_.front() == nullptr) return;
    writing_ = true;
    this->StartWrite(outbox_.front());
  }

  void OnCancel() final { finish(grpc::Status::CANCELLED); }

  void OnDone() final {
    closing();  // a message may have been handled after the client was cancelled
    done();
    delete this;
  }

  // Never waits; the message is lost where too many wait already.
  void send(Response message) {
    const std::lock_guard lock(mutex_);
    if (end_) return;
    if (!outbox_.put(std::move(message)) && outbox_.lost() == 1) {
      std::fprintf(stderr, "%s does not read its stream: messages are lost\n", name_.c_str());
    }
    if (writing_) return;
    writing_ = true;
    this->StartWrite(outbox_.front());
  }

  // What the client had is free at once; its stream ends when what is being sent has left.
  void finish(const grpc::Status& status) {
    closing();
    end(status);
  }

  // The same where what the client had is free already.
  void end(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    if (end_) return;
    end_ = status;
    if (!writing_) this->Finish(status);
  }

 protected:
  // `name`: of the client, for messages of this process.
  explicit MessageStream(std::string name) : name_(std::move(name)) {}

  // The last thing that a constructor does.
  void begin() { this->StartRead(&request_); }

  // The status with which the stream ends; nothing: go on.
  virtual std::optional<grpc::Status> handle(const Request& request) = 0;
  // The stream ends, now or once more: what the client had is free.
  virtual void closing() = 0;
  // Nobody may use this object any more.
  virtual void done() = 0;

 private:
  const std::string name_;
  Request request_;  // being read
  std::mutex mutex_;
  Outbox<Response> outbox_;
  bool writing_ = false;
  std::optional<grpc::Status> end_;  // no more reads and writes begin
};

}  // namespace turntable::bfrt_server
