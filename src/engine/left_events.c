/* left_events.c - reads the waiting files once a run and follows each until its event is in. */
#include "engine/left_events.h"

#define FOLDER "_mssql_cdc_metrics"

static bool read_folder(Stream *stream, Str folder, Err *err)
{
    EventFile *files, *all;
    size_t     count;

    if (!event_files_read(stream->env->store, folder, stream->env->log, stream->arena, &files,
                          &count, err))
        return false;
    all = ARENA_ARRAY(stream->arena, EventFile, stream->event_count + count + 1);
    for (size_t i = 0; i < stream->event_count; i++)
        all[i] = stream->events[i];
    for (size_t i = 0; i < count; i++)
        all[stream->event_count + i] = files[i];
    stream->events = all;
    stream->event_count += count;
    return true;
}

/* The library's folder is below the checkpoint, unless it was given another. */
static bool read_once(Stream *stream, Err *err)
{
    Arena *arena = stream->arena;
    Str    given = stream->options->library_metrics;

    if (stream->has_read_events) return true;
    stream->has_read_events =
        read_folder(stream, store_join(arena, checkpoint_get_path(stream->checkpoint), STR(FOLDER)),
                    err) &&
        (given.len == 0 || read_folder(stream, store_join(arena, given, stream->sink_id), err));
    if (!stream->has_read_events) stream->event_count = 0;
    return stream->has_read_events;
}

static bool is_among(const FactsRow *rows, size_t count, const FactsRow *row)
{
    for (size_t i = 0; i < count; i++)
        if (event_is_same(&rows[i], row)) return true;
    return false;
}

/* A run that wrote it may have died before it removed the file. */
static bool is_in_facts(Stream *stream, const FactsRow *row, bool *out, Err *err)
{
    Arena    *scratch = arena_new();
    FactsRow *rows;
    size_t    count;
    bool      ok = facts_find_events(stream->facts, stream->sink_id, row->event, row->max_lsn.lsn,
                                     scratch, &rows, &count, err);

    *out = ok && is_among(rows, count, row);
    arena_close(scratch);
    return ok;
}

bool left_events_find(Stream *stream, const FactsRow *own, size_t own_count, Arena *arena,
                      FactsRow **out, size_t *count_out, Err *err)
{
    size_t count = 0;

    *count_out = 0;
    if (!read_once(stream, err)) return false;
    *out = ARENA_ARRAY(arena, FactsRow, stream->event_count + 1);
    for (size_t i = 0; i < stream->event_count; i++) {
        EventFile *file = &stream->events[i];

        if (!is_in_facts(stream, &file->row, &file->is_written, err)) return false;
        if (file->is_written || is_among(own, own_count, &file->row)) continue;
        (*out)[count]          = file->row;
        (*out)[count].app_id   = stream->sink_id;
        (*out)[count].batch_id = OPT_I64(stream->next_batch);
        (*out)[count++].target = stream->options->bronze.label;
    }
    *count_out = count;
    return true;
}

void left_events_settle(Stream *stream, bool was_written)
{
    size_t kept = 0;

    for (size_t i = 0; i < stream->event_count; i++) {
        EventFile *file = &stream->events[i];
        Err        why  = ERR_INIT;

        if (!file->is_written && !was_written) {
            stream->events[kept++] = *file;
            continue;
        }
        /* One that stays is found in the facts by the next run. */
        if (!store_remove(stream->env->store, file->path, &why))
            log_warn(stream->env->log, "stream", "an event file could not be removed",
                     LOG_STR("file", file->path), LOG_TEXT("error", why.message));
        else
            log_info(stream->env->log, "stream", "an event the peer library left was written",
                     LOG_STR("stream", stream->options->capture_instance),
                     LOG_STR("event", file->row.event), LOG_LSN("lsn", file->row.max_lsn.lsn));
    }
    stream->event_count = kept;
}
