// How many queries and keys one sequence has, and which keys a query may see.
// Pure arithmetic: the host's tests compile it too.
#ifndef ASCENDFA_FA_SEQLEN_H
#define ASCENDFA_FA_SEQLEN_H

#include <cstdint>

namespace ascendfa {

__aicore__ constexpr uint32_t CeilDiv(uint32_t value, uint32_t unit) {
  return (value + unit - 1) / unit;
}

__aicore__ constexpr uint32_t AlignUp(uint32_t value, uint32_t unit) {
  return CeilDiv(value, unit) * unit;
}

__aicore__ constexpr uint32_t Smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

struct SeqLen {
  uint32_t queries;
  uint32_t keys;
  bool causal;

  // Last key that query `row` sees, counted from key 0; negative when it sees none. Causal masks
  // are aligned bottom-right: the last query sees the last key.
  __aicore__ inline int64_t LastKey(uint32_t row) const {
    const int64_t last = static_cast<int64_t>(keys) - 1;
    if (!causal) {
      return last;
    }
    const int64_t diagonal = static_cast<int64_t>(row) + keys - queries;
    return diagonal < last ? diagonal : last;
  }
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SEQLEN_H
