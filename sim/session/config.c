/* config.c - sp_configure and RECONFIGURE, with the options that mean something here. */
#include "sim/session/session_internal.h"

#define TEXT_REPL_OPTION "max text repl size (B)"

/* 15123, 15124: the part of a name that was given fits no option, or several. */
static bool find_option(ProcCall *call, Str part)
{
    Str option = STR(TEXT_REPL_OPTION);

    if (part.len > 0 &&
        str_find(str_lower_ascii(call->arena, option), str_lower_ascii(call->arena, part), 0) >= 0)
        return true;
    return sim_error(
        call->error, 15123,
        "The configuration option '%.*s' does not exist, or it may be an advanced option.",
        STR_ARG(part));
}

static bool show_option(ProcCall *call)
{
    static const ResultSpec specs[] = {{"name", "nvarchar(35)"},
                                       {"minimum", "int"},
                                       {"maximum", "int"},
                                       {"config_value", "int"},
                                       {"run_value", "int"}};
    SimServer              *server  = call->session->server;
    SimValue                row[] = {value_text(call->arena, STR(TEXT_REPL_OPTION)), value_int(-1),
                                     value_int(INT32_MAX), value_int(sim_server_text_repl_bytes(server, true)),
                                     value_int(sim_server_text_repl_bytes(server, false))};

    return proc_columns(call, specs, COUNT_OF(specs)) && proc_row(call, row, COUNT_OF(row)) &&
           proc_done(call, 1);
}

static bool set_option(ProcCall *call, int64_t value)
{
    SimServer *server = call->session->server;
    int64_t    before = sim_server_text_repl_bytes(server, true);

    if (!call->session->login.is_sysadmin)
        return sim_error(call->error, 15247,
                         "User does not have permission to perform this action.");
    if (value < -1 || value > INT32_MAX)
        return sim_error(call->error, 15129,
                         "'%lld' is not a valid value for configuration option '%s'.",
                         (long long)value, TEXT_REPL_OPTION);
    sim_server_set_text_repl_bytes(server, value);
    session_send_info(call->session, 15457, 0, 1, 1,
                      "Configuration option '%s' changed from %lld to %lld. Run the RECONFIGURE "
                      "statement to install.",
                      TEXT_REPL_OPTION, (long long)before, (long long)value);
    return true;
}

static bool sp_configure(ProcCall *call)
{
    const SimValue *given = proc_arg(call, 1);
    int64_t         value = 0;
    Str             name;

    if (!proc_text(call, 0, &name)) return show_option(call);
    if (!find_option(call, name) || !proc_i64(call, 1, &value)) return false;
    return given && !given->is_null ? set_option(call, value) : show_option(call);
}

bool session_reconfigure(SimSession *session, SimError *error)
{
    if (!session->login.is_sysadmin)
        return sim_error(error, 5812,
                         "You do not have permission to run the RECONFIGURE statement.");
    sim_server_install_settings(session->server);
    return true;
}

const ProcEntry config_procs[] = {
    {"sp_configure", sp_configure, "configname,configvalue"},
    {NULL, NULL, NULL},
};
