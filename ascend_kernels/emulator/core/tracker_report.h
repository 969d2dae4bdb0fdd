// The words of the tracker's reports.
#pragma once

#include <string>
#include <vector>

#include "core/tracker.h"
#include "core/tracker_order.h"
#include "core/tracker_stamp.h"

namespace dav {

// One side of a race, or the instruction that did something wrong.
struct Party {
  CoreId core;
  Pipe pipe = Pipe::S;
  Op op;
};

enum class RaceKind : uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };

// printf into a string of at most 511 characters.
std::string format(const char* text, ...) __attribute__((format(printf, 1, 2)));

const char* pipe_name(Pipe pipe);
const char* buffer_name(Buffer buffer);
// "AIC 3" or "AIV 3.1".
std::string core_name(const CoreId& core);
// "AIV 3.1, MTE3 DataCopy at" and the call stack, one frame a line.
std::string describe(const Party& party);
// "DataRace on Ascend910B3, AIV 3.1, pipe MTE3, DataCopy: ", as every trap's report begins.
std::string headline(const char* kind, const std::string& chip, const Party& party);
// "UB[0x40, 0x80)".
std::string local_range(Buffer buffer, uint64_t begin, uint64_t end);

// first and second in the order the kernel must have meant.
std::string race_report(const std::string& chip, RaceKind kind, const Party& first,
                        const Party& second, const std::string& where);
// What would order second after first.
std::string missing_sync(const Party& first, const Party& second);
// Barriers that ordered nothing on any core, one line each.
std::vector<std::string> barrier_hints(const std::vector<const BarrierLedger*>& ledgers);

}  // namespace dav
