/* config.h - tidelake.yaml: read with libyaml, checked against the table of settings, an error names
 * file and line (cli.md). */
#ifndef TIDELAKE_CLI_CONFIG_H
#define TIDELAKE_CLI_CONFIG_H

#include "cli/setting.h"

typedef struct Config {
    Str       path;    /* empty: no file */
    Settings  shared;  /* source, lake and defaults */
    Settings *streams; /* of each entry, without what is shared */
    size_t    stream_count;
} Config;

/* Reads and checks the file; every value lives in `arena`. `${NAME}` in a value is filled from the
 * environment: where there is no such variable, a key among `used` (NULL: all) is an error and any
 * other stays unset. ERR_CONFIG: "tidelake.yaml:12: unknown key snapshott; did you mean snapshot?" */
bool config_read(Str path, const SettingId *used, size_t used_count, Arena *arena, Config *out,
                 Err *err) MUST_CHECK;

/* The settings of stream number `stream` (past the last: of none): its own over `shared` over
 * defaults; `options`, from the command line, over all. */
Settings config_stream(const Config *config, size_t stream, const Settings *options);

#endif
