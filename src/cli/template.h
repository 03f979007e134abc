/* template.h - {ci}, {schema} and {table} in the names that every stream needs of its own, so that
 * `defaults` can give them for all (algorithms.md 10). */
#ifndef TIDELAKE_CLI_TEMPLATE_H
#define TIDELAKE_CLI_TEMPLATE_H

#include "cli/config.h"
#include "cli/stream_settings.h"
#include "engine/env.h"

/* Whether a text that several streams share makes a name for each: app_id and checkpoint need
 * {ci}, a table {ci} or {table}. */
bool template_tells_streams_apart(SettingId id, Str text);
/* ERR_CONFIG when `defaults` gives several streams one name, or has a word in braces that is none of the three. */
bool template_check_defaults(const Config *config, Err *err) MUST_CHECK;
/* Whether a stream's names hold {schema} or {table}, which the source has to be asked for. */
bool template_needs_source(const ChosenStream *streams, size_t count);
/* Fills the names in. `env` may be NULL when the source is not needed. ERR_CONFIG when an
 * instance's name makes no folder, or two streams come to the same name. */
bool template_fill(ChosenStream *streams, size_t count, Env *env, Arena *arena,
                   Err *err) MUST_CHECK;

#endif
