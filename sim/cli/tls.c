/* tls.c - the certificate that tidesim serve shows its clients. */
#define _GNU_SOURCE
#include "sim/cli/tls.h"

#include "base/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool write_all(int fd, Str text)
{
    for (size_t at = 0; at < text.len;) {
        ssize_t written = write(fd, text.ptr + at, text.len - at);
        if (written < 0 && errno != EINTR) return false;
        at += written < 0 ? 0 : (size_t)written;
    }
    return true;
}

static bool write_certificate(CliTls *tls, Arena *arena, Err *err)
{
    static const char suffix[] = ".pem";
    Str               folder;
    char             *path;
    int               fd;
    bool              ok;

    if (!environment_find("TMPDIR", &folder) || folder.len == 0) folder = STR("/tmp");
    path = ARENA_ARRAY(arena, char, folder.len + 40);
    (void)snprintf(path, folder.len + 40, "%.*s/tidesim-XXXXXX%s", STR_ARG(folder), suffix);
    fd = mkostemps(path, sizeof suffix - 1, O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, ERR_FAILED, errno, "the certificate cannot be written to %.*s",
                             STR_ARG(folder));
    tls->path = path;
    ok        = write_all(fd, sim_tls_certificate(tls->tls)) ||
         err_set_errno(err, ERR_FAILED, errno, "%s cannot be written", path);
    (void)close(fd);
    return ok;
}

bool cli_tls_open(CliTls *tls, const CliOptions *options, Err *err)
{
    *tls = (CliTls){.path = NULL};
    if (!options->has_tls) return true;
    if (options->tls_certificate.ptr)
        return sim_tls_open_files(options->tls_certificate, options->tls_key, &tls->tls, err);
    if (!sim_tls_open_self_signed(&tls->tls, err) || !write_certificate(tls, options->arena, err))
        return false;
    (void)fprintf(stderr, "tidesim: certificate %s\n", tls->path);
    return true;
}

void cli_tls_close(CliTls *tls)
{
    if (tls->path) (void)unlink(tls->path);
    sim_tls_close(tls->tls);
}
