/* progress.c - throttled; one stream's rate is measured over the time since it was first seen. */
#include "cli/progress.h"

#include "base/buf.h"

#include <pthread.h>

#define REDRAW_NS INT64_C(200000000)
#define LINE_NS   INT64_C(10000000000)
#define MAX_NAMES 64

typedef struct Seen {
    Str     name;
    int64_t began_ns, shown_ns;
} Seen;

struct Progressing {
    Log            *log;
    Clock          *clock;
    Arena          *arena;
    bool            is_terminal;
    pthread_mutex_t lock;
    Seen            seen[MAX_NAMES];
    size_t          seen_count;
};

Progressing *progress_new(Log *log, Clock *clock, bool is_terminal)
{
    Arena       *arena    = arena_new();
    Progressing *progress = ARENA_NEW(arena, Progressing);

    progress->log         = log;
    progress->clock       = clock;
    progress->arena       = arena;
    progress->is_terminal = is_terminal;
    pthread_mutex_init(&progress->lock, NULL);
    return progress;
}

void progress_close(Progressing *progress)
{
    if (!progress) return;
    log_set_status_line(progress->log, STR_EMPTY);
    pthread_mutex_destroy(&progress->lock);
    arena_close(progress->arena);
}

static Seen *find_seen(Progressing *progress, const Progress *now, int64_t now_ns)
{
    for (size_t i = 0; i < progress->seen_count; i++)
        if (str_equal(progress->seen[i].name, now->name)) return &progress->seen[i];
    if (progress->seen_count == MAX_NAMES) return NULL;
    progress->seen[progress->seen_count] = (Seen){
        .name = str_copy(progress->arena, now->name), .began_ns = now_ns, .shown_ns = now_ns};
    return &progress->seen[progress->seen_count++];
}

static Str describe(const Progress *now, double seconds, Arena *arena)
{
    double rate = seconds > 0 ? (double)now->rows / seconds : 0;
    Buf    buf  = buf_new(arena, 0);

    buf_printf(&buf, "%.*s %s: %lld", STR_ARG(now->name), now->what, (long long)now->rows);
    if (now->rows_total > 0) buf_printf(&buf, "/%lld", (long long)now->rows_total);
    buf_printf(&buf, " rows, %.0f rows/s, %.1f MB/s", rate,
               seconds > 0 ? (double)now->bytes / 1e6 / seconds : 0);
    if (now->rows_total > now->rows && rate > 0)
        buf_printf(&buf, ", ETA %.0f s", (double)(now->rows_total - now->rows) / rate);
    return buf_str(&buf);
}

void progress_show(void *arg, const Progress *now)
{
    Progressing *progress = arg;
    int64_t      now_ns   = clock_monotonic_ns(progress->clock);
    Seen        *seen;
    bool         is_first;

    pthread_mutex_lock(&progress->lock);
    is_first = progress->seen_count == 0;
    seen     = find_seen(progress, now, now_ns);
    if (seen &&
        (is_first || now_ns - seen->shown_ns >= (progress->is_terminal ? REDRAW_NS : LINE_NS))) {
        Arena *scratch = arena_new();
        Str    line    = describe(now, (double)(now_ns - seen->began_ns) / 1e9, scratch);
        seen->shown_ns = now_ns;
        if (progress->is_terminal)
            log_set_status_line(progress->log, line);
        else if (!is_first)
            log_info(progress->log, "progress", "still at work", LOG_STR("progress", line));
        arena_close(scratch);
    }
    pthread_mutex_unlock(&progress->lock);
}
