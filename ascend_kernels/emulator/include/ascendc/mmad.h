// Mmad and the modes of the cube.
#pragma once

#include "ascendc/load_data.h"
#include "ascendc/tensor.h"

namespace AscendC {

struct MmadParams {
  MmadParams() {}
  MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const bool isBiasIn,
             const int32_t fmOffsetIn, const bool enSsparseIn, const bool enWinogradAIn,
             const bool enWinogradBIn)
      : m(mIn),
        n(nIn),
        k(kIn),
        isBias(isBiasIn),
        fmOffset(fmOffsetIn),
        enSsparse(enSsparseIn),
        enWinogradA(enWinogradAIn),
        enWinogradB(enWinogradBIn) {}
  MmadParams(const uint16_t mIn, const uint16_t nIn, const uint16_t kIn, const uint8_t unitFlagIn,
             const bool cmatrixSourceIn, const bool cmatrixInitValIn)
      : m(mIn),
        n(nIn),
        k(kIn),
        unitFlag(unitFlagIn),
        cmatrixSource(cmatrixSourceIn),
        cmatrixInitVal(cmatrixInitValIn) {}

  uint16_t m = 0;
  uint16_t n = 0;
  uint16_t k = 0;
  bool isBias = false;
  int32_t fmOffset = 0;
  bool enSsparse = false;
  bool enWinogradA = false;
  bool enWinogradB = false;
  uint8_t unitFlag = 0;
  bool kDirectionAlign = false;
  bool cmatrixSource = false;
  bool cmatrixInitVal = true;
#if __NPU_ARCH__ == 3510
  bool disableGemv = false;
#endif
};

enum class HF32Mode { ENABLE, DISABLE };
enum class HF32TransMode { NEAREST_ZERO, NEAREST_EVEN };

}  // namespace AscendC

namespace dav {

// Which types of C, A and B the chip multiplies.
template <typename C, typename A, typename B>
constexpr bool mmad_types() {
  using std::is_same;
  constexpr bool halves = is_same<A, half>::value && is_same<B, half>::value;
  constexpr bool bytes = is_same<A, int8_t>::value && is_same<B, int8_t>::value;
#if __NPU_ARCH__ == 1001
  constexpr bool mixed = is_same<A, uint8_t>::value && is_same<B, int8_t>::value;
  constexpr bool words = is_same<A, uint8_t>::value && is_same<B, uint8_t>::value;
  return (halves && (is_same<C, half>::value || is_same<C, float>::value)) ||
         ((bytes || mixed) && is_same<C, int32_t>::value) || (words && is_same<C, uint32_t>::value);
#else
  constexpr bool brains = is_same<A, Bfloat16>::value && is_same<B, Bfloat16>::value;
  constexpr bool floats = is_same<A, float>::value && is_same<B, float>::value;
  constexpr bool nibbles = is_same<A, int4b_t>::value && is_same<B, int4b_t>::value;
  return ((halves || brains || floats) && is_same<C, float>::value) ||
         ((bytes || nibbles) && is_same<C, int32_t>::value);
#endif
}

inline MmadDesc mmad_desc(const AscendC::MmadParams& p) {
  MmadDesc d;
  d.m = p.m;
  d.n = p.n;
  d.k = p.k;
  d.unitFlag = p.unitFlag;
  d.kDirectionAlign = p.kDirectionAlign;
  d.init_zero = p.cmatrixInitVal && !p.isBias;
  d.from_bias = !d.init_zero && p.cmatrixSource;
  d.winograd = p.enSsparse || p.enWinogradA || p.enWinogradB;
  return d;
}

}  // namespace dav

