/* What SQL Server says of an error besides its text: severity, state and whether the batch goes on
 * (sqlserver.md 2.5). */
#include "sim/value/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct KnownError {
    int32_t number;
    uint8_t severity;
    uint8_t state;
    uint8_t flags;
} KnownError;

enum { ENDS_BATCH = 1, ROLLS_BACK = 2 };

/* clang-format off */
static const KnownError known_errors[] = { /* by number */
    {  102, 15,   1, ENDS_BATCH},  {  103, 15,   4, ENDS_BATCH},  {  105, 15,   1, ENDS_BATCH},
    {  107, 15,   1, ENDS_BATCH},  {  108, 15,   1, ENDS_BATCH},  {  109, 15,   1, ENDS_BATCH},
    {  110, 15,   1, ENDS_BATCH},  {  111, 15,   1, ENDS_BATCH},  {  113, 15,   1, ENDS_BATCH},
    {  116, 16,   1, ENDS_BATCH},  {  117, 15,   1, ENDS_BATCH},  {  119, 15,   1, ENDS_BATCH},
    {  120, 15,   1, ENDS_BATCH},  {  121, 15,   1, ENDS_BATCH},  {  125, 15,   4, ENDS_BATCH},
    {  127, 15,   1, ENDS_BATCH},  {  128, 15,   1, ENDS_BATCH},  {  130, 16,   1, ENDS_BATCH},
    {  131, 15,   3, ENDS_BATCH},  {  132, 15,   1, ENDS_BATCH},  {  133, 15,   1, ENDS_BATCH},
    {  134, 15,   1, ENDS_BATCH},  {  135, 15,   1, ENDS_BATCH},  {  136, 15,   1, ENDS_BATCH},
    {  137, 15,   2, ENDS_BATCH},  {  139, 15,   1, ENDS_BATCH},  {  141, 15,   1, ENDS_BATCH},
    {  144, 15,   1, ENDS_BATCH},  {  145, 15,   1, ENDS_BATCH},  {  147, 15,   1, ENDS_BATCH},
    {  148, 15,   1, ENDS_BATCH},  {  155, 15,   1, ENDS_BATCH},  {  156, 15,   1, ENDS_BATCH},
    {  157, 15,   1, ENDS_BATCH},  {  164, 15,   1, ENDS_BATCH},  {  166, 15,   1, ENDS_BATCH},
    {  168, 15,   1, ENDS_BATCH},  {  170, 15,   1, ENDS_BATCH},  {  173, 15,   1, ENDS_BATCH},
    {  174, 15,   1, ENDS_BATCH},  {  178, 15,   1, ENDS_BATCH},  {  179, 15,   1, ENDS_BATCH},
    {  180, 15,   1, ENDS_BATCH},
    {  185, 15,   1, ENDS_BATCH},  {  187, 15,   1, ENDS_BATCH},  {  189, 15,   1, ENDS_BATCH},
    {  191, 15,   1, ENDS_BATCH},  {  192, 16,   1, ENDS_BATCH},  {  193, 15,   1, ENDS_BATCH},
    {  195, 15,  10, ENDS_BATCH},  {  201, 16,   4, 0},           {  205, 16,   1, ENDS_BATCH},
    {  206, 16,   2, ENDS_BATCH},  {  207, 16,   1, ENDS_BATCH},  {  208, 16,   1, ENDS_BATCH},
    {  209, 16,   1, ENDS_BATCH},  {  213, 16,   1, ENDS_BATCH},  {  214, 16,   2, 0},
    {  215, 16,   1, ENDS_BATCH},  {  217, 16,   1, ENDS_BATCH},  {  220, 16,   1, 0},
    {  226, 16,   6, ENDS_BATCH},  {  229, 14,   5, 0},           {  230, 14,   1, 0},
    {  232, 16,   1, 0},           {  235, 16,   0, 0},           {  236, 16,   1, 0},
    {  237, 16,   3, 0},           {  238, 16,   1, 0},           {  240, 16,   1, ENDS_BATCH},
    {  241, 16,   1, ENDS_BATCH},  {  242, 16,   3, ENDS_BATCH},  {  243, 16,   1, ENDS_BATCH},
    {  244, 16,   1, 0},           {  245, 16,   1, ENDS_BATCH},  {  246, 16,   1, ENDS_BATCH},
    {  248, 16,   1, 0},           {  252, 16,   1, ENDS_BATCH},  {  255, 16,   1, ENDS_BATCH},
    {  257, 16,   3, ENDS_BATCH},  {  260, 16,   1, ENDS_BATCH},  {  262, 14,   1, ENDS_BATCH},
    {  264, 16,   1, ENDS_BATCH},  {  266, 16,   2, 0},           {  271, 16,   1, ENDS_BATCH},
    {  273, 16,   1, ENDS_BATCH},  {  281, 16,   1, 0},           {  291, 16,   1, ENDS_BATCH},
    {  293, 16,   1, 0},           {  295, 16,   3, ENDS_BATCH},  {  296, 16,   3, ENDS_BATCH},
    {  297, 16,   1, ENDS_BATCH},  {  300, 14,   1, ENDS_BATCH},  {  305, 16,   1, ENDS_BATCH},
    {  306, 16,   2, ENDS_BATCH},  {  310, 15,   1, ENDS_BATCH},  {  313, 16,   3, ENDS_BATCH},
    {  332, 16,   1, ENDS_BATCH},  {  333, 16,   1, ENDS_BATCH},  {  402, 16,   1, ENDS_BATCH},
    {  403, 16,   1, ENDS_BATCH},  {  404, 16,   1, ENDS_BATCH},  {  408, 16,   1, ENDS_BATCH},
    {  421, 16,   1, ENDS_BATCH},  {  446, 16,   1, ENDS_BATCH},  {  447, 16,   0, ENDS_BATCH},
    {  448, 16,   3, ENDS_BATCH},  {  451, 16,   1, ENDS_BATCH},  {  455, 16,   1, ENDS_BATCH},
    {  457, 16,   1, ENDS_BATCH},  {  460, 16,   1, ENDS_BATCH},  {  461, 16,   1, ENDS_BATCH},
    {  462, 16,   1, ENDS_BATCH},  {  467, 16,   1, ENDS_BATCH},  {  468, 16,   9, ENDS_BATCH},
    {  505, 16,   1, 0},           {  506, 16,   1, ENDS_BATCH},  {  512, 16,   1, 0},
    {  515, 16,   2, 0},           {  517, 16,   1, 0},           {  518, 16,   1, ENDS_BATCH},
    {  529, 16,   2, ENDS_BATCH},  {  530, 16,   1, 0},           {  535, 16,   0, 0},
    {  537, 16,   2, 0},           {  544, 16,   1, ENDS_BATCH},  {  545, 16,   1, ENDS_BATCH},
    {  547, 16,   0, 0},           {  556, 16,   2, ENDS_BATCH},  {  574, 16,   0, 0},
    {  589, 15,   1, ENDS_BATCH},  {  596, 21,   1, ENDS_BATCH},  {  628, 13,   0, 0},
    {  650, 16,   1, ENDS_BATCH},  {  666, 16,   2, 0},           {  701, 17, 123, ENDS_BATCH},
    {  911, 16,   1, ENDS_BATCH},  {  913, 16,   1, 0},           {  916, 14,   2, ENDS_BATCH},
    {  921, 14,   1, ENDS_BATCH},  {  924, 14,   1, ENDS_BATCH},  {  927, 14,   2, ENDS_BATCH},
    {  942, 14,   4, ENDS_BATCH},  {  976, 14,   1, ENDS_BATCH},  { 1001, 16,   1, ENDS_BATCH},
    { 1002, 15,   1, ENDS_BATCH},  { 1007, 15,   1, ENDS_BATCH},  { 1011, 16,   1, ENDS_BATCH},
    { 1013, 16,   1, ENDS_BATCH},  { 1014, 15,   1, ENDS_BATCH},  { 1018, 15,   1, ENDS_BATCH},
    { 1023, 15,   1, ENDS_BATCH},  { 1031, 15,   1, ENDS_BATCH},  { 1032, 15,   1, ENDS_BATCH},
    { 1033, 15,   1, ENDS_BATCH},  { 1034, 15,   1, ENDS_BATCH},  { 1035, 15,  10, ENDS_BATCH},
    { 1038, 15,   4, ENDS_BATCH},  { 1043, 15,   1, ENDS_BATCH},  { 1046, 15,   1, ENDS_BATCH},
    { 1047, 15,   1, ENDS_BATCH},
    { 1056, 15,   1, ENDS_BATCH},
    { 1060, 15,   1, 0},           { 1062, 15,   1, ENDS_BATCH},
    { 1063, 16,   1, ENDS_BATCH},  { 1065, 15,   1, ENDS_BATCH},  { 1068, 15,   1, ENDS_BATCH},
    { 1080, 15,   1, ENDS_BATCH},
    { 1088, 16,  11, ENDS_BATCH},  { 1105, 17,   2, ENDS_BATCH},  { 1204, 19,   4, ENDS_BATCH},
    { 1205, 13,  51, ENDS_BATCH | ROLLS_BACK},  { 1222, 16,  45, 0},
    { 1505, 16,   1, 0},
    { 1701, 16,   1, 0},
    { 1702, 16,   1, 0},
    { 1750, 16,   0, 0},           { 1752, 16,   0, 0},
    { 1753, 16,   0, 0},           { 1754, 16,   0, 0},           { 1767, 16,   0, 0},
    { 1769, 16,   1, 0},           { 1770, 16,   0, 0},           { 1773, 16,   0, 0},
    { 1776, 16,   0, 0},           { 1778, 16,   0, 0},           { 1779, 16,   0, 0},
    { 1781, 16,   1, 0},           { 1785, 16,   0, 0},           { 1801, 16,   3, 0},
    { 1807, 16,   3, 0},           { 1902, 16,   3, 0},           { 1904, 16,   1, 0},
    { 1909, 16,   1, 0},           { 1911, 16,   1, ENDS_BATCH},  { 1913, 16,   1, 0},
    { 1919, 16,   1, 0},           { 1945, 16,   1, 0},           { 2010, 16,   1, ENDS_BATCH},
    { 2533, 16,   1, 0},           { 2556, 16,   1, 0},           { 2560, 16,   9, 0},
    { 2571, 14,   3, 0},           { 2601, 14,   1, 0},           { 2627, 14,   1, 0},
    { 2628, 16,   1, 0},           { 2705, 16,   3, ENDS_BATCH},  { 2714, 16,   6, ENDS_BATCH},
    { 2715, 16,   6, ENDS_BATCH},  { 2717, 16,   1, ENDS_BATCH},  { 2724, 15,   1, ENDS_BATCH},
    { 2727, 16,   1, ENDS_BATCH},
    { 2732, 16,   1, 0},
    { 2738, 16,   2, ENDS_BATCH},  { 2741, 16,   1, 0},
    { 2744, 16,   2, ENDS_BATCH},
    { 2747, 16,   1, 0},
    { 2748, 16,   1, 0},           { 2749, 16,   2, 0},
    { 2750, 16,   1, ENDS_BATCH},  { 2751, 16,   1, ENDS_BATCH},
    { 2753, 16,   1, ENDS_BATCH},
    { 2754, 16,   1, 0},
    { 2760, 16,   1, ENDS_BATCH},
    { 2775, 16,   1, 0},
    { 2786, 16,   1, 0},
    { 2787, 16,   1, 0},
    { 2809, 18,   1, 0},           { 2812, 16,  62, 0},
    { 3609, 16,   1, ENDS_BATCH},  { 3616, 16,   1, ENDS_BATCH},  { 3621,  0,   0, 0},
    { 3623, 16,   1, 0},           { 3701, 11,   5, 0},           { 3702, 16,   3, 0},
    { 3705, 16,   1, 0},           { 3723, 16,   4, 0},           { 3725, 16,   0, 0},
    { 3726, 16,   1, 0},           { 3727, 16,   0, 0},           { 3728, 16,   1, 0},
    { 3729, 16,   1, 0},           { 3732, 16,   1, 0},           { 3733, 16,   2, 0},
    { 3902, 16,   1, 0},           { 3903, 16,   1, 0},           { 3906, 16,   1, ENDS_BATCH},
    { 3908, 16,   1, 0},           { 3915, 16,   0, 0},           { 3916, 16,   0, 0},
    { 3930, 16,   1, ENDS_BATCH},  { 3931, 16,   1, 0},           { 3951, 16,   1, ENDS_BATCH},
    { 3952, 16,   1, ENDS_BATCH},  { 3954, 16,   1, ENDS_BATCH},  { 3956, 16,   1, ENDS_BATCH},
    { 3960, 16,   2, ENDS_BATCH | ROLLS_BACK},  { 3961, 16,   1, ENDS_BATCH},
    { 3964, 16,   1, ENDS_BATCH},  { 3971, 16,   1, ENDS_BATCH},  { 3989, 16,   1, ENDS_BATCH},
    { 3998, 16,   1, 0},           { 4060, 11,   1, ENDS_BATCH},  { 4064, 11,   1, ENDS_BATCH},
    { 4104, 16,   1, ENDS_BATCH},  { 4108, 15,   1, ENDS_BATCH},  { 4112, 15,   1, ENDS_BATCH},
    { 4113, 15,   1, ENDS_BATCH},  { 4121, 16,   1, ENDS_BATCH},  { 4127, 16,   1, 0},
    { 4145, 15,   1, ENDS_BATCH},  { 4193, 15,   1, ENDS_BATCH},  { 4194, 16,   1, ENDS_BATCH},
    { 4406, 16,   1, 0},           { 4502, 16,   1, 0},           { 4506, 16,   1, 0},
    { 4511, 16,   1, ENDS_BATCH},  { 4701, 16,   1, 0},           { 4711, 16,   1, 0},
    { 4712, 16,   1, 0},           { 4901, 16,   1, 0},           { 4902, 16,   1, ENDS_BATCH},
    { 4915, 16,   1, 0},           { 4916, 16,   0, 0},           { 4917, 16,   0, 0},
    { 4922, 16,   9, 0},           { 4923, 16,   1, 0},           { 4924, 16,   1, ENDS_BATCH},
    { 4925, 16,   1, 0},           { 4928, 16,   1, 0},           { 5011, 14,   5, 0},
    { 5069, 16,   1, 0},           { 5070, 16,   1, 0},           { 5074, 16,   1, 0},
    { 5324, 15,   1, ENDS_BATCH},  { 5701, 10,   2, 0},           { 5703, 10,   1, 0},
    { 6005, 10,   1, 0},           { 6101, 16,   1, 0},           { 6102, 14,   1, 0},
    { 6104, 16,   1, 0},           { 6106, 16,   1, 0},           { 6335, 16,   1, ENDS_BATCH},
    { 6359, 16,   1, ENDS_BATCH},  { 6401, 16,   1, 0},
    { 7119, 16,   1, 0},
    { 7202, 11,   2, ENDS_BATCH},  { 8003, 16,   1, ENDS_BATCH},  { 8009, 16,   1, ENDS_BATCH},
    { 8016, 16,   1, ENDS_BATCH},  { 8023, 16,   4, ENDS_BATCH},  { 8101, 16,   1, ENDS_BATCH},
    { 8102, 16,   1, ENDS_BATCH},  { 8106, 16,   1, 0},           { 8107, 16,   1, 0},
    { 8110, 16,   0, 0},           { 8111, 16,   1, 0},           { 8114, 16,   5, ENDS_BATCH},
    { 8115, 16,   2, 0},           { 8116, 16,   1, ENDS_BATCH},  { 8117, 16,   1, ENDS_BATCH},
    { 8118, 16,   1, ENDS_BATCH},  { 8120, 16,   1, ENDS_BATCH},  { 8121, 16,   1, ENDS_BATCH},
    { 8127, 16,   1, ENDS_BATCH},  { 8133, 16,   1, ENDS_BATCH},  { 8134, 16,   1, 0},
    { 8139, 16,   0, 0},           { 8143, 16,   1, 0},           { 8144, 16,   2, 0},
    { 8145, 16,   2, 0},           { 8146, 16,   2, 0},           { 8152, 16,  14, 0},
    { 8153, 10,   1, 0},           { 8154, 15,   1, ENDS_BATCH},  { 8155, 16,   2, ENDS_BATCH},
    { 8156, 16,   1, ENDS_BATCH},  { 8158, 16,   1, ENDS_BATCH},  { 8159, 16,   1, ENDS_BATCH},
    { 8162, 16,   2, 0},           { 8164, 16,   1, 0},           { 8168, 16,   0, 0},
    { 8169, 16,   2, ENDS_BATCH},  { 8170, 16,   2, 0},           { 8178, 16,   1, 0},
    { 8179, 16,   2, ENDS_BATCH},  { 8180, 16,   1, 0},           { 8623, 16,   1, ENDS_BATCH},
    { 8631, 17,   1, ENDS_BATCH},  { 8645, 17,   1, ENDS_BATCH},  { 8672, 16,   1, 0},
    { 8730, 16,   1, 0},
    { 9400, 16,   1, ENDS_BATCH},  { 9402, 16,   1, ENDS_BATCH},  { 9410, 16,   1, ENDS_BATCH},
    { 9411, 16,   1, ENDS_BATCH},  { 9412, 16,   1, ENDS_BATCH},  { 9413, 16,   1, ENDS_BATCH},
    { 9414, 16,   1, ENDS_BATCH},  { 9416, 16,   1, ENDS_BATCH},  { 9420, 16,   1, ENDS_BATCH},
    { 9421, 16,   1, ENDS_BATCH},  { 9422, 16,   1, ENDS_BATCH},  { 9424, 16,   1, ENDS_BATCH},
    { 9436, 16,   1, ENDS_BATCH},  { 9437, 16,   1, ENDS_BATCH},  { 9438, 16,   1, ENDS_BATCH},
    { 9441, 16,   1, ENDS_BATCH},  { 9448, 16,   1, ENDS_BATCH},  { 9455, 16,   1, ENDS_BATCH},
    { 9456, 16,   1, ENDS_BATCH},  { 9459, 16,   1, ENDS_BATCH},
    { 9809, 16,   1, ENDS_BATCH},  { 9810, 16,   1, ENDS_BATCH},
    { 9812, 16,   1, ENDS_BATCH},  { 9819, 16,   1, ENDS_BATCH},  { 9820, 16,   1, ENDS_BATCH},
    {10700, 16,   1, ENDS_BATCH},  {10702, 16,   1, ENDS_BATCH},  {10704, 15,   1, ENDS_BATCH},
    {10709, 16,   1, ENDS_BATCH},  {10710, 15,   1, ENDS_BATCH},  {10711, 15,   1, ENDS_BATCH},
    {10713, 15,   1, ENDS_BATCH},  {10714, 15,   1, ENDS_BATCH},  {10716, 15,   1, ENDS_BATCH},
    {10738, 15,   1, ENDS_BATCH},
    {10741, 15,   2, ENDS_BATCH},  {10742, 15,   1, ENDS_BATCH},  {10743, 15,   1, ENDS_BATCH},
    {10744, 15,   1, ENDS_BATCH},  {10752, 15,   1, ENDS_BATCH},  {10753, 15,   1, ENDS_BATCH},
    {10755, 15,   1, ENDS_BATCH},  {10756, 15,   1, ENDS_BATCH},  {10794, 16,  90, ENDS_BATCH},
    {11501, 16,   2, ENDS_BATCH},  {11502, 16,   1, ENDS_BATCH},  {11513, 16,   1, ENDS_BATCH},
    {15007, 16,   1, 0},           {15009, 16,   1, 0},           {15023, 16,   1, 0},
    {15025, 16,   1, 0},           {15138, 16,   1, 0},           {15139, 16,   1, 0},
    {15150, 16,   1, 0},           {15151, 16,   1, 0},           {15247, 16,   1, 0},
    {15401, 16,   1, 0},           {15404, 16,  11, ENDS_BATCH},  {15406, 16,   1, ENDS_BATCH},
    {15434, 16,   1, 0},           {15447, 16,   1, 0},           {15517, 16,   1, ENDS_BATCH},
    {15530, 16,   1, 0},           {16905, 16,   1, 0},           {16911, 16,   1, 0},
    {16915, 16,   1, 0},           {16916, 16,   1, 0},           {16917, 16,   2, 0},
    {16924, 16,   1, 0},           {16929, 16,   1, 0},           {18054, 16,   1, 0},
    {18401, 14,   1, ENDS_BATCH},  {18452, 14,   1, ENDS_BATCH},  {18456, 14,   1, ENDS_BATCH},
    {22838, 16,   1, 0},           {22850, 16,   1, 0},           {22854, 16,   1, 0},
    {22901, 16,   1, 0},           {22902, 16,   1, 0},           {22903, 16,   1, 0},
    {22904, 16,   1, 0},           {22905, 16,   1, 0},           {22981, 16,   1, 0},
    {35100, 16,  10, ENDS_BATCH},
    {40613, 14,   1, ENDS_BATCH},  {50000, 16,   1, 0},           {50001, 16,   1, ENDS_BATCH},
};
/* clang-format on */

