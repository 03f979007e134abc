/* login.c - logins that fail when told to, and while the server is down. */
#include "sim/model/virtual_clock.h"
#include "sim/session/front_internal.h"

#define NS_PER_MS INT64_C(1000000)

typedef enum Names { NAMES_NOBODY, NAMES_USER, NAMES_DATABASE } Names;

typedef struct LoginError {
    int32_t     number;
    uint8_t     severity;
    Names       names; /* what stands between the two parts */
    const char *before, *after;
} LoginError;

/* clang-format off */
static const LoginError login_errors[] = {
    { 4060, 11, NAMES_DATABASE, "Cannot open database \"", "\" requested by the login. The login failed."},
    { 6005, 14, NAMES_NOBODY,   "SHUTDOWN is in progress.", ""},
    {10928, 20, NAMES_NOBODY,   "Resource ID : 1. The request limit for the database is 200 and has been reached.", ""},
    {17142, 14, NAMES_NOBODY,   "SQL Server service has been paused. No new connections will be allowed. To resume the service, use SQL Computer Manager or the Services application in Control Panel.", ""},
    {18401, 14, NAMES_USER,     "Login failed for user '", "'. Reason: Server is in script upgrade mode. Only administrator can connect at this time."},
    {18452, 14, NAMES_NOBODY,   "Login failed. The login is from an untrusted domain and cannot be used with Integrated authentication.", ""},
    {18456, 14, NAMES_USER,     "Login failed for user '", "'."},
    {18470, 14, NAMES_USER,     "Login failed for user '", "'. Reason: The account is disabled."},
    {18486, 14, NAMES_USER,     "Login failed for user '", "' because the account is currently locked out. The system administrator can unlock it."},
    {18487, 14, NAMES_USER,     "Login failed for user '", "'.  Reason: The password of the account has expired."},
    {18488, 14, NAMES_USER,     "Login failed for user '", "'.  Reason: The password of the account must be changed."},
    {40197, 20, NAMES_NOBODY,   "The service has encountered an error processing your request. Please try again.", ""},
    {40501, 20, NAMES_NOBODY,   "The service is currently busy. Retry the request after 10 seconds.", ""},
    {40613, 14, NAMES_DATABASE, "Database '", "' on server 'TIDESIM' is not currently available. Please retry the connection later."},
};
/* clang-format on */

static Str database_of(const SimLoginRequest *login)
{
    return str_is_empty(login->database) ? STR("master") : login->database;
}

static bool login_error(const SimLoginRequest *login, int32_t number, SimError *error)
{
    for (size_t i = 0; i < COUNT_OF(login_errors); i++) {
        const LoginError *known = &login_errors[i];
        Str               name  = known->names == NAMES_USER       ? login->user
                                  : known->names == NAMES_DATABASE ? database_of(login)
                                                                   : STR_EMPTY;
        if (known->number != number) continue;
        (void)sim_error(error, number, "%s%.*s%s", known->before, STR_ARG(name), known->after);
        error->severity = known->severity;
        error->state    = 1;
        return false;
    }
    return sim_error(error, number, "Login failed.");
}

/* --- while the server is down --- */

static Clock *real_clock(const Front *front)
{
    return virtual_clock_inner(front->clock);
}

static bool is_down(Front *front)
{
    int64_t until_ns = atomic_load(&front->down_until_ns);
    return until_ns != 0 && clock_monotonic_ns(real_clock(front)) < until_ns;
}

bool sim_server_is_silent(SimServer *server)
{
    Front *front = front_of(server);
    return is_down(front) && atomic_load(&front->down_is_silent);
}

/* Sessions without a socket find out at their next request. */
static void drop_sessions(Front *front, const SimSession *spared)
{
    front_lock(front);
    for (SimSession *session = front->sessions; session; session = session->next) {
        if (session == spared || session->is_aside) continue;
        if (session->wire)
            session->wire->drop(session->wire);
        else
            sim_session_hang_up(session);
    }
    front_unlock(front);
}

