// Connections that carry the messages of messages.h.
#pragma once

#include "farreach/cache/messages.h"
#include "messages/asking_listener.h"
#include "messages/link.h"
#include "messages/listener.h"
#include "messages/unanswered.h"

namespace turntable::cache {

using MessageLink = messages::Link<Message>;
using MessageListener = messages::Listener<Message>;
using AskingListener = messages::AskingListener<Message>;
using Unanswered = messages::Unanswered<Message>;

}  // namespace turntable::cache