static const KnownError *find_known(int32_t number)
{
    size_t lo = 0;
    size_t hi = COUNT_OF(known_errors);

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (known_errors[middle].number == number) return &known_errors[middle];
        if (known_errors[middle].number < number)
            lo = middle + 1;
        else
            hi = middle;
    }
    return NULL;
}

/* Cuts a UTF-8 sequence that lost its end to the size of the buffer. */
static void trim_incomplete(char *text)
{
    size_t len  = strlen(text);
    size_t back = 0;

    while (back < len && back < 3 && ((unsigned char)text[len - 1 - back] & 0xC0U) == 0x80U)
        back++;
    if (back >= len) return;
    unsigned char lead = (unsigned char)text[len - 1 - back];
    size_t        want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (want > back + 1) text[len - 1 - back] = '\0';
}

static void set_error(SimError *error, int32_t number, const char *fmt, va_list args) PRINTF(3, 0);
static void set_error(SimError *error, int32_t number, const char *fmt, va_list args)
{
    const KnownError *known = find_known(number);

    *error = (SimError){.number     = number,
                        .severity   = known != NULL ? known->severity : 16,
                        .state      = known != NULL ? known->state : 1,
                        .ends_batch = known != NULL && (known->flags & ENDS_BATCH) != 0,
                        .rolls_back = known != NULL && (known->flags & ROLLS_BACK) != 0};
    (void)vsnprintf(error->message, sizeof error->message, fmt, args);
    trim_incomplete(error->message);
}

bool sim_error(SimError *error, int32_t number, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    set_error(error, number, fmt, args);
    va_end(args);
    return false;
}

bool sim_not_supported(SimError *error, const char *fmt, ...)
{
    char    what[512];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    trim_incomplete(what);
    return sim_error(error, SIM_NOT_SUPPORTED, "tidesim: %s is not supported", what);
}

Str sim_error_text(const SimError *error)
{
    return str_is_empty(error->long_message) ? str_from_c(error->message) : error->long_message;
}

bool sim_error_is_of_compiling(int32_t number)
{
    static const int32_t numbers[] = {205,  206,  207,  208,  209,  213,  305,  306,  402,
                                      448,  468,  1011, 1087, 4104, 4121, 8101, 8102, 8116,
                                      8117, 8118, 8120, 8121, 8155, 8156, 8158, 8159, 10709};
    const KnownError    *known     = find_known(number);

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (numbers[i] == number) return true;
    return known != NULL && known->severity == 15 && number < 10000;
}
