// Reductions: per repeat, per block, of adjacent pairs, and of whole tensors.
#pragma once

#include "ascendc/vector_common.h"

namespace AscendC {

enum class ReduceType : uint8_t { SUM = 0, MAX, MIN };

namespace Internal {

constexpr dav::ReduceOp ReduceOpOf(ReduceType type) {
  return type == ReduceType::SUM   ? dav::ReduceOp::Sum
         : type == ReduceType::MAX ? dav::ReduceOp::Max
                                   : dav::ReduceOp::Min;
}

constexpr bool AnyReduction(ReduceType) { return true; }
constexpr bool IsSum(ReduceType type) { return type == ReduceType::SUM; }

template <typename T>
dav::VecReduce Reduction(const char* name, ReduceType type, const LocalTensor<T>& dst,
                         const LocalTensor<T>& src, dav::VecMask mask, int32_t repeatTime,
                         int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,
                         ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {
  return {name,
          ReduceOpOf(type),
          dav::dtype_of<T>,
          static_cast<dav::ReduceLayout>(order),
          dst.Operand(),
          dstRepStride,
          src.Operand(),
          srcBlkStride,
          srcRepStride,
          mask,
          repeatTime};
}

}  // namespace Internal

// A family in its bit-mask and its element-count form.
#define DAV_REDUCE_API(Name, type, function)                                              \
  template <typename T, bool isSetMask = true>                                            \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,       \
                              const int32_t repeatTime, const uint64_t mask[],            \
                              const int32_t dstRepStride, const int32_t srcBlkStride,     \
                              const int32_t srcRepStride) {                               \
    DAV_REQUIRE_TYPE(#Name, T, Internal::Floats, Internal::HalfOnly);                     \
    dav::function(Internal::Reduction(#Name, ReduceType::type, dst, src,                  \
                                      Internal::BitMask<T, isSetMask>(mask), repeatTime,  \
                                      dstRepStride, srcBlkStride, srcRepStride));         \
  }                                                                                       \
  template <typename T, bool isSetMask = true>                                            \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,       \
                              const int32_t repeatTime, const int32_t mask,               \
                              const int32_t dstRepStride, const int32_t srcBlkStride,     \
                              const int32_t srcRepStride) {                               \
    DAV_REQUIRE_TYPE(#Name, T, Internal::Floats, Internal::HalfOnly);                     \
    dav::function(Internal::Reduction(                                                    \
        #Name, ReduceType::type, dst, src,                                                \
        Internal::LaneMask<isSetMask>(static_cast<uint64_t>(static_cast<int64_t>(mask))), \
        repeatTime, dstRepStride, srcBlkStride, srcRepStride));                           \
  }
DAV_REDUCE_API(BlockReduceSum, SUM, vector_reduce_block)
DAV_REDUCE_API(BlockReduceMax, MAX, vector_reduce_block)
DAV_REDUCE_API(BlockReduceMin, MIN, vector_reduce_block)
DAV_REDUCE_API(PairReduceSum, SUM, vector_reduce_pair)
#undef DAV_REDUCE_API

template <typename T, bool isSetMask = true>
__aicore__ inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                      const uint64_t mask[], const int32_t repeatTime,
                                      const int32_t dstRepStride, const int32_t srcBlkStride,
                                      const int32_t srcRepStride) {
  DAV_REQUIRE_TYPE("WholeReduceSum", T, Internal::Floats, Internal::HalfOnly);
  dav::vector_reduce_repeat(Internal::Reduction("WholeReduceSum", ReduceType::SUM, dst, src,
                                                Internal::BitMask<T, isSetMask>(mask), repeatTime,
                                                dstRepStride, srcBlkStride, srcRepStride));
}
template <typename T, bool isSetMask = true>
__aicore__ inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                      const int32_t mask, const int32_t repeatTime,
                                      const int32_t dstRepStride, const int32_t srcBlkStride,
                                      const int32_t srcRepStride) {
  DAV_REQUIRE_TYPE("WholeReduceSum", T, Internal::Floats, Internal::HalfOnly);
  dav::vector_reduce_repeat(Internal::Reduction(
      "WholeReduceSum", ReduceType::SUM, dst, src,
      Internal::LaneMask<isSetMask>(static_cast<uint64_t>(static_cast<int64_t>(mask))), repeatTime,
      dstRepStride, srcBlkStride, srcRepStride));
}
// The older spelling; dstBlkStride has no effect.
template <typename T, bool isSetMask = true>
__aicore__ inline void RepeatReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                       const int32_t repeatTime, const int32_t mask,
                                       const int32_t dstBlkStride, const int32_t srcBlkStride,
                                       const int32_t dstRepStride, const int32_t srcRepStride) {
  static_cast<void>(dstBlkStride);
  WholeReduceSum<T, isSetMask>(dst, src, mask, repeatTime, dstRepStride, srcBlkStride,
                               srcRepStride);
}

