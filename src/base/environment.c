/* environment.c - getenv and the cores. */
#define _GNU_SOURCE
#include "base/environment.h"

#include <sched.h>
#include <stdlib.h>

bool environment_find(const char *name, Str *out)
{
    *out = str_from_c(getenv(name));
    return out->ptr != NULL;
}

int environment_core_count(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return MAX(CPU_COUNT(&set), 1);
}
