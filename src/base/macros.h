/* macros.h - compiler attributes every module uses. */
#ifndef TIDELAKE_BASE_MACROS_H
#define TIDELAKE_BASE_MACROS_H

#define MUST_CHECK              __attribute__((warn_unused_result))
#define PRINTF(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#define NORETURN                __attribute__((noreturn))
#define UNUSED                  __attribute__((unused))

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define MIN(a, b)       ((a) < (b) ? (a) : (b))
#define MAX(a, b)       ((a) > (b) ? (a) : (b))

#endif
