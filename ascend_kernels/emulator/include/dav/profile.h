/* Profiling launches with the cycle model: the C ABI a front end calls. All figures are
 * predictions.
 *
 * One session at a time, for the whole process: launches of every thread and stream that end while
 * it is open are recorded. Synchronise streams before ending it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "dav/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Functions that return int give 0 on success, -1 on failure; davProfileLastError says why. */

/* Opens a session and forgets the previous one. `options` is "" or "name=value,..." with the cost
 * parameters of the model, warm_l2=1 for launches that find their data in the L2 as a repeated run
 * would, and timing_only=1 for launches that only have to be timed: they move and compute no data,
 * their outputs stay what they were, and a kernel that reads a computed value is trapped. */
DAV_API int davProfileBegin(const char* options);
/* Ends recording; what was recorded stays readable until the next begin. */
DAV_API int davProfileEnd(void);

DAV_API uint32_t davProfileKernelCount(void);
/* JSON of all launches so far: {"kernels": [...], "predicted_us": total}. Returns the bytes the
 * text needs with its terminating zero; writes at most `size` of them. */
DAV_API size_t davProfileSummaryJson(char* text, size_t size);
/* JSON list of the model's parameters with default range and source; as above. */
DAV_API size_t davProfileParametersJson(char* text, size_t size);

/* Chrome/Perfetto trace of launch number `kernel`, or of all in a row when it is negative; of the
 * first `max_groups` core groups, or of all when it is 0. */
DAV_API int davProfileWriteChromeTrace(const char* path, int64_t kernel, uint32_t max_groups);

/* Why the last call of this thread failed. */
DAV_API size_t davProfileLastError(char* text, size_t size);

#ifdef __cplusplus
}
#endif
