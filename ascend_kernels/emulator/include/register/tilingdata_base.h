// Tiling data declared by macros: a plain struct with setters on the host, and, through the code
// generator, the same struct for the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace optiling {

struct TilingField {
  std::string type;
  std::string name;
  size_t count = 0;  // 0: no array
};

// What the generator has to know to repeat a struct. Called while the library is loaded.
__attribute__((visibility("default"))) int register_tiling_field(const char* tiling_class,
                                                                 TilingField field);
__attribute__((visibility("default"))) int register_tiling_class(const char* op_type,
                                                                 const char* tiling_class);
// Class of an op, "" when it has none; fields of a class in order.
__attribute__((visibility("default"))) std::string tiling_class_of(const std::string& op_type);
__attribute__((visibility("default"))) std::vector<TilingField> tiling_fields_of(
    const std::string& tiling_class);

}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(struct_name)                                     \
  struct struct_name {                                                         \
    static constexpr const char* kDavTilingClass = #struct_name;               \
    size_t GetDataSize() const { return sizeof(*this); }                       \
    void SaveToBuffer(void* buffer, size_t capacity) const {                   \
      if (capacity >= sizeof(*this)) std::memcpy(buffer, this, sizeof(*this)); \
    }

#define TILING_DATA_FIELD_DEF(data_type, field_name)             \
  data_type field_name{};                                        \
  void set_##field_name(data_type value) { field_name = value; } \
  data_type get_##field_name() const { return field_name; }      \
  static inline const int dav_field_##field_name =               \
      optiling::register_tiling_field(kDavTilingClass, {#data_type, #field_name, 0});

#define TILING_DATA_FIELD_DEF_ARR(data_type, length, field_name) \
  data_type field_name[length]{};                                \
  void set_##field_name(const data_type* values) {               \
    std::memcpy(field_name, values, sizeof(field_name));         \
  }                                                              \
  data_type* get_##field_name() { return field_name; }           \
  static inline const int dav_field_##field_name =               \
      optiling::register_tiling_field(kDavTilingClass, {#data_type, #field_name, length});

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name) \
  struct_type field_name{};                                   \
  static inline const int dav_field_##field_name =            \
      optiling::register_tiling_field(kDavTilingClass, {#struct_type, #field_name, 0});

#define END_TILING_DATA_DEF }

#define REGISTER_TILING_DATA_CLASS(op_type, struct_name)                           \
  [[maybe_unused]] static const int g_dav_tiling_class_##op_type##_##struct_name = \
      optiling::register_tiling_class(#op_type, #struct_name);
