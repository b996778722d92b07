// Is common/bytes.h now; here until all that includes it has been adapted.
#pragma once

#include "common/bytes.h"
