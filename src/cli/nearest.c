/* nearest.c - edit distance over short words; '-' and '_' are the same. */
#include "cli/nearest.h"

#define LONGEST 64

static bool same(char left, char right)
{
    if (left == '_') left = '-';
    if (right == '_') right = '-';
    return left == right;
}

/* The start of a word stands for the word, however much is missing. */
static bool begins_with(Str word, Str start)
{
    size_t i = 0;

    while (i < start.len && i < word.len && same(word.ptr[i], start.ptr[i]))
        i++;
    return i == start.len && start.len > 2;
}

static size_t edit_distance(Str left, Str right)
{
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= right.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= left.len; i++) {
        size_t diagonal = row[0];
        row[0]          = i;
        for (size_t j = 1; j <= right.len; j++) {
            size_t above = row[j];
            size_t best  = diagonal + (same(left.ptr[i - 1], right.ptr[j - 1]) ? 0 : 1);
            best         = MIN(best, above + 1);
            row[j]       = MIN(best, row[j - 1] + 1);
            diagonal     = above;
        }
    }
    return row[right.len];
}

Nearest nearest_to(Str wanted)
{
    return (Nearest){.wanted = wanted, .distance = wanted.len / 2 + 2};
}

void nearest_offer(Nearest *nearest, Str candidate)
{
    size_t distance;

    if (nearest->wanted.len > LONGEST || candidate.len > LONGEST) return;
    distance = begins_with(candidate, nearest->wanted) ? 1
                                                       : edit_distance(nearest->wanted, candidate);
    if (distance >= nearest->distance) return;
    nearest->distance = distance;
    nearest->best     = candidate;
}
