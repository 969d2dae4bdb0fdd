#include "numeric/cast.h"

#include <cstring>
#include <limits>

#include "numeric/rounding.h"
#include "numeric/vector_math.h"

namespace dav {
namespace {

template <typename T>
const T* as(const std::byte* p) {
  return reinterpret_cast<const T*>(p);
}
template <typename T>
T* as(std::byte* p) {
  return reinterpret_cast<T*>(p);
}

int nibble(const std::byte* p, size_t i) {
  const auto pair = static_cast<uint8_t>(p[i / 2]);
  const int value = i % 2 ? pair >> 4 : pair & 0xf;
  return value >= 8 ? value - 16 : value;
}

// Calls f with a reader of the source elements as float, which holds all of these types exactly.
template <typename F>
void with_float_source(DType type, const std::byte* s, F&& f) {
  switch (type) {
    case DType::F16:
      return f([s](size_t i) { return half_to_float(as<uint16_t>(s)[i]); });
    case DType::BF16:
      return f([s](size_t i) { return bfloat16_to_float(as<uint16_t>(s)[i]); });
    case DType::I4:
      return f([s](size_t i) { return static_cast<float>(nibble(s, i)); });
    case DType::I8:
      return f([s](size_t i) { return static_cast<float>(as<int8_t>(s)[i]); });
    case DType::U8:
      return f([s](size_t i) { return static_cast<float>(as<uint8_t>(s)[i]); });
    case DType::I16:
      return f([s](size_t i) { return static_cast<float>(as<int16_t>(s)[i]); });
    default:
      return f([s](size_t i) { return as<float>(s)[i]; });
  }
}

// The low bits of an integral double. None are set in one beyond 64 bits: it was a float.
int64_t truncated(double x) {
  return x == x && x >= -0x1p63 && x < 0x1p63 ? static_cast<int64_t>(x) : 0;
}

template <typename Int, typename Read>
void to_integer(std::byte* d, const Read& read, size_t n, Rounding mode, IntOverflow overflow) {
  for (size_t i = 0; i < n; ++i) {
    const double x = round_integral(static_cast<double>(read(i)), mode);
    as<Int>(d)[i] = overflow == IntOverflow::Truncate ? static_cast<Int>(truncated(x))
                                                      : saturate_integral<Int>(x);
  }
}

template <typename Int>
Int narrowed(int64_t x, IntOverflow overflow) {
  if (overflow == IntOverflow::Truncate) return static_cast<Int>(x);
  constexpr int64_t low = std::numeric_limits<Int>::min(), high = std::numeric_limits<Int>::max();
  return static_cast<Int>(x < low ? low : x > high ? high : x);
}

template <typename Read>
void to_nibbles(std::byte* d, const Read& read, size_t n, Rounding mode, IntOverflow overflow) {
  for (size_t i = 0; i < n; ++i) {
    const double x = round_integral(static_cast<double>(read(i)), mode);
    const double bounded = x != x ? 0 : x < -8 ? -8 : x > 7 ? 7 : x;
    const int value = static_cast<int>(
        overflow == IntOverflow::Truncate ? truncated(x) & 0xf : static_cast<int64_t>(bounded));
    const auto old = static_cast<uint8_t>(d[i / 2]);
    const int bits = value & 0xf;
    d[i / 2] = static_cast<std::byte>(i % 2 ? (old & 0x0f) | (bits << 4) : (old & 0xf0) | bits);
  }
}

void from_wide_integer(DType dst_type, std::byte* d, DType src_type, const std::byte* s, size_t n,
                       Rounding mode, uint16_t deq_scale, IntOverflow overflow) {
  const double scale = static_cast<double>(half_to_float(deq_scale));
  for (size_t i = 0; i < n; ++i) {
    const int64_t x = src_type == DType::I32 ? as<int32_t>(s)[i] : as<int64_t>(s)[i];
    switch (dst_type) {
      case DType::I16:
        as<int16_t>(d)[i] = narrowed<int16_t>(x, overflow);
        break;
      case DType::I32:
        as<int32_t>(d)[i] = narrowed<int32_t>(x, overflow);
        break;
      case DType::I64:
        as<int64_t>(d)[i] = x;
        break;
      case DType::F16:
        as<uint16_t>(d)[i] = half_from_float(static_cast<float>(static_cast<double>(x) * scale));
        break;
      default:
        as<float>(d)[i] = float_from_integer(x, mode);
        break;
    }
  }
}

// The conversions that carry attention kernels, as loops the compiler vectorises.
bool fast_cast(DType dst_type, std::byte* d, DType src_type, const std::byte* s, size_t n,
               Rounding mode) {
  if (mode != Rounding::None && mode != Rounding::Rint) return false;
  if (src_type == DType::F32 && dst_type == DType::F16) {
    vmath::f16_from_f32(as<uint16_t>(d), as<float>(s), n);
  } else if (src_type == DType::F32 && dst_type == DType::BF16) {
    vmath::bf16_from_f32(as<uint16_t>(d), as<float>(s), n);
  } else if (src_type == DType::F16 && dst_type == DType::F32) {
    vmath::f32_from_f16(as<float>(d), as<uint16_t>(s), n);
  } else if (src_type == DType::BF16 && dst_type == DType::F32) {
    vmath::f32_from_bf16(as<float>(d), as<uint16_t>(s), n);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void cast_elements(DType dst_type, std::byte* d, DType src_type, const std::byte* s, size_t n,
                   Rounding mode, uint16_t deq_scale, IntOverflow overflow) {
  if (fast_cast(dst_type, d, src_type, s, n, mode)) return;
  if (src_type == DType::I32 || src_type == DType::I64)
    return from_wide_integer(dst_type, d, src_type, s, n, mode, deq_scale, overflow);
  with_float_source(src_type, s, [&](const auto& read) {
    switch (dst_type) {
      case DType::I4:
        return to_nibbles(d, read, n, mode, overflow);
      case DType::I8:
        return to_integer<int8_t>(d, read, n, mode, overflow);
      case DType::U8:
        return to_integer<uint8_t>(d, read, n, mode, overflow);
      case DType::I16:
        return to_integer<int16_t>(d, read, n, mode, overflow);
      case DType::I32:
        return to_integer<int32_t>(d, read, n, mode, overflow);
      case DType::I64:
        return to_integer<int64_t>(d, read, n, mode, overflow);
      case DType::F16:
        for (size_t i = 0; i < n; ++i) as<uint16_t>(d)[i] = half_from_float(read(i), mode);
        return;
      case DType::BF16:
        for (size_t i = 0; i < n; ++i) as<uint16_t>(d)[i] = bfloat16_from_float(read(i), mode);
        return;
      default: {
        const bool integral = src_type == DType::F32;  // float to float rounds to an integer
        for (size_t i = 0; i < n; ++i) {
          const float x = read(i);
          as<float>(d)[i] =
              integral ? static_cast<float>(round_integral(static_cast<double>(x), mode)) : x;
        }
        return;
      }
    }
  });
}

}  // namespace dav