namespace AscendC {

template <typename T, typename U, typename S>
__aicore__ inline void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm,
                            const LocalTensor<S>& filter, const MmadParams& mmadParams) {
  static_assert(dav::before_3510<T>, "the emulator has no cube of this chip");
  static_assert(dav::mmad_types<PrimT<T>, PrimT<U>, PrimT<S>>(),
                "Mmad: this chip does not take this combination of types");
  dav::mmad(dst.Operand(), dav::dtype_of<T>, fm.Operand(), dav::dtype_of<U>, filter.Operand(),
            dav::dtype_of<S>, dav::mmad_desc(mmadParams));
}

// Where the bias lies decides what C starts from, whatever cmatrixSource says.
template <typename T, typename U, typename S, typename V>
__aicore__ inline void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm,
                            const LocalTensor<S>& filter, const LocalTensor<V>& bias,
                            const MmadParams& mmadParams) {
  static_assert(dav::since_2201<T>, "Mmad with bias does not exist on this chip");
  static_assert(dav::before_3510<T>, "the emulator has no cube of this chip");
  static_assert(dav::mmad_types<PrimT<T>, PrimT<U>, PrimT<S>>() &&
                    !std::is_same<PrimT<U>, int4b_t>::value &&
                    std::is_same<PrimT<T>, PrimT<V>>::value,
                "Mmad: this chip does not take this combination of types");
  if (bias.Buffer() != dav::Buffer::BT && bias.Buffer() != dav::Buffer::L0C) {
    dav::raise_illegal("Mmad", "%s", "bias has to lie in C2 or CO1");
  }
  // The library passes cmatrixInitVal on, and C that starts from zero starts from nothing else.
  if (mmadParams.cmatrixInitVal) {
    dav::raise_illegal("Mmad", "%s", "cmatrixInitVal is true: C starts from 0, not from the bias");
  }
  dav::MmadDesc d = dav::mmad_desc(mmadParams);
  d.from_bias = bias.Buffer() == dav::Buffer::BT;
  d.init_zero = false;
  d.bias = bias.Operand();
  dav::mmad(dst.Operand(), dav::dtype_of<T>, fm.Operand(), dav::dtype_of<U>, filter.Operand(),
            dav::dtype_of<S>, d);
}

// The right matrix is half as deep as the left: two of four weights, chosen by the index that
// LoadDataWithSparse brought.
template <typename T = int32_t, typename U = int8_t,
          std::enable_if_t<std::is_same<PrimT<T>, int32_t>::value, bool> = true,
          std::enable_if_t<std::is_same<PrimT<U>, int8_t>::value, bool> = true>
__aicore__ inline void MmadWithSparse(const LocalTensor<T>& dst, const LocalTensor<U>& fm,
                                      const LocalTensor<U>& filter, const MmadParams& mmadParams) {
  static_assert(dav::only_2201<T>, "MmadWithSparse does not exist on this chip");
  dav::mmad_sparse(dst.Operand(), dav::dtype_of<T>, fm.Operand(), dav::dtype_of<U>,
                   filter.Operand(), dav::dtype_of<U>, dav::mmad_desc(mmadParams));
}

#if __NPU_ARCH__ != 1001
__aicore__ inline void SetHF32Mode(HF32Mode mode) { dav::set_hf32(mode == HF32Mode::ENABLE); }
__aicore__ inline void SetHF32Mode(bool hf32Mode) { dav::set_hf32(hf32Mode); }
__aicore__ inline void SetHF32TransMode(HF32TransMode mode) {
  dav::set_hf32_rounding(mode == HF32TransMode::NEAREST_EVEN);
}
__aicore__ inline void SetHF32TransMode(bool hf32TransMode) {
  dav::set_hf32_rounding(!hf32TransMode);
}
__aicore__ inline void SetMMRowMajor() { dav::set_mm_column_major(false); }
__aicore__ inline void SetMMColumnMajor() { dav::set_mm_column_major(true); }
__aicore__ inline void SetMMLayoutTransform(bool mmLayoutMode) {
  dav::set_mm_column_major(mmLayoutMode);
}
#endif

}  // namespace AscendC
