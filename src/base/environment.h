/* environment.h - the process's surroundings that are read and nothing else: environment variables, cores, terminal. */
#ifndef TIDELAKE_BASE_ENVIRONMENT_H
#define TIDELAKE_BASE_ENVIRONMENT_H

#include "base/str.h"

bool environment_find(const char *name,
                      Str        *out);   /* false when not set; borrowed from the environment */
int  environment_core_count(void); /* cores this process may run on, at least 1 */

#endif
