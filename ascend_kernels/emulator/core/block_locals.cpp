#include "core/block_locals.h"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

// The C library's own access to a module's thread-local block; it allocates the block if needed.
extern "C" void* __tls_get_addr(size_t*);

namespace dav {
namespace {

struct Search {
  uint64_t entry = 0;
  BlockLocalImage image;
};

int visit(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const ElfW(Phdr)* tls = nullptr;
  bool holds = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& h = info->dlpi_phdr[i];
    if (h.p_type == PT_TLS) tls = &h;
    if (h.p_type == PT_LOAD) {
      const uint64_t begin = info->dlpi_addr + h.p_vaddr;
      holds |= search.entry >= begin && search.entry < begin + h.p_memsz;
    }
  }
  if (!holds) return 0;
  const bool main_program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
  if (tls != nullptr && !main_program && tls->p_memsz != 0) {
    search.image.initial = reinterpret_cast<const std::byte*>(info->dlpi_addr + tls->p_vaddr);
    search.image.initial_bytes = tls->p_filesz;
    search.image.bytes = tls->p_memsz;
    search.image.module = info->dlpi_tls_modid;
  }
  return 1;
}

}  // namespace

BlockLocalImage find_block_locals(const void* entry) {
  Search search;
  search.entry = reinterpret_cast<uint64_t>(entry);
  if (entry != nullptr) dl_iterate_phdr(visit, &search);
  return search.image;
}

void BlockLocals::start(const BlockLocalImage& image) {
  if (image.bytes == 0) return;
  size_t index[2] = {image.module, 0};
  live_ = static_cast<std::byte*>(__tls_get_addr(index));
  saved_.assign(image.bytes, std::byte{0});
  std::copy_n(image.initial, image.initial_bytes, saved_.begin());
}

void BlockLocals::switch_in() {
  if (live_ != nullptr) std::memcpy(live_, saved_.data(), saved_.size());
}

void BlockLocals::switch_out() {
  if (live_ != nullptr) std::memcpy(saved_.data(), live_, saved_.size());
}

}  // namespace dav
