/* A store around another that fails or "crashes" at a chosen step, before or after the step took
 * effect (style.md 7). */
#include "base/arena.h"
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

typedef struct FaultStore {
    Store           base;
    Store          *inner;
    FaultPlan      *plan;
    pthread_mutex_t lock; /* guards the plan's counts */
} FaultStore;

typedef struct FaultStaging {
    StoreStaging  base;
    StoreStaging *inner;
    size_t        table_len;
    char          table[]; /* staging_sync has no path of its own */
} FaultStaging;

typedef enum Fate { FATE_PASSES, FATE_FAILS_BEFORE, FATE_FAILS_AFTER } Fate;

static bool refuse(const FaultPlan *plan, const char *when, const char *operation, Str path,
                   Err *err)
{
    int error = plan->error_errno != 0 ? plan->error_errno : EIO;
    return err_set_errno(err, ERR_STORE, error, "injected %s %s of %.*s", when, operation,
                         STR_ARG(path));
}

static bool is_meant(const FaultPlan *plan, Str path)
{
    return plan->only_path_containing.len == 0 ||
           str_find(path, plan->only_path_containing, 0) >= 0;
}

/* Counts the step and says what becomes of it. */
static Fate take_step(FaultStore *fault, bool counts, const char *operation, Str path)
{
    FaultPlan *plan = fault->plan;
    Fate       fate = FATE_PASSES;
    uint64_t   step = 0;
    bool       is_alive;

    (void)pthread_mutex_lock(&fault->lock);
    is_alive = !plan->has_crashed;
    if (is_alive && counts && is_meant(plan, path)) step = ++plan->step_count;
    (void)pthread_mutex_unlock(&fault->lock);
    if (step > 0 && plan->on_step) plan->on_step(plan->on_step_arg, step, operation, path);
    (void)pthread_mutex_lock(&fault->lock);
    if (!is_alive) {
        fate = FATE_FAILS_BEFORE;
    } else if (step > 0 && step == plan->fail_at_step) {
        fate = plan->after_effect ? FATE_FAILS_AFTER : FATE_FAILS_BEFORE;
        if (fate == FATE_FAILS_BEFORE) plan->has_crashed = plan->crash;
    }
    (void)pthread_mutex_unlock(&fault->lock);
    return fate;
}

/* The effect has landed; the answer may still be lost. */
static bool finish_step(FaultStore *fault, Fate fate, bool ok, const char *operation, Str path,
                        Err *err)
{
    if (fate != FATE_FAILS_AFTER) return ok;
    (void)pthread_mutex_lock(&fault->lock);
    fault->plan->has_crashed = fault->plan->crash;
    (void)pthread_mutex_unlock(&fault->lock);
    return ok ? refuse(fault->plan, "after", operation, path, err) : false;
}

/* `call` is evaluated when the step takes effect. */
#define STEP(fault, counts, operation, path, err, call)                         \
    do {                                                                        \
        Fate fate = take_step((fault), (counts), (operation), (path));          \
        if (fate == FATE_FAILS_BEFORE)                                          \
            return refuse((fault)->plan, "before", (operation), (path), (err)); \
        return finish_step((fault), fate, (call), (operation), (path), (err));  \
    } while (0)

static bool fault_read(Store *store, Str path, size_t limit_bytes, Arena *arena, Bytes *out,
                       Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, fault->plan->count_reads, "read", path, err,
         store_read(fault->inner, path, limit_bytes, arena, out, err));
}

static bool fault_stat(Store *store, Str path, StoreEntry *out, Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, fault->plan->count_reads, "stat", path, err,
         store_stat(fault->inner, path, out, err));
}

static bool fault_put_new(Store *store, Str path, Bytes data, Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, true, "put_new", path, err, store_put_new(fault->inner, path, data, err));
}

static bool fault_replace(Store *store, Str path, Bytes data, Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, true, "replace", path, err, store_replace(fault->inner, path, data, err));
}

static bool fault_list_after(Store *store, Str directory, Str after, Arena *arena, StoreList *out,
                             Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, fault->plan->count_reads, "list_after", directory, err,
         store_list_after(fault->inner, directory, after, arena, out, err));
}

static bool fault_remove(Store *store, Str path, Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, true, "remove", path, err, store_remove(fault->inner, path, err));
}

static bool fault_list_children(Store *store, Str directory, Arena *arena, StoreChildren *out,
                                Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, fault->plan->count_reads, "list_children", directory, err,
         store_list_children(fault->inner, directory, arena, out, err));
}

static bool fault_remove_directory(Store *store, Str path, bool *removed_out, Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, true, "remove_directory", path, err,
         store_remove_directory(fault->inner, path, removed_out, err));
}

static bool fault_staging_sweep(Store *store, Str table_path, bool dry_run, Arena *arena,
                                StoreDeadRuns *out, int64_t *held_out, Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, !dry_run || fault->plan->count_reads, "staging_sweep", table_path, err,
         store_staging_sweep(fault->inner, table_path, dry_run, arena, out, held_out, err));
}

static bool fault_fetch_local(Store *store, Str path, Arena *arena, Str *local_out, Err *err)
{
    FaultStore *fault = (FaultStore *)store;

    (void)pthread_mutex_lock(&fault->lock);
    fault->plan->fetch_count++;
    (void)pthread_mutex_unlock(&fault->lock);
    STEP(fault, fault->plan->count_reads, "fetch_local", path, err,
         store_fetch_local(fault->inner, path, arena, local_out, err));
}

