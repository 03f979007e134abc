/* stream_settings.h - from settings to the engine's options, with the refusals that need no look at
 * the source (algorithms.md 12.4). */
#ifndef TIDELAKE_CLI_STREAM_SETTINGS_H
#define TIDELAKE_CLI_STREAM_SETTINGS_H

#include "cli/command.h"
#include "engine/apply.h"
#include "engine/stream.h"
#include "engine/verdict.h"

/* One stream that a command was asked for. */
typedef struct ChosenStream {
    Str      name; /* the capture instance */
    Settings settings;
} ChosenStream;

/* The streams that the arguments name, or all of the file, or the one that the options describe; at
 * least one, in the invocation's arena. ERR_USAGE. */
bool choose_streams(Invocation *invocation, ChosenStream **out, size_t *count_out,
                    Err *err) MUST_CHECK;

/* What they point to lives as long as the settings and `arena`. ERR_USAGE: what is missing, what
 * excludes what, what this version cannot do. */
bool stream_options_from_settings(const Settings *settings, Arena *arena, StreamOptions *out,
                                  Err *err) MUST_CHECK;
/* Of those only what concerns the table, bronze and facts: no checkpoint is needed, and app_id with facts alone. */
bool table_options_from_settings(const Settings *settings, Arena *arena, StreamOptions *out,
                                 Err *err) MUST_CHECK;
/* Only control is needed by all. */
bool verdict_options_from_settings(const Settings *settings, Arena *arena, VerdictOptions *out,
                                   Err *err) MUST_CHECK;
/* The single stream of a command that takes one. ERR_USAGE. */
bool          choose_stream(Invocation *invocation, ChosenStream **out, Err *err) MUST_CHECK;
bool          apply_options_from_settings(const Settings *settings, Arena *arena, ApplyOptions *out,
                                          Err *err) MUST_CHECK;
SourceOptions source_options_from_settings(const Settings *settings);

#endif
