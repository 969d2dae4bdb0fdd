// The shape a kernel may attach to a tensor. No instruction reads it.
#pragma once

#include "ascendc/enums.h"

#ifndef K_MAX_SHAPE_DIM
#define K_MAX_SHAPE_DIM 8
#endif

namespace AscendC {

struct ShapeInfo {
  ShapeInfo() = default;
  ShapeInfo(const uint8_t inputShapeDim, const uint32_t inputShape[],
            const uint8_t inputOriginalShapeDim, const uint32_t inputOriginalShape[],
            const DataFormat inputFormat)
      : shapeDim(inputShapeDim), originalShapeDim(inputOriginalShapeDim), dataFormat(inputFormat) {
    for (int i = 0; i < shapeDim; ++i) shape[i] = inputShape[i];
    for (int i = 0; i < originalShapeDim; ++i) originalShape[i] = inputOriginalShape[i];
  }
  ShapeInfo(const uint8_t inputShapeDim, const uint32_t inputShape[],
            const DataFormat inputFormat = DataFormat::ND)
      : ShapeInfo(inputShapeDim, inputShape, inputShapeDim, inputShape, inputFormat) {}

  uint8_t shapeDim = 0;
  uint8_t originalShapeDim = 0;
  uint32_t shape[K_MAX_SHAPE_DIM] = {};
  uint32_t originalShape[K_MAX_SHAPE_DIM] = {};
  DataFormat dataFormat = DataFormat::ND;
};

inline uint64_t GetShapeSize(const ShapeInfo& shapeInfo) {
  uint64_t size = 1;
  for (int i = 0; i < shapeInfo.shapeDim; ++i) size *= shapeInfo.shape[i];
  return size;
}

}  // namespace AscendC
