// A pipeline with a program given as functions between three ports in memory.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "softswitch/pipeline.h"
#include "softswitch/testing.h"

namespace turntable::softswitch::testing {

class PipelineTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kFrames = 256;

  PipelineTest() : pool_(kFrames), pipeline_(program_, ports_, pool_) {
    for (const std::uint16_t number : std::initializer_list<std::uint16_t>{1, 2, 3}) {
      auto port = std::make_unique<FakePort>(number);
      fakes_.push_back(port.get());
      ports_.add(std::move(port));
    }
    program_.on_ingress = forward_by_first_byte;
  }
  ~PipelineTest() override { EXPECT_EQ(pool_.available(), kFrames) << "a frame was lost"; }

  FakePort& port(std::size_t number) { return *fakes_.at(number - 1); }

  // Frames that arrive at port 1 in one batch.
  void arrive(const std::vector<std::string>& frames) {
    std::vector<Frame*> batch;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      port(1).inject(frames[i]);
      batch.push_back(pool_.acquire());
    }
    ASSERT_EQ(port(1).receive(batch), frames.size());
    pipeline_.process(batch, port(1));
  }
  void run(const std::vector<std::string>& frames) {
    arrive(frames);
    pipeline_.flush();
  }
  std::uint64_t dropped(std::size_t number, DropReason reason) {
    return port(number).counters().dropped(reason);
  }
  std::uint64_t dropped_at(std::uint16_t number, DropReason reason) {
    return ports_.find(number)->counters().dropped(reason);
  }

  FakeProgram program_;
  PortTable ports_;
  std::vector<FakePort*> fakes_;
  FramePool pool_;
  Pipeline pipeline_;
};

}  // namespace turntable::softswitch::testing
