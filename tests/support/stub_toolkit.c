/* A toolkit that computes nothing: it counts handles, records arguments and fails on demand. The
 * three libraries are compiled from this file with PART_ACL, PART_NNOPBASE or PART_OP. */
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int stub_result(const char* function);
void stub_count(const char* kind, int by);

struct stub_call {
  double scale;
  bool causal;
  int64_t window_left, window_right;
  double softcap;
  int64_t block_m, block_n;
  bool fp32_scores;
  char layout[8];
  int64_t strided_inputs;
  int64_t rank, shape[8], strides[8];
  /* Of q, k, v, bias, mask, alibi_slopes, out, lse; -1 where there is none. */
  int dtypes[8];
};
extern struct stub_call stub_last_call;
extern uint64_t stub_workspace_size;

#ifdef PART_ACL
struct stub_call stub_last_call;
uint64_t stub_workspace_size;

enum { kKinds = 8 };
static struct { const char* name; int live, made; } kinds[kKinds] = {
    {"memory"}, {"stream"}, {"tensor"}, {"executor"}, {"init"}, {"launch"}};
static char failing[64], message[256];
static int failing_code, failing_after;
static size_t largest;
static char soc[64] = "Ascend910B3";
static int32_t device_set = -1;
static void* context;

void stub_count(const char* kind, int by) {
  for (int i = 0; i < kKinds && kinds[i].name; ++i)
    if (strcmp(kinds[i].name, kind) == 0) {
      kinds[i].live += by;
      if (by > 0) kinds[i].made += by;
    }
}
int stub_live(const char* kind) {
  for (int i = 0; i < kKinds && kinds[i].name; ++i)
    if (strcmp(kinds[i].name, kind) == 0) return kinds[i].live;
  return -1;
}
int stub_made(const char* kind) {
  for (int i = 0; i < kKinds && kinds[i].name; ++i)
    if (strcmp(kinds[i].name, kind) == 0) return kinds[i].made;
  return -1;
}
/* The (after + 1)-th call of a function returns code. */
void stub_fail(const char* function, int code, int after, const char* text) {
  strncpy(failing, function, sizeof failing - 1);
  strncpy(message, text, sizeof message - 1);
  failing_code = code;
  failing_after = after;
}
int stub_result(const char* function) {
  if (strcmp(failing, function) != 0 || failing_after-- > 0) return 0;
  return failing_code;
}
void stub_reset(void) {
  for (int i = 0; i < kKinds; ++i) kinds[i].live = kinds[i].made = 0;
  memset(failing, 0, sizeof failing);
  memset(message, 0, sizeof message);
  memset(&stub_last_call, 0, sizeof stub_last_call);
  stub_workspace_size = 0;
  largest = 0;
  device_set = -1;
  context = NULL;
  strcpy(soc, "Ascend910B3");
}
size_t stub_largest_allocation(void) { return largest; }
void stub_set_soc(const char* name) { strncpy(soc, name, sizeof soc - 1); }
void stub_set_workspace(uint64_t size) { stub_workspace_size = size; }
void stub_set_context(void* value) { context = value; }
void* stub_context(void) { return context; }
struct stub_call* stub_call_record(void) { return &stub_last_call; }

int aclInit(const char* config) {
  (void)config;
  int code = stub_result("aclInit");
  if (code == 0) stub_count("init", 1);
  return code;
}
int aclFinalize(void) { stub_count("init", -1); return 0; }
const char* aclGetRecentErrMsg(void) { return message[0] ? message : NULL; }
const char* aclrtGetSocName(void) { return soc; }
int aclrtGetDeviceCount(uint32_t* count) { *count = 1; return stub_result("aclrtGetDeviceCount"); }
int aclrtSetDevice(int32_t device) {
  int code = stub_result("aclrtSetDevice");
  if (code == 0) { device_set = device; context = &device_set; }
  return code;
}
int aclrtGetCurrentContext(void** out) {
  if (context == NULL) return 107002;
  *out = context;
  return 0;
}
int aclrtSetCurrentContext(void* value) { context = value; return 0; }
int aclrtCreateStream(void** stream) {
  int code = stub_result("aclrtCreateStream");
  if (code != 0) return code;
  *stream = malloc(1);
  stub_count("stream", 1);
  return 0;
}
int aclrtDestroyStream(void* stream) {
  free(stream);
  stub_count("stream", -1);
  return stub_result("aclrtDestroyStream");
}
int aclrtSynchronizeStream(void* stream) { (void)stream; return stub_result("aclrtSynchronizeStream"); }
int aclrtMalloc(void** out, size_t size, int policy) {
  (void)policy;
  int code = stub_result("aclrtMalloc");
  if (code != 0) return code;
  if (size > largest) largest = size;
  *out = malloc(size);
  stub_count("memory", 1);
  return 0;
}
int aclrtFree(void* pointer) {
  free(pointer);
  stub_count("memory", -1);
  return stub_result("aclrtFree");
}
int aclrtMemcpy(void* to, size_t room, const void* from, size_t size, int kind) {
  (void)kind;
  int code = stub_result("aclrtMemcpy");
  if (code != 0) return code;
  if (size > room) return 107000;
  memcpy(to, from, size);
  return 0;
}
#endif