static StoreStaging *wrap(FaultStore *fault, Str table_path, StoreStaging *inner)
{
    FaultStaging *staging = mem_alloc(sizeof(FaultStaging) + table_path.len + 1);

    staging->base.store = &fault->base;
    staging->inner      = inner;
    staging->table_len  = table_path.len;
    memcpy(staging->table, table_path.ptr, table_path.len);
    return &staging->base;
}

static bool open_inner(FaultStore *fault, Str table_path, Str purpose, Str run_id,
                       StoreStaging **out, Err *err)
{
    StoreStaging *inner = NULL;
    if (!fault->inner->staging_open(fault->inner, table_path, purpose, run_id, &inner, err))
        return false;
    *out = wrap(fault, table_path, inner);
    return true;
}

static bool fault_staging_open(Store *store, Str table_path, Str purpose, Str run_id,
                               StoreStaging **out, Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, false, "staging_open", table_path, err,
         open_inner(fault, table_path, purpose, run_id, out, err));
}

static bool fault_staging_file(StoreStaging *staging, Str name, Arena *arena, Str *local_out,
                               Err *err)
{
    StoreStaging *inner = ((FaultStaging *)staging)->inner;
    STEP((FaultStore *)staging->store, false, "staging_file", name, err,
         store_staging_file(inner, name, arena, local_out, err));
}

static bool fault_staging_publish(StoreStaging *staging, Str name, Str path, StoreEntry *out,
                                  Err *err)
{
    StoreStaging *inner = ((FaultStaging *)staging)->inner;
    STEP((FaultStore *)staging->store, true, "staging_publish", path, err,
         store_staging_publish(inner, name, path, out, err));
}

static bool fault_staging_sync(StoreStaging *staging, Err *err)
{
    FaultStaging *outer = (FaultStaging *)staging;
    Str           table = {outer->table, outer->table_len};
    STEP((FaultStore *)staging->store, true, "staging_sync", table, err,
         store_staging_sync(outer->inner, err));
}

static bool fault_staging_seal(StoreStaging *staging, const Str *names, size_t count, Str seal,
                               Bytes data, Err *err)
{
    StoreStaging *inner = ((FaultStaging *)staging)->inner;
    STEP((FaultStore *)staging->store, true, "staging_seal", seal, err,
         store_staging_seal(inner, names, count, seal, data, err));
}

static bool take_inner(FaultStore *fault, Str table_path, Str purpose, Arena *arena,
                       StoreStagings *out, Err *err)
{
    if (!fault->inner->staging_take(fault->inner, table_path, purpose, arena, out, err))
        return false;
    for (size_t i = 0; i < out->count; i++)
        out->items[i] = wrap(fault, table_path, out->items[i]);
    return true;
}

static bool fault_staging_take(Store *store, Str table_path, Str purpose, Arena *arena,
                               StoreStagings *out, Err *err)
{
    FaultStore *fault = (FaultStore *)store;
    STEP(fault, fault->plan->count_reads, "staging_take", table_path, err,
         take_inner(fault, table_path, purpose, arena, out, err));
}

static bool is_dead(FaultStore *fault)
{
    (void)pthread_mutex_lock(&fault->lock);
    bool has_crashed = fault->plan->has_crashed;
    (void)pthread_mutex_unlock(&fault->lock);
    return has_crashed;
}

static bool fault_staging_is_there(StoreStaging *staging)
{
    return !is_dead((FaultStore *)staging->store) &&
           store_staging_is_fresh(((FaultStaging *)staging)->inner);
}

/* A process that has died cleans nothing up: its lock goes, its files stay. */
static void fault_staging_close(StoreStaging *staging)
{
    FaultStaging *outer = (FaultStaging *)staging;

    if (is_dead((FaultStore *)staging->store))
        store_staging_abandon(outer->inner);
    else
        store_staging_close(outer->inner);
    mem_free(outer);
}

static void fault_staging_abandon(StoreStaging *staging)
{
    store_staging_abandon(((FaultStaging *)staging)->inner);
    mem_free(staging);
}

static void fault_close(Store *store)
{
    FaultStore *fault = (FaultStore *)store;
    (void)pthread_mutex_destroy(&fault->lock);
    mem_free(fault);
}

Store *store_fault_new(Store *inner, FaultPlan *plan)
{
    FaultStore *fault = mem_alloc(sizeof(FaultStore));

    assert(inner);
    assert(plan);
    int failed = pthread_mutex_init(&fault->lock, NULL);
    assert(failed == 0);
    fault->inner = inner;
    fault->plan  = plan;
    fault->base  = (Store){
         .read             = fault_read,
         .stat             = fault_stat,
         .put_new          = fault_put_new,
         .replace          = fault_replace,
         .list_after       = fault_list_after,
         .remove           = fault_remove,
         .fetch_local      = fault_fetch_local,
         .list_children    = fault_list_children,
         .remove_directory = fault_remove_directory,
         .staging_sweep    = fault_staging_sweep,
         .staging_open     = fault_staging_open,
         .staging_file     = fault_staging_file,
         .staging_publish  = fault_staging_publish,
         .staging_sync     = fault_staging_sync,
         .staging_seal     = fault_staging_seal,
         .staging_take     = fault_staging_take,
         .staging_is_there = fault_staging_is_there,
         .staging_close    = fault_staging_close,
         .staging_abandon  = fault_staging_abandon,
         .close            = fault_close,
    };
    return &fault->base;
}
