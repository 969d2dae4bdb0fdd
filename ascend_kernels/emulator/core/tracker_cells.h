// The shadow of a stretch of memory: for each 32-byte cell who wrote and who read last, and for
// each byte whether it was ever given a value. Byte-precise: a cell touched in parts keeps a list.
#pragma once

#include <cstdint>
#include <vector>

#include "core/tracker_order.h"
#include "core/tracker_stamp.h"

namespace dav {

constexpr uint32_t kCellBytes = 32;
constexpr uint32_t kWholeCell = ~0u;

// The first unordered pair an access met: bytes [begin, end) touched by both.
struct Conflict {
  Stamp prior;
  Touch prior_touch = Touch::Write;
  uint64_t begin = 0;
  uint64_t end = 0;
  bool after_write = false;  // an ordered write precedes the read of the pair
  explicit operator bool() const { return end != 0; }
};

class Cells {
 public:
  // keep_first: remember each cell's first writer, to tell a read of an older value from one of
  // the value being written.
  Cells(uint64_t bytes, bool defined, bool keep_first);

  uint64_t bytes() const { return cells_.size() * kCellBytes; }

  // Records the access and returns the first conflict it makes.
  Conflict touch(const Viewpoint& v, Touch touch, uint64_t begin, uint64_t end);

  // First undefined byte in [begin, end), or end.
  uint64_t first_undefined(uint64_t begin, uint64_t end) const;
  void set_defined(uint64_t begin, uint64_t end, bool defined);
  void copy_defined(uint64_t begin, const Cells& from, uint64_t from_begin, uint64_t bytes);

 private:
  // A plain cell: last writer of all its bytes, last reader of all its bytes; zero is nobody.
  // With the top bit of `write` set, the rest of it is an index into details_.
  struct Cell {
    uint64_t write = 0;
    uint64_t read = 0;
  };
  struct Entry {
    Stamp stamp;
    uint32_t mask;
    Touch touch;
  };
  using Detail = std::vector<Entry>;

  void write_whole(const Viewpoint& v, uint64_t first, uint64_t last, Conflict& conflict);
  void read_whole(const Viewpoint& v, uint64_t first, uint64_t last, Conflict& conflict);
  void touch_part(const Viewpoint& v, Touch touch, uint64_t cell, uint32_t mask,
                  Conflict& conflict);
  void check(const Viewpoint& v, Touch touch, uint64_t cell, uint32_t mask, const Entry& entry,
             Conflict& conflict) const;
  void note_first(uint64_t cell, Stamp now);
  bool after_known_write(const Viewpoint& v, uint64_t cell) const;
  Detail& expand(uint64_t cell);
  void collapse(uint64_t cell);

  std::vector<Cell> cells_;
  std::vector<uint32_t> defined_;
  std::vector<uint64_t> first_write_;
  std::vector<Detail> details_;
  std::vector<uint32_t> free_details_;
};

}  // namespace dav
