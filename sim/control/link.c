/* link.c - how far the clients are: which link a connection gets. The TDS server applies it. */
#include "sim/session/front_internal.h"

static LinkRule *find_rule(Front *front, Str who)
{
    for (size_t i = 0; i < front->links.count; i++)
        if (sim_name_equal(front->links.items[i].who, who)) return &front->links.items[i];
    return NULL;
}

void sim_control_link(SimServer *server, Str who, const SimLink *link)
{
    Front *front = front_of(server);

    if (sim_name_equal(who, STR("all"))) who = STR_EMPTY;
    front_lock(front);
    LinkRule *rule = find_rule(front, who);
    if (!rule) {
        rule      = LIST_PUSH(front->arena, &front->links);
        rule->who = str_copy(front->arena, who);
    }
    rule->link = *link;
    atomic_fetch_add(&front->link_version, 1);
    front_unlock(front);
}

uint32_t sim_link_version(const SimServer *server)
{
    const Front *front = sim_server_owner(server);
    return atomic_load(&front->link_version);
}

SimLink sim_link_for(SimServer *server, Str login, Str app)
{
    Front    *front = front_of(server);
    SimLink   link  = {.rtt_ms = 0};
    LinkRule *rule  = NULL;

    front_lock(front);
    if (!str_is_empty(login)) rule = find_rule(front, login);
    if (!rule && !str_is_empty(app)) rule = find_rule(front, app);
    if (!rule) rule = find_rule(front, STR_EMPTY);
    if (rule) link = rule->link;
    front_unlock(front);
    return link;
}

int64_t sim_link_jitter_ms(SimServer *server, const SimLink *link)
{
    return link->jitter_ms > 0 ? rng_between(front_of(server)->chances, 0, link->jitter_ms) : 0;
}

bool control_link(ProcCall *call)
{
    SimLink link = {.rtt_ms = 0};
    Str     who;

    if (!control_need_sysadmin(call) || !proc_i64(call, 1, &link.rtt_ms) ||
        !proc_i64(call, 2, &link.bytes_per_s) || !proc_i64(call, 3, &link.jitter_ms))
        return false;
    if (link.rtt_ms < 0 || link.bytes_per_s < 0 || link.jitter_ms < 0)
        return sim_error(call->error, 50000, "A link has no negative numbers.");
    (void)proc_text(call, 0, &who);
    sim_control_link(call->session->server, who, &link);
    return true;
}
