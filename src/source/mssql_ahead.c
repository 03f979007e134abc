/* mssql_ahead.c - what a batch's planning asks, in one request instead of one after the other.
 *
 * The order within the request is that of the questions: what must not be older than an answer
 * comes behind it. All of it is read after the batch's end was chosen, and before any of its rows. */
#include "source/mssql_internal.h"

typedef struct PlanCall {
    const PlanQuestions *plan;
} PlanCall;

/* Of a known table. An instance that is new here is asked about in its turn. */
static void add_table(const Mssql *mssql, const PlanQuestions *plan, Arena *arena,
                      Questions *questions)
{
    const CaptureTable *table = plan->table;
    Lsn                 from  = lsn_increment(plan->start); /* the server's word decides, below */

    if (mssql->last_table.len > 0)
        questions_add(questions,
                      mssql_table_question(arena, mssql->last_schema, mssql->last_table));
    for (size_t i = 0; i < table->instance_count; i++)
        questions_add(questions, mssql_ddl_question(arena, table->instances[i].name));
    questions_add(questions, mssql_next_lsn_question(arena, plan->start));
    for (size_t i = 0; i < table->instance_count; i++)
        questions_add(questions, mssql_min_lsn_question(arena, table->instances[i].name));
    if (table->instance_count != 1) return; /* where a second one cuts is not known yet */
    if (plan->tiles > 0)
        questions_add(questions, mssql_split_question(arena, table->instances[0].name, from,
                                                      plan->end, plan->tiles));
    if (plan->with_existence)
        questions_add(questions,
                      mssql_existence_question(arena, table->instances[0].name, from, plan->end));
}

static bool call_plan_ahead(Mssql *mssql, void *arg, Err *err)
{
    const PlanQuestions *plan      = ((PlanCall *)arg)->plan;
    Arena               *arena     = arena_new();
    Questions           *questions = ARENA_NEW(arena, Questions);
    bool                 ok;

    if (plan->with_end_time) questions_add_commit_time(questions, arena, &mssql->clock, plan->end);
    add_table(mssql, plan, arena, questions);
    ok = mssql_ask_ahead_on(mssql->meta, questions, err);
    arena_close(arena);
    return ok;
}

bool mssql_ask_plan_ahead(Mssql *mssql, const PlanQuestions *plan, Err *err)
{
    PlanCall call = {plan};

    for (size_t i = 0; i < plan->table->instance_count; i++) /* a name goes into Q15's text */
        if (!mssql_check_capture_instance(plan->table->instances[i].name, err)) return false;
    return mssql_retry(mssql, "plan_batch", call_plan_ahead, &call, err);
}

typedef struct EndCall {
    Lsn     after;
    int64_t commits;
} EndCall;

static bool call_end_ahead(Mssql *mssql, void *arg, Err *err)
{
    const EndCall *call      = arg;
    Arena         *arena     = arena_new();
    Questions     *questions = ARENA_NEW(arena, Questions);
    bool           ok;

    questions_add(questions, mssql_nth_commit_question(arena, call->after, call->commits));
    if (mssql->clock_is_guess) questions_add(questions, mssql_offset_question(arena));
    ok = mssql_ask_ahead_on(mssql->meta, questions, err);
    arena_close(arena);
    return ok;
}

bool mssql_ask_end_ahead(Mssql *mssql, Lsn after, int64_t commits, Err *err)
{
    EndCall call = {after, commits};

    return mssql_retry(mssql, "plan_end", call_end_ahead, &call, err);
}

typedef struct NewestCall {
    Lsn start;
} NewestCall;

static bool call_newest_ahead(Mssql *mssql, void *arg, Err *err)
{
    const NewestCall *call      = arg;
    Arena            *arena     = arena_new();
    Questions        *questions = ARENA_NEW(arena, Questions);
    bool              ok;

    questions_add(questions, mssql_max_lsn_question(arena));
    if (!lsn_is_zero(call->start) && !lsn_equal(call->start, mssql->neighbour_of))
        questions_add(questions, mssql_previous_lsn_question(arena, call->start));
    questions_add(questions, mssql_newest_commit_question(arena));
    ok = mssql_ask_ahead_on(mssql->meta, questions, err) && mssql_keep_newest_commit(mssql, err);
    arena_close(arena);
    return ok;
}

bool mssql_ask_newest_ahead(Mssql *mssql, Lsn start, Err *err)
{
    NewestCall call = {start};

    if (!mssql->meta || !mssql->meta->can_join) return true;
    return mssql_retry(mssql, "newest_lsn", call_newest_ahead, &call, err);
}

void mssql_forget_ahead(Mssql *mssql)
{
    if (mssql->meta) sqlconn_forget_ahead(mssql->meta);
}
