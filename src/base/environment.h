/* environment.h - the process's surroundings that are read and nothing else: environment variables
 * and cores. */
#ifndef TIDELAKE_BASE_ENVIRONMENT_H
#define TIDELAKE_BASE_ENVIRONMENT_H

#include "base/str.h"

/* False when it is not set; borrowed from the environment. */
bool environment_find(const char *name, Str *out);
int  environment_core_count(void); /* cores this process may run on, at least 1 */

#endif