static void go_down(Front *front, const SimRestart *restart, const SimSession *spared)
{
    atomic_store(&front->down_is_silent, restart->is_silent);
    atomic_store(&front->down_number, restart->number != 0 ? restart->number : 18401);
    atomic_store(&front->down_until_ns,
                 restart->down_ms > 0
                     ? clock_monotonic_ns(real_clock(front)) + restart->down_ms * NS_PER_MS
                     : 0);
    drop_sessions(front, spared);
    control_release_gates(front);
}

void sim_control_restart(SimServer *server, const SimRestart *restart)
{
    go_down(front_of(server), restart, NULL);
}

bool control_restart(ProcCall *call)
{
    SimRestart restart = {.down_ms = 0};
    int64_t    number  = 0;
    Str        answer;

    if (!control_need_sysadmin(call) || !proc_i64(call, 0, &restart.down_ms) ||
        !proc_i64(call, 2, &number))
        return false;
    if (!proc_text(call, 1, &answer)) answer = STR("error");
    restart.number    = (int32_t)number;
    restart.is_silent = sim_name_equal(answer, STR("none"));
    if (!restart.is_silent && !sim_name_equal(answer, STR("error")))
        return sim_error(call->error, 50000, "While it is down the answer is error or none.");
    go_down(call->session->front, &restart, call->session);
    call->session->ends_after = true; /* it is told first */
    return true;
}

/* --- faults at logins --- */

/* Nothing comes back: what a client without a socket would be told in the end. */
static bool broken_login(SimError *error, int32_t number)
{
    (void)sim_error(error, number,
                    number == 10060 ? "The server did not answer."
                                    : "The connection was closed before the login was answered.");
    error->severity = 20;
    return false;
}

static bool act_on_login(Front *front, const SimLoginRequest *login, const SimFault *fault,
                         SimError *error)
{
    switch (fault->action) {
    case SIM_FAULT_ERROR: return fault_error(fault, error);
    case SIM_FAULT_LOGIN_ERROR:
        if (!str_is_empty(fault->text)) return fault_error(fault, error);
        (void)login_error(login, fault->number != 0 ? fault->number : 18456, error);
        if (fault->severity > 0) error->severity = (uint8_t)fault->severity;
        if (fault->state > 0) error->state = (uint8_t)fault->state;
        return false;
    case SIM_FAULT_CLOSE:
    case SIM_FAULT_RESET:
    case SIM_FAULT_HALF_CLOSE:
        if (login->wire) login->wire->cut(login->wire, fault_cut(fault->action));
        return broken_login(error, fault->action == SIM_FAULT_HALF_CLOSE ? 10060 : 10054);
    case SIM_FAULT_STALL: clock_sleep_ms(front->clock, fault->ms, login->stop); return true;
    case SIM_FAULT_LOSE_GRANT:
        return aside_run(front, NULL, database_of(login), fault->text, error);
    case SIM_FAULT_CAPTURE_STOP: {
        SimDatabase *database = sim_server_find_database(front->server, database_of(login));
        if (database) fault_stop_capture(fault, database);
        return true;
    }
    case SIM_FAULT_DEADLOCK:
    case SIM_FAULT_KILL:
    case SIM_FAULT_SLOW_ROWS:
    case SIM_FAULT_ACTION_COUNT: break; /* sim_control_fault lets none of them in */
    }
    return true;
}

bool control_login(Front *front, const SimLoginRequest *login, SimError *error)
{
    FaultOccasion occasion = {.place    = SIM_AT_LOGIN,
                              .login    = login->user,
                              .app      = login->app_name,
                              .database = database_of(login)};
    FaultEntry    entry;

    if (login->is_aside) return true;
    if (is_down(front))
        return atomic_load(&front->down_is_silent)
                   ? broken_login(error, 10060)
                   : login_error(login, atomic_load(&front->down_number), error);
    return !fault_take(front, &occasion, &entry) || act_on_login(front, login, &entry.fault, error);
}
