// What the host's plan tells the kernel: plain data, the same bytes on both sides.
#ifndef ASCENDFA_FLASH_ATTENTION_TILING_H
#define ASCENDFA_FLASH_ATTENTION_TILING_H

#include <cstdint>

// Distances between neighbours along each axis of a [batch, head, row, column] tensor, in elements.
// Columns are contiguous. A distance of zero repeats the tensor along that axis.
struct FlashAttentionStrides {
  int64_t batch;
  int64_t head;
  int64_t row;
};

// The loop that hands scores over as fp16, relative to a reference per row. Offsets are bytes into
// a core group's part of the workspace, whose tasks it works on before any other loop does.
struct FlashAttentionReferenced {
  uint32_t enabled;
  uint32_t lag;    // steps between a score tile and its use by the second product
  uint32_t depth;  // slots of scores, and of weights, at least lag + 1
  // Steps between the scores a reference is taken from and its use, and where that is inconvenient.
  uint32_t longest_lead;
  uint32_t shortest_lead;
  uint32_t sample_keys;  // whose scores references are taken from
  float tolerance;       // scaled; how far a row's maximum may lie from its reference
  float margin;          // scaled; how far a reference lies above the maximum it is taken from
  uint64_t slot_bytes;   // of scores, and of weights
  uint64_t weight_offset;
  uint64_t sample_offset;
  uint64_t reference_offset;
  uint64_t output_offset;
  uint64_t verdict_offset;
};

struct FlashAttentionTiling {
  FlashAttentionStrides q;
  FlashAttentionStrides k;
  FlashAttentionStrides v;
  FlashAttentionStrides out;
  FlashAttentionStrides bias;
  FlashAttentionStrides mask;

  // Keys a query sees before and after its own position, -1 without limit. A causal mask is a
  // limit of zero after it.
  int64_t window_left;
  int64_t window_right;

  // Layout of one core group's part of the workspace: slot sizes and part starts, in bytes.
  uint64_t group_bytes;
  uint64_t score_slot_bytes;
  uint64_t weight_offset;
  uint64_t weight_slot_bytes;
  uint64_t partial_offset;
  uint64_t partial_slot_bytes;

  uint32_t batch;
  uint32_t q_heads;
  uint32_t kv_heads;
  uint32_t seq_q;
  uint32_t seq_k;
  uint32_t head_dim;         // of q and k
  uint32_t head_dim_padded;  // up to the next multiple of 16
  uint32_t value_dim;        // of v and out
  uint32_t value_dim_padded;

  uint32_t block_m;        // query rows of a task
  uint32_t block_n;        // keys of a step
  uint32_t lag;            // steps between a score tile and its use by the second product
  uint32_t depth;          // slots of each hand-over buffer, at least lag + 1
  uint32_t key_chunk;      // keys, and values, the cube core takes at a time
  uint32_t kv_slots;       // chunks of keys, and of values, it holds in L1
  uint32_t product_slots;  // products it holds in L0C
  uint32_t softmax_rows;   // rows the vector cores normalise at a time
  uint32_t output_rows;    // rows of the accumulator they update at a time
  uint32_t vector_bytes;   // what a vector core takes of its unified buffer
  uint32_t groups;         // core groups that take part

  uint32_t piece_keys;    // keys fetched at a time when tasks have bands; 0: they have none
  uint32_t weight_slots;  // slices of weights, or results, a vector core holds
  FlashAttentionReferenced referenced;

  // What happens to the scores; absent terms cost nothing.
  float scale;
  float softcap;  // 0: none
  uint32_t has_bias;
  uint32_t has_mask;
  uint32_t has_alibi;
  uint32_t alibi_batch_stride;  // 0: the same slopes for every batch

  // Coupled cores.
  uint32_t cube_bytes;   // of L1
  uint32_t fewest_rows;  // in a head's last task; the one before lends them
  uint32_t
      head_by_head;  // 1: the tasks of a head follow each other, which share its keys in the L2
};

#endif  // ASCENDFA_FLASH_ATTENTION_TILING_H