struct tensor {
  int64_t rank, shape[8], strides[8];
  int dtype;
  void* data;
};
struct executor { struct tensor q, out, lse; bool repeatable; };

#ifdef PART_NNOPBASE
void* aclCreateTensor(const int64_t* dims, uint64_t rank, int dtype, const int64_t* strides,
                      int64_t offset, int format, const int64_t* storage, uint64_t storage_rank,
                      void* data) {
  (void)offset; (void)format; (void)storage; (void)storage_rank;
  if (stub_result("aclCreateTensor") != 0) return NULL;
  struct tensor* t = calloc(1, sizeof *t);
  t->rank = (int64_t)rank;
  memcpy(t->shape, dims, rank * sizeof *dims);
  memcpy(t->strides, strides, rank * sizeof *strides);
  t->dtype = dtype;
  t->data = data;
  stub_count("tensor", 1);
  return t;
}
int aclDestroyTensor(void* tensor) {
  free(tensor);
  stub_count("tensor", -1);
  return stub_result("aclDestroyTensor");
}
int aclSetAclOpExecutorRepeatable(struct executor* e) { e->repeatable = true; return 0; }
int aclDestroyAclOpExecutor(struct executor* e) {
  if (!e->repeatable) return 161002;
  free(e);
  stub_count("executor", -1);
  return 0;
}
#endif

#if defined(PART_OP) && !defined(WITHOUT_FIRST_PHASE)
int aclnnFlashAttentionGetWorkspaceSize(
    const struct tensor* q, const struct tensor* k, const struct tensor* v,
    const struct tensor* bias, const struct tensor* mask, const struct tensor* alibi_slopes,
    double scale, bool causal, int64_t window_left, int64_t window_right, double softcap,
    int64_t block_m, int64_t block_n, bool fp32_scores, char* layout, int64_t strided_inputs,
    const struct tensor* out, const struct tensor* lse, uint64_t* size, struct executor** result) {
  *size = stub_workspace_size;
  int code = stub_result("aclnnFlashAttentionGetWorkspaceSize");
  if (code != 0) return code;
  struct stub_call* call = &stub_last_call;
  call->scale = scale;
  call->causal = causal;
  call->window_left = window_left;
  call->window_right = window_right;
  call->softcap = softcap;
  call->block_m = block_m;
  call->block_n = block_n;
  call->fp32_scores = fp32_scores;
  strncpy(call->layout, layout, sizeof call->layout - 1);
  call->strided_inputs = strided_inputs;
  const struct tensor* shown = bias != NULL ? bias : k;
  call->rank = shown->rank;
  memcpy(call->shape, shown->shape, sizeof call->shape);
  memcpy(call->strides, shown->strides, sizeof call->strides);
  const struct tensor* all[8] = {q, k, v, bias, mask, alibi_slopes, out, lse};
  for (int i = 0; i < 8; ++i) call->dtypes[i] = all[i] != NULL ? all[i]->dtype : -1;
  struct executor* e = calloc(1, sizeof *e);
  e->q = *q;
  e->out = *out;
  e->lse = *lse;
  stub_count("executor", 1);
  *result = e;
  return 0;
}
#endif
#ifdef PART_OP
/* "Attention" that returns q, and 1.0 as every lse. */
int aclnnFlashAttention(void* workspace, uint64_t size, struct executor* e, void* stream) {
  (void)workspace; (void)size; (void)stream;
  int code = stub_result("aclnnFlashAttention");
  if (code == 0) {
    const struct tensor *q = &e->q, *lse = &e->lse;
    char* to = e->out.data;
    for (int64_t i = 0; i < q->shape[0]; ++i)
      for (int64_t j = 0; j < q->shape[1]; ++j)
        for (int64_t m = 0; m < q->shape[2]; ++m) {
          int64_t from = i * q->strides[0] + j * q->strides[1] + m * q->strides[2];
          memcpy(to, (char*)q->data + 2 * from, (size_t)q->shape[3] * 2);
          to += q->shape[3] * 2;
        }
    int64_t rows = lse->shape[0] * lse->shape[1] * lse->shape[2];
    for (int64_t i = 0; i < rows; ++i) ((float*)lse->data)[i] = 1.0f;
    stub_count("launch", 1);
  }
  free(e);
  stub_count("executor", -1);
  return code;
}
#endif
