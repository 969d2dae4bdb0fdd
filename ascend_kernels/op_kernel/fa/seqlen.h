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
  int64_t left;   // keys a query sees before its own position, -1 without limit
  int64_t right;  // and after it; a causal mask is 0

  // The key at a query's own position. Positions are aligned bottom-right: the last query's is the
  // last key. Negative when the query lies before every key.
  __aicore__ inline int64_t OwnKey(uint32_t row) const {
    return static_cast<int64_t>(row) + keys - queries;
  }

  // First and last key that query `row` sees. It sees none when the last is negative; the first
  // never lies beyond the keys.
  __aicore__ inline int64_t FirstKey(uint32_t row) const {
    const int64_t first = OwnKey(row) - left;
    return (left < 0 || first < 0) ? 0 : first;
  }
  __aicore__ inline int64_t LastKey(uint32_t row) const {
    const int64_t end = static_cast<int64_t>(keys) - 1;
    const int64_t last = OwnKey(row) + right;
    return (right < 0 || last > end) ? end : last;
  }
};

}  // namespace ascendfa

#endif  // ASCENDFA_FA_SEQLEN_H
