#include "core/division.h"

#if defined(__x86_64__) && defined(__linux__)
#include <ucontext.h>

#include <cstdint>

namespace dav {
namespace {

struct Division {
  uint32_t length = 0;  // 0: the bytes are no division
  uint32_t bits = 32;
  bool from_register = false;
  uint32_t divisor = 0;  // its number in the instruction set
};

Division decode(const uint8_t* code) {
  Division d;
  const uint8_t* at = code;
  bool half = false;
  uint8_t rex = 0;
  for (;; ++at) {
    if (*at == 0x66) {
      half = true;
    } else if (*at != 0x2e && *at != 0x36 && *at != 0x3e && *at != 0x64 && *at != 0x65) {
      break;
    }
  }
  if ((*at & 0xf0) == 0x40) rex = *at++;
  const uint8_t opcode = *at++;
  const uint8_t modrm = *at++;
  const uint32_t mode = modrm >> 6, operation = modrm >> 3 & 7, base = modrm & 7;
  if ((opcode != 0xf6 && opcode != 0xf7) || operation < 6) return d;
  d.bits = opcode == 0xf6 ? 8 : (rex & 8) != 0 ? 64 : half ? 16 : 32;
  d.from_register = mode == 3;
  d.divisor = base | (rex & 1u) << 3;
  if (mode != 3) {
    const bool sib = base == 4;
    const bool wide = mode == 2 || (mode == 0 && (base == 5 || (sib && (*at & 7) == 5)));
    at += (sib ? 1 : 0) + (wide ? 4 : mode == 1 ? 1 : 0);
  }
  d.length = static_cast<uint32_t>(at - code);
  return d;
}

// Where the signal context keeps the registers, in the numbering of the instruction set.
constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};

}  // namespace

bool step_over_division(void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const Division d = decode(reinterpret_cast<const uint8_t*>(registers[REG_RIP]));
  if (d.length == 0) return false;
  const uint64_t mask = d.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << d.bits) - 1;
  const auto dividend = static_cast<uint64_t>(registers[REG_RAX]) & mask;
  // In memory it is taken for zero: the compiler keeps -1 in a register or an immediate.
  const bool overflow = d.from_register && d.bits > 8 &&
                        (static_cast<uint64_t>(registers[kRegisters[d.divisor]]) & mask) == mask;
  const uint64_t quotient = overflow ? dividend : 0, remainder = overflow ? 0 : dividend;
  const auto put = [&](int which, uint64_t value) {
    const auto old = static_cast<uint64_t>(registers[which]);
    // Results of 32 bits clear the upper half, shorter ones leave it.
    registers[which] = static_cast<greg_t>(d.bits >= 32 ? value : (old & ~mask) | value);
  };
  if (d.bits == 8) {
    const auto old = static_cast<uint64_t>(registers[REG_RAX]) & ~uint64_t{0xffff};
    registers[REG_RAX] = static_cast<greg_t>(old | remainder << 8 | quotient);
  } else {
    put(REG_RAX, quotient);
    put(REG_RDX, remainder);
  }
  registers[REG_RIP] += d.length;
  return true;
}

}  // namespace dav

#else

namespace dav {
bool step_over_division(void*) { return false; }
}  // namespace dav

#endif
