/* nearest.h - "did you mean": the word of a list that is most like another. */
#ifndef TIDELAKE_CLI_NEAREST_H
#define TIDELAKE_CLI_NEAREST_H

#include "base/str.h"

typedef struct Nearest {
    Str    wanted;
    Str    best; /* empty until something was offered that is near enough */
    size_t distance;
} Nearest;

Nearest nearest_to(Str wanted);
void    nearest_offer(Nearest *nearest, Str candidate);

#endif
