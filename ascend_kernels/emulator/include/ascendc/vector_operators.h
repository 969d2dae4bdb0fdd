// Whole-tensor operators: `dst = src0 + src1` computes as many elements as dst has.
#pragma once

#include "ascendc/vector_binary.h"
#include "ascendc/vector_compare.h"

namespace AscendC {
namespace Internal {

template <typename T, typename Compute>
struct TensorOperation {
  using TensorExpression = T;
  const LocalTensor<T>& src0;
  const LocalTensor<T>& src1;

  template <typename D>
  void Into(const LocalTensor<D>& dst) const {
    static_assert(std::is_same<D, T>::value, "the operands of a tensor operator differ in type");
    Compute::Run(dst, src0, src1);
  }
};

template <typename T>
struct TensorComparison {
  using TensorExpression = T;
  const LocalTensor<T>& src0;
  const LocalTensor<T>& src1;
  CMPMODE mode;

  template <typename D>
  void Into(const LocalTensor<D>& dst) const {
    static_assert(Floats::Has<PrimT<T>>(), "tensor operators compare half and float");
    Compare(dst, src0, src1, mode, src0.GetSize());
  }
};

}  // namespace Internal

// Logic works on 16-bit units of any type.
#define DAV_TENSOR_OPERATOR(sign, Name, units)                                                     \
  namespace Internal {                                                                             \
  struct Name##Tensors {                                                                           \
    template <typename T>                                                                          \
    static void Run(const LocalTensor<T>& dst, const LocalTensor<T>& a, const LocalTensor<T>& b) { \
      Name(dst, a, b, static_cast<int32_t>(dst.GetSize() * (units)));                              \
    }                                                                                              \
  };                                                                                               \
  }                                                                                                \
  template <typename T>                                                                            \
  __aicore__ inline Internal::TensorOperation<T, Internal::Name##Tensors> operator sign(           \
      const LocalTensor<T>& src0, const LocalTensor<T>& src1) {                                    \
    return {src0, src1};                                                                           \
  }
DAV_TENSOR_OPERATOR(+, Add, 1)
DAV_TENSOR_OPERATOR(-, Sub, 1)
DAV_TENSOR_OPERATOR(*, Mul, 1)
DAV_TENSOR_OPERATOR(/, Div, 1)
DAV_TENSOR_OPERATOR(|, Or, sizeof(PrimT<T>) / 2)
DAV_TENSOR_OPERATOR(&, And, sizeof(PrimT<T>) / 2)
#undef DAV_TENSOR_OPERATOR

#define DAV_TENSOR_COMPARISON(sign, mode)                                                     \
  template <typename T>                                                                       \
  __aicore__ inline Internal::TensorComparison<T> operator sign(const LocalTensor<T>& src0,   \
                                                                const LocalTensor<T>& src1) { \
    return {src0, src1, CMPMODE::mode};                                                       \
  }
DAV_TENSOR_COMPARISON(<, LT)
DAV_TENSOR_COMPARISON(>, GT)
DAV_TENSOR_COMPARISON(<=, LE)
DAV_TENSOR_COMPARISON(>=, GE)
DAV_TENSOR_COMPARISON(==, EQ)
DAV_TENSOR_COMPARISON(!=, NE)
#undef DAV_TENSOR_COMPARISON

}  // namespace AscendC
