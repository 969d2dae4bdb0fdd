// The order that unitFlag keeps between Mmad and Fixpipe without flags: a product is complete
// before it is taken out of L0C, and taken before the next Mmad there. The hardware does so in
// pieces of 512 bytes; here whole instructions wait for each other, the pessimistic end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "core/trace.h"

namespace dav::timeline {

class UnitOrder {
 public:
  // S hands over an instruction that carries unitFlag; in program order.
  void issued(uint32_t record, const TraceRecord& r);
  // When the order lets it begin; negative while that is not known. Asked in order of each pipe.
  double start(uint32_t record, const TraceRecord& r);
  // It ends at `time`.
  void ended(uint32_t record, const TraceRecord& r, double time);

 private:
  struct Place {
    std::deque<uint32_t> untaken;  // Fixpipes of this L0C that are not done
    double taken_at = 0;
  };

  uint32_t product_ = 0;                                // L0C address of the last Mmad issued
  std::deque<uint32_t> multiplying_;                    // Mmads issued and not done
  std::deque<std::pair<uint32_t, double>> multiplied_;  // and done, with their ends
  std::deque<uint32_t> takes_from_;                     // L0C address by Fixpipe that is not done
  std::map<uint32_t, Place> places_;                    // by L0C address of the product
};

}  // namespace dav::timeline
