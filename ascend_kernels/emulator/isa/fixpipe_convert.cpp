#include "isa/fixpipe_convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dav/float16.h"
#include "isa/cube_common.h"
#include "numeric/bfloat16.h"
#include "numeric/half.h"

namespace dav::cube {
namespace {

// One quantisation word (Ascend C reference, matrix output features, quantisation, table 1).
struct Factor {
  float scale = 0;         // bits 13..31 as the upper bits of a float: 1 + 8 + 10 bits
  uint32_t shift = 0;      // bits 32..35, one less than the shift
  bool narrow = false;     // bit 36: int32_t is shifted and clamped to 16 bits first
  int32_t offset = 0;      // bits 37..45, signed
  bool is_signed = false;  // bit 46
};

Factor decode(uint64_t word) {
  Factor f;
  f.scale = bits_float(static_cast<uint32_t>(word) & 0xffffe000u);
  f.shift = static_cast<uint32_t>(word >> 32 & 0xf) + 1;
  f.narrow = (word >> 36 & 1) != 0;
  const int32_t raw = static_cast<int32_t>(word >> 37 & 0x1ff);
  f.offset = raw >= 256 ? raw - 512 : raw;
  f.is_signed = (word >> 46 & 1) != 0;
  return f;
}

float scaled(float value, const Factor& f, bool relu) {
  if (relu && !(value > 0)) return 0;
  return value * f.scale;
}

float integer_value(int32_t value, const Factor& f) {
  if (!f.narrow) return static_cast<float>(value);
  return static_cast<float>(std::clamp(value >> f.shift, -32768, 32767));
}

// Rounded to nine bits, moved by the offset, clamped to the eight bits asked for.
uint8_t to_byte(float value, const Factor& f) {
  if (std::isnan(value)) value = 0;
  const int32_t rounded = static_cast<int32_t>(std::nearbyint(std::clamp(value, -256.0f, 255.0f)));
  const int32_t moved = rounded + f.offset;
  return f.is_signed ? static_cast<uint8_t>(static_cast<int8_t>(std::clamp(moved, -128, 127)))
                     : static_cast<uint8_t>(std::clamp(moved, 0, 255));
}

void quantise(Quant quant, bool relu, const uint64_t* factors, const std::byte* in, std::byte* out,
              size_t count) {
  const bool from_float = quant == Quant::F32ToB8 || quant == Quant::VF32ToB8;
  const bool to_half = quant == Quant::DeqF16 || quant == Quant::VDeqF16;
  const bool vector = takes_vector(quant);
  for (size_t i = 0; i < count; ++i) {
    const Factor f = decode(factors[vector ? i : 0]);
    float value;
    if (from_float) {
      std::memcpy(&value, in + i * 4, 4);
    } else {
      int32_t integer;
      std::memcpy(&integer, in + i * 4, 4);
      value = to_half ? static_cast<float>(integer) : integer_value(integer, f);
    }
    value = scaled(value, f, relu);
    if (to_half) {
      const uint16_t half = half_from_float(value);
      std::memcpy(out + i * 2, &half, 2);
    } else {
      out[i] = static_cast<std::byte>(to_byte(value, f));
    }
  }
}

}  // namespace

bool takes_vector(Quant quant) {
  return quant == Quant::VDeqF16 || quant == Quant::VF32ToB8 || quant == Quant::VReq8;
}

bool takes_scalar(Quant quant) {
  return quant == Quant::DeqF16 || quant == Quant::F32ToB8 || quant == Quant::Req8;
}

void require_conversion(const Instruction& in, Quant quant, DType dst, DType src, bool to_l1) {
  const bool byte = dst == DType::I8 || dst == DType::U8;
  bool known = false;
  switch (quant) {
    case Quant::None:
      // Unconverted results go to GM only.
      known = !to_l1 && dst == src && (src == DType::F32 || src == DType::I32);
      break;
    case Quant::F16:
      known = src == DType::F32 && dst == DType::F16;
      break;
    case Quant::Bf16:
      known = src == DType::F32 && dst == DType::BF16;
      break;
    case Quant::DeqF16:
    case Quant::VDeqF16:
      known = src == DType::I32 && dst == DType::F16;
      break;
    case Quant::F32ToB8:
    case Quant::VF32ToB8:
      known = src == DType::F32 && byte;
      break;
    default:
      known = src == DType::I32 && byte;
      break;
  }
  if (known) return;
  in.trap(TrapKind::UnsupportedType, "Fixpipe takes no %s to %s in %s with quantPre %d",
          type_name(src), type_name(dst), to_l1 ? "L1" : "GM", static_cast<int>(quant));
}

void convert_row(Quant quant, bool relu, DType dst_type, DType src_type, const uint64_t* factors,
                 const std::byte* in, std::byte* out, size_t count) {
  if (quant != Quant::None && quant != Quant::F16 && quant != Quant::Bf16) {
    quantise(quant, relu, factors, in, out, count);
    return;
  }
  if (src_type == DType::I32) {
    for (size_t i = 0; i < count; ++i) {
      int32_t value;
      std::memcpy(&value, in + i * 4, 4);
      if (relu) value = std::max(value, 0);
      std::memcpy(out + i * 4, &value, 4);
    }
    return;
  }
  float row[256];
  for (size_t done = 0; done < count;) {
    const size_t part = std::min<size_t>(count - done, 256);
    std::memcpy(row, in + done * 4, part * 4);
    if (relu) {
      // NaN passes.
      for (size_t i = 0; i < part; ++i) row[i] = row[i] < 0 ? 0 : row[i];
    }
    std::byte* to = out + done * size_of(dst_type);
    if (quant == Quant::F16) {
      float_to_half_row(row, reinterpret_cast<uint16_t*>(to), part);
    } else if (quant == Quant::Bf16) {
      float_to_bfloat16_row(row, reinterpret_cast<uint16_t*>(to), part);
    } else {
      std::memcpy(to, row, part * 4);
    }
    done += part;
  }
}

}  // namespace dav::cube
