/* story.h - one thing done after the other, told again and again with a death or a failure somewhere in it: in the end
 * nobody can tell. Include test_support.h first. */
#ifndef TIDELAKE_SUPPORT_STORY_H
#define TIDELAKE_SUPPORT_STORY_H

#include "support/world.h"

/* The first member of a test's own story. */
typedef struct Story {
    World *world;
    size_t at; /* the part that comes next */
} Story;

/* What a test tells. */
typedef struct StoryPlot {
    Story *(*open)(void **state); /* in the world's arena */
    size_t parts;
    bool (*tell)(Story *story, size_t part, Process *process); /* false: it has to be told again */
    void (*check)(Story *story);
} StoryPlot;

/* From the part that comes next; true when all of it is done. */
UNUSED static bool story_go_on(const StoryPlot *plot, Story *story, Process *process)
{
    for (; story->at < plot->parts; story->at++)
        if (!plot->tell(story, story->at, process)) return false;
    return true;
}

/* How many steps it has when nothing goes wrong. */
UNUSED static uint64_t story_count_steps(const StoryPlot *plot, void **state)
{
    Story   *story   = plot->open(state);
    Process *process = process_open(story->world, "run");
    uint64_t steps;

    assert_ok(story_go_on(plot, story, process), &process->err);
    steps = process->plan.step_count;
    process_close(process);
    plot->check(story);
    world_close(story->world);
    return steps;
}

/* A process in which that fault happens; a death at the very end may go unseen. */
UNUSED static Story *story_begin_dying(const StoryPlot *plot, void **state, FaultPlan plan)
{
    Story   *story   = plot->open(state);
    Process *process = process_open(story->world, "dying");

    process->plan = plan;
    (void)story_go_on(plot, story, process);
    process_close(process);
    return story;
}

/* Another process tells the rest. */
UNUSED static void story_rerun(const StoryPlot *plot, Story *story, const FaultPlan *was)
{
    Process *process = process_open(story->world, "rerun");

    if (!story_go_on(plot, story, process)) {
        print_error("# step %llu, after %d\n", (unsigned long long)was->fail_at_step,
                    was->after_effect);
        assert_ok(false, &process->err);
    }
    process_close(process);
    plot->check(story);
}

#endif