#define DAV_EXTREMUM_API(Name, type)                                                          \
  template <typename T, bool isSetMask = true>                                                \
  __aicore__ inline void Name(                                                                \
      const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],            \
      const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,       \
      const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {       \
    DAV_REQUIRE_TYPE(#Name, T, Internal::Floats, Internal::HalfOnly);                         \
    dav::vector_reduce_repeat(Internal::Reduction(                                            \
        #Name, ReduceType::type, dst, src, Internal::BitMask<T, isSetMask>(mask), repeatTime, \
        dstRepStride, srcBlkStride, srcRepStride, order));                                    \
  }                                                                                           \
  template <typename T, bool isSetMask = true>                                                \
  __aicore__ inline void Name(                                                                \
      const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,               \
      const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,       \
      const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {       \
    DAV_REQUIRE_TYPE(#Name, T, Internal::Floats, Internal::HalfOnly);                         \
    dav::vector_reduce_repeat(Internal::Reduction(                                            \
        #Name, ReduceType::type, dst, src,                                                    \
        Internal::LaneMask<isSetMask>(static_cast<uint64_t>(static_cast<int64_t>(mask))),     \
        repeatTime, dstRepStride, srcBlkStride, srcRepStride, order));                        \
  }
DAV_EXTREMUM_API(WholeReduceMax, MAX)
DAV_EXTREMUM_API(WholeReduceMin, MIN)
#undef DAV_EXTREMUM_API

// The newer names of the same instructions.
#define DAV_REDUCE_TEMPLATE(Name, function, takes)                                        \
  template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>         \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src,       \
                              const int32_t mask, const int32_t repeatTime,               \
                              const int32_t dstRepStride, const int32_t srcBlkStride,     \
                              const int32_t srcRepStride) {                               \
    DAV_REQUIRE_TYPE(#Name, T, Internal::Floats, Internal::HalfOnly);                     \
    static_assert(std::is_same<T, U>::value, #Name ": dst and src differ in type");       \
    static_assert(takes(reduceType), #Name ": no such reduction");                        \
    dav::function(Internal::Reduction(                                                    \
        #Name, reduceType, dst, src,                                                      \
        Internal::LaneMask<isSetMask>(static_cast<uint64_t>(static_cast<int64_t>(mask))), \
        repeatTime, dstRepStride, srcBlkStride, srcRepStride));                           \
  }                                                                                       \
  template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>         \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<U>& src,       \
                              const uint64_t mask[], const int32_t repeatTime,            \
                              const int32_t dstRepStride, const int32_t srcBlkStride,     \
                              const int32_t srcRepStride) {                               \
    DAV_REQUIRE_TYPE(#Name, T, Internal::Floats, Internal::HalfOnly);                     \
    static_assert(std::is_same<T, U>::value, #Name ": dst and src differ in type");       \
    static_assert(takes(reduceType), #Name ": no such reduction");                        \
    dav::function(Internal::Reduction(#Name, reduceType, dst, src,                        \
                                      Internal::BitMask<T, isSetMask>(mask), repeatTime,  \
                                      dstRepStride, srcBlkStride, srcRepStride));         \
  }
DAV_REDUCE_TEMPLATE(ReduceDataBlock, vector_reduce_block, Internal::AnyReduction)
DAV_REDUCE_TEMPLATE(ReducePairElem, vector_reduce_pair, Internal::IsSum)
#undef DAV_REDUCE_TEMPLATE

template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
__aicore__ inline void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                    const int32_t mask, const int32_t repeatTime,
                                    const int32_t dstRepStride, const int32_t srcBlkStride,
                                    const int32_t srcRepStride,
                                    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {
  DAV_REQUIRE_TYPE("ReduceRepeat", T, Internal::Floats, Internal::HalfOnly);
  static_assert(std::is_same<T, U>::value, "ReduceRepeat: dst and src differ in type");
  dav::vector_reduce_repeat(Internal::Reduction(
      "ReduceRepeat", reduceType, dst, src,
      Internal::LaneMask<isSetMask>(static_cast<uint64_t>(static_cast<int64_t>(mask))), repeatTime,
      dstRepStride, srcBlkStride, srcRepStride, order));
}
template <ReduceType reduceType, typename T, typename U, bool isSetMask = true>
__aicore__ inline void ReduceRepeat(const LocalTensor<T>& dst, const LocalTensor<U>& src,
                                    const uint64_t mask[], const int32_t repeatTime,
                                    const int32_t dstRepStride, const int32_t srcBlkStride,
                                    const int32_t srcRepStride,
                                    ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {
  DAV_REQUIRE_TYPE("ReduceRepeat", T, Internal::Floats, Internal::HalfOnly);
  static_assert(std::is_same<T, U>::value, "ReduceRepeat: dst and src differ in type");
  dav::vector_reduce_repeat(Internal::Reduction("ReduceRepeat", reduceType, dst, src,
                                                Internal::BitMask<T, isSetMask>(mask), repeatTime,
                                                dstRepStride, srcBlkStride, srcRepStride, order));
}

namespace Internal {

template <typename T>
void ReduceAll(const char* name, dav::ReduceOp op, const LocalTensor<T>& dst,
               const LocalTensor<T>& src, const LocalTensor<T>& work, dav::VecMask mask,
               int32_t repeatTime, int32_t srcRepStride, bool calIndex) {
  dav::vector_reduce_all({name, op, dav::dtype_of<T>, calIndex, dst.Operand(), src.Operand(),
                          work.Operand(), work.GetLength(), srcRepStride, mask, repeatTime});
}

}  // namespace Internal

#define DAV_REDUCE_ALL_API(Name, op)                                                           \
  template <typename T>                                                                        \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,            \
                              const LocalTensor<T>& sharedTmpBuffer, const int32_t mask,       \
                              const int32_t repeatTime, const int32_t srcRepStride,            \
                              bool calIndex = 0) {                                             \
    DAV_REQUIRE_TYPE(#Name, T, Internal::Floats, Internal::HalfOnly);                          \
    Internal::ReduceAll(#Name, dav::ReduceOp::op, dst, src, sharedTmpBuffer,                   \
                        dav::VecMask::lanes(static_cast<uint64_t>(mask)), repeatTime,          \
                        srcRepStride, calIndex);                                               \
  }                                                                                            \
  template <typename T>                                                                        \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,            \
                              const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[],    \
                              const int32_t repeatTime, const int32_t srcRepStride,            \
                              bool calIndex = 0) {                                             \
    DAV_REQUIRE_TYPE(#Name, T, Internal::Floats, Internal::HalfOnly);                          \
    Internal::ReduceAll(#Name, dav::ReduceOp::op, dst, src, sharedTmpBuffer,                   \
                        Internal::BitMask<T, true>(mask), repeatTime, srcRepStride, calIndex); \
  }                                                                                            \
  template <typename T>                                                                        \
  __aicore__ inline void Name(const LocalTensor<T>& dst, const LocalTensor<T>& src,            \
                              const LocalTensor<T>& sharedTmpBuffer, const int32_t count,      \
                              bool calIndex = 0) {                                             \
    DAV_REQUIRE_TYPE(#Name, T, Internal::Floats, Internal::HalfOnly);                          \
    Internal::ReduceAll(#Name, dav::ReduceOp::op, dst, src, sharedTmpBuffer,                   \
                        dav::VecMask::total(count), 1, DEFAULT_REPEAT_STRIDE, calIndex);       \
  }
DAV_REDUCE_ALL_API(ReduceMax, Max)
DAV_REDUCE_ALL_API(ReduceMin, Min)
#undef DAV_REDUCE_ALL_API

template <typename T>
__aicore__ inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<T>& sharedTmpBuffer, const int32_t mask,
                                 const int32_t repeatTime, const int32_t srcRepStride) {
  DAV_REQUIRE_TYPE("ReduceSum", T, Internal::Floats, Internal::HalfOnly);
  Internal::ReduceAll("ReduceSum", dav::ReduceOp::Sum, dst, src, sharedTmpBuffer,
                      dav::VecMask::lanes(static_cast<uint64_t>(mask)), repeatTime, srcRepStride,
                      false);
}
template <typename T>
__aicore__ inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[],
                                 const int32_t repeatTime, const int32_t srcRepStride) {
  DAV_REQUIRE_TYPE("ReduceSum", T, Internal::Floats, Internal::HalfOnly);
  Internal::ReduceAll("ReduceSum", dav::ReduceOp::Sum, dst, src, sharedTmpBuffer,
                      Internal::BitMask<T, true>(mask), repeatTime, srcRepStride, false);
}
template <typename T, bool isSetMask = true>
__aicore__ inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<T>& sharedTmpBuffer, const int32_t count) {
  DAV_REQUIRE_TYPE("ReduceSum", T, Internal::Floats, Internal::HalfOnly);
  Internal::ReduceAll("ReduceSum", dav::ReduceOp::Sum, dst, src, sharedTmpBuffer,
                      Internal::CountMask < isSetMask || __NPU_ARCH__ == 1001 > (count), 1,
                      DEFAULT_REPEAT_STRIDE, false);
}

namespace Internal {

template <typename T>
T FromBits(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace Internal

// Results of the last reduction, from scalar registers.
#if __NPU_ARCH__ != 1001
template <typename T>
__aicore__ inline T GetReduceRepeatSumSpr() {
  return Internal::FromBits<T>(dav::vector_sum_register());
}
template <typename T>
__aicore__ inline T GetAccVal() {
  return GetReduceRepeatSumSpr<T>();
}
template <typename T>
__aicore__ inline void GetReduceRepeatMaxMinSpr(T& maxMinValue, T& maxMinIndex) {
  const uint64_t bits = dav::vector_extremum_register();
  maxMinValue = Internal::FromBits<T>(bits);
  maxMinIndex = Internal::FromBits<T>(bits >> 32);
}
template <typename T>
__aicore__ inline void GetReduceRepeatMaxMinSpr(T& maxMinValue) {
  maxMinValue = Internal::FromBits<T>(dav::vector_extremum_register());
}
template <typename T>
__aicore__ inline void GetReduceMaxMinCount(T& maxMinValue, T& maxMinIndex) {
  GetReduceRepeatMaxMinSpr(maxMinValue, maxMinIndex);
}
template <typename T>
__aicore__ inline void GetReduceMaxMinCount(T& maxMinValue) {
  GetReduceRepeatMaxMinSpr(maxMinValue);
}
#endif

}  // namespace AscendC
