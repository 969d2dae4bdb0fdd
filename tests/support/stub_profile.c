/* The emulator's profiling ABI with canned answers: two launches of a kernel, 10 and 30 us. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LAUNCH(name, us, cycles, busy)                                                          \
  "{\"name\": \"" name                                                                          \
  "\", \"soc\": \"Ascend910B3\", \"source\": \"prediction\", "                                  \
  "\"predicted_us\": " us ", \"kernel_us\": 4, \"launch_us\": 6, \"cycles\": " cycles           \
  ", "                                                                                          \
  "\"clock_mhz\": 1800, \"error_band\": 0.3, \"groups\": 1, \"chip_groups\": 20, "              \
  "\"cube_utilisation\": 0.5, \"limit\": \"AIC.M\", \"pipes\": {\"AIC.M\": {\"cores\": 1, "     \
  "\"busy\": " busy                                                                             \
  ", \"busy_max\": 0.9, \"wait\": 0.1, \"instructions\": 7}}, "                                 \
  "\"bytes\": {\"GM->L1\": 4096}, \"l2\": {\"read_hit\": 1, \"read_miss\": 2, \"written\": 3, " \
  "\"write_back\": 4, \"hbm\": 6}}"

static char options[256];
static int open_session = 0;
static const char* error = "";

static size_t copy(const char* from, char* text, size_t size) {
  if (text != NULL && size > 0) snprintf(text, size, "%s", from);
  return strlen(from) + 1;
}

int davProfileBegin(const char* asked) {
  if (strstr(asked, "warp") != NULL) {
    error = "unknown cost parameter 'warp'";
    return -1;
  }
  if (open_session) {
    error = "a profiling session is already open in this process";
    return -1;
  }
  snprintf(options, sizeof options, "%s", asked);
  open_session = 1;
  return 0;
}

int davProfileEnd(void) {
  open_session = 0;
  return 0;
}

uint32_t davProfileKernelCount(void) { return 2; }

size_t davProfileSummaryJson(char* text, size_t size) {
  if (strstr(options, "cross_flag=66") != NULL) {
    return copy("{\"kernels\": [{\"name\": \"k\", \"soc\": \"x\", \"error\": \"stopped\"}]}", text,
                size);
  }
  return copy("{\"kernels\": [" LAUNCH("first", "10", "100", "0.8") ", " LAUNCH(
                  "second", "30", "300", "0.4") "], \"predicted_us\": 40}",
              text, size);
}

size_t davProfileParametersJson(char* text, size_t size) { return copy("[]", text, size); }

int davProfileWriteChromeTrace(const char* path, int64_t kernel, uint32_t groups) {
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    error = "cannot create the trace";
    return -1;
  }
  fprintf(file,
          "{\"otherData\": {\"kernel\": %d, \"groups\": %u, \"options\": \"%s\"}, "
          "\"traceEvents\": ["
          "{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": \"block 0 "
          "AIC\"}}, "
          "{\"ph\": \"M\", \"pid\": 1, \"tid\": 2, \"name\": \"thread_name\", \"args\": {\"name\": "
          "\"M\"}}, "
          "{\"ph\": \"X\", \"pid\": 1, \"tid\": 2, \"ts\": 6, \"dur\": 1, \"cat\": \"work\", "
          "\"name\": \"Mmad\", \"args\": {}}, "
          "{\"ph\": \"X\", \"pid\": 1, \"tid\": 2, \"ts\": 7, \"dur\": 2, \"cat\": \"wait\", "
          "\"name\": \"WaitFlag\", \"args\": {}}, "
          "{\"ph\": \"X\", \"pid\": 1, \"tid\": 2, \"ts\": 9, \"dur\": 1, \"cat\": \"work\", "
          "\"name\": \"Mmad\", \"args\": {}}]}",
          (int)kernel, groups, options);
  fclose(file);
  return 0;
}

size_t davProfileLastError(char* text, size_t size) { return copy(error, text, size); }
