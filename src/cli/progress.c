/* progress.c - throttled: the engine tells after every block of rows, people read slower. */
#include "cli/progress.h"

#include "base/buf.h"
#include "base/list.h"

#include <math.h>
#include <pthread.h>

#define REDRAW_NS INT64_C(200000000)
#define LINE_NS   INT64_C(10000000000)

/* A stream that told of a step, for its log lines. */
typedef struct Teller {
    Str     name;
    int64_t shown_ns;
} Teller;

struct ProgressLine {
    Log            *log;
    Clock          *clock;
    Arena          *arena;
    bool            is_terminal;
    pthread_mutex_t lock; /* guards what follows */
    LIST(Teller) tellers;
    bool    is_drawn;
    Str     drawn; /* whose step the terminal shows */
    int64_t drawn_ns;
};

ProgressLine *progress_new(Log *log, Clock *clock, bool is_terminal)
{
    Arena        *arena = arena_new();
    ProgressLine *line  = ARENA_NEW(arena, ProgressLine);

    line->log         = log;
    line->clock       = clock;
    line->arena       = arena;
    line->is_terminal = is_terminal;
    (void)pthread_mutex_init(&line->lock, NULL);
    return line;
}

void progress_close(ProgressLine *line)
{
    if (!line) return;
    log_set_status_line(line->log, STR_EMPTY);
    (void)pthread_mutex_destroy(&line->lock);
    arena_close(line->arena);
}

static Teller *find_teller(ProgressLine *line, Str name)
{
    Teller *teller;

    for (size_t i = 0; i < line->tellers.count; i++)
        if (str_equal(line->tellers.items[i].name, name)) return &line->tellers.items[i];
    teller  = LIST_PUSH(line->arena, &line->tellers);
    *teller = (Teller){.name = str_copy(line->arena, name), .shown_ns = INT64_MIN};
    return teller;
}

/* "12/40 chunks, wave 3: ": where a snapshot stands that is read in waves */
static void describe_chunks(Buf *buf, const ChunkProgress *chunks)
{
    buf_printf(buf, "%lld/%lld chunks, wave %lld: ", (long long)chunks->done,
               (long long)chunks->total, (long long)chunks->wave);
}

/* How much of what is meant to be done is left: of the whole snapshot where the step is a wave of it. */
static int64_t left_of(const Progress *now)
{
    return MAX(0, now->chunks ? now->chunks->rows_left - now->done : now->total - now->done);
}

/* "dbo_orders snapshot: 1200/5000 rows, 600 rows/s, 1.2 MB/s, ETA 6 s" */
static Str describe(const Progress *now, int64_t now_ns, Arena *arena)
{
    double seconds = (double)(now_ns - now->began_ns) / 1e9;
    double rate    = seconds > 0 ? (double)now->done / seconds : 0;
    Buf    buf     = buf_new(arena, 0);

    buf_printf(&buf, "%.*s %s", STR_ARG(now->name), now->what);
    if (now->done == 0 && now->total == 0 && !now->chunks) return buf_str(&buf);
    buf_append_c(&buf, ": ");
    if (now->chunks) describe_chunks(&buf, now->chunks);
    buf_printf(&buf, "%lld", (long long)now->done);
    if (now->total > 0) buf_printf(&buf, "/%lld", (long long)now->total);
    buf_printf(&buf, " %s", now->unit);
    if (rate > 0) buf_printf(&buf, ", %.0f %s/s", rate, now->unit);
    if (seconds > 0 && now->bytes > 0)
        buf_printf(&buf, ", %.1f MB/s", (double)now->bytes / 1e6 / seconds);
    if (left_of(now) > 0 && rate > 0) buf_printf(&buf, ", ETA %.0f s", (double)left_of(now) / rate);
    if (now->chunks && now->chunks->headroom_hours.is_set)
        buf_printf(&buf, ", headroom %.1f h", fmax(0, now->chunks->headroom_hours.value));
    return buf_str(&buf);
}

/* One line for all streams: whoever tells when it is due has it; the end of that step takes it
 * away. */
static void draw(ProgressLine *line, Teller *teller, const Progress *now, int64_t now_ns)
{
    Arena *scratch;

    if (now->is_over) {
        if (!line->is_drawn || !str_equal(line->drawn, now->name)) return;
        line->is_drawn = false;
        log_set_status_line(line->log, STR_EMPTY);
        return;
    }
    if (line->is_drawn && now_ns - line->drawn_ns < REDRAW_NS) return;
    scratch        = arena_new();
    line->is_drawn = true;
    line->drawn    = teller->name;
    line->drawn_ns = now_ns;
    log_set_status_line(line->log, describe(now, now_ns, scratch));
    arena_close(scratch);
}

static void print(ProgressLine *line, Teller *teller, const Progress *now, int64_t now_ns)
{
    /* a snapshot's waves are short, and follow each other for hours */
    int64_t began_ns = now->chunks ? now->chunks->began_ns : now->began_ns;
    Arena  *scratch;

    if (now->is_over || now_ns - MAX(teller->shown_ns, began_ns) < LINE_NS) return;
    scratch          = arena_new();
    teller->shown_ns = now_ns;
    log_info(line->log, "progress", "still at work",
             LOG_STR("progress", describe(now, now_ns, scratch)));
    arena_close(scratch);
}

void progress_show(void *arg, const Progress *now)
{
    ProgressLine *line   = arg;
    int64_t       now_ns = clock_monotonic_ns(line->clock);
    Teller       *teller;

    (void)pthread_mutex_lock(&line->lock);
    teller = find_teller(line, now->name);
    if (line->is_terminal)
        draw(line, teller, now, now_ns);
    else
        print(line, teller, now, now_ns);
    (void)pthread_mutex_unlock(&line->lock);
}
