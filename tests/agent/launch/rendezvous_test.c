/* Wrappers and agents of one session, racing as processes: a registered process is never without an
 * agent. */
#include "agent/launch/rendezvous.h"

#include "holter/error.h"
#include "tests/agent/node/fake_rank.h"
#include "tests/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SESSION "7e57b"
#define WRAPPERS 12
#define ROUNDS 40

struct bed {
    char run_dir[DIRECTORY_ROOM];
    struct rendezvous r;
};

static int set_up(void **state)
{
    struct bed *bed = calloc(1, sizeof *bed);
    if (bed == NULL)
        return -1;
    *state = bed;
    return directory_make(bed->run_dir) != 0 ? -1 : rendezvous_init(&bed->r, bed->run_dir, SESSION);
}

static int tear_down(void **state)
{
    struct bed *bed = *state;
    int removed = rmdir(bed->run_dir); /* a test that leaves files behind fails here */
    free(bed);
    return removed;
}

static void bad_session_keys_are_refused(void **state)
{
    struct bed *bed = *state;
    struct rendezvous r;
    assert_int_equal(rendezvous_init(&r, bed->run_dir, ""), -HOLTER_ERANGE);
    assert_int_equal(rendezvous_init(&r, bed->run_dir, "../x"), -HOLTER_ERANGE);
    assert_int_equal(rendezvous_init(&r, bed->run_dir, "0123456789abcdef0123456789abcdef"),
                     -HOLTER_ERANGE);
}

static void first_wrapper_gets_the_lock_and_the_others_do_not(void **state)
{
    struct bed *bed = *state;
    int lock = -1, other = -1;
    int32_t pid = (int32_t)getpid();
    assert_int_equal(rendezvous_join(&bed->r, pid, "a.0", &lock), 1);
    assert_true(fcntl(lock, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(rendezvous_join(&bed->r, pid, "a.0", &other), 0);
    assert_int_equal(rendezvous_lock(&bed->r, &other), -EEXIST);
    assert_int_equal(rendezvous_leave(&bed->r, lock), -EBUSY);
    rendezvous_forget(&bed->r, pid);
    assert_int_equal(rendezvous_leave(&bed->r, lock), 0);
    struct stat status;
    assert_int_equal(stat(bed->r.session_dir, &status), -1);
}

static void note(void *user, const struct registration *registration)
{
    *(struct registration *)user = *registration;
}

static void registration_reports_job_and_whether_the_process_lives(void **state)
{
    struct bed *bed = *state;
    struct registration seen;
    int lock;
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(rendezvous_join(&bed->r, pid, "12.3", &lock), 1);
    assert_int_equal(rendezvous_each(&bed->r, note, &seen), 1);
    assert_int_equal(seen.pid, pid);
    assert_true(seen.alive);
    assert_string_equal(seen.word, "12.3");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(rendezvous_each(&bed->r, note, &seen), 1);
    assert_false(seen.alive);
    assert_int_equal(rendezvous_leave(&bed->r, lock), 0);
}

/* As when the user logs out and the system removes /run/user/<uid>: nobody can find the agent, so
 * it must not wait for anybody. */
static void agent_whose_directory_was_removed_may_leave(void **state)
{
    struct bed *bed = *state;
    int lock = -1;
    char command[128];
    assert_int_equal(rendezvous_join(&bed->r, (int32_t)getpid(), "a.0", &lock), 1);
    snprintf(command, sizeof command, "rm -rf %s/*", bed->run_dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(rendezvous_leave(&bed->r, lock), 0);
    assert_int_equal(fcntl(lock, F_GETFD), -1);
}

/* ---- the race ------------------------------------------------------------ */

struct race {
    atomic_int go, agents_now, agents_ever, orphans, joined;
};

/* What an agent does with the lock: serves until nobody is registered. */
static void serve(const struct bed *bed, struct race *race, int lock)
{
    if (atomic_fetch_add(&race->agents_now, 1) != 0)
        atomic_fetch_add(&race->orphans, 100); /* two at one time */
    atomic_fetch_add(&race->agents_ever, 1);
    for (;;) {
        /* Not one any more before the lock is free for the next. */
        atomic_fetch_sub(&race->agents_now, 1);
        if (rendezvous_leave(&bed->r, lock) == 0)
            return;
        atomic_fetch_add(&race->agents_now, 1);
        sched_yield();
    }
}

/* A wrapper that joins, and checks that while it is registered somebody holds the agent's lock. */
static void wrap(const struct bed *bed, struct race *race)
{
    int32_t pid = (int32_t)getpid();
    while (!atomic_load(&race->go))
        sched_yield();
    for (int round = 0; round < ROUNDS; round++) {
        int lock, probe;
        int rc = rendezvous_join(&bed->r, pid, "race.0", &lock);
        if (rc < 0) {
            atomic_fetch_add(&race->orphans, 1000);
            break;
        }
        atomic_fetch_add(&race->joined, 1);
        if (rc == 1 && fork() == 0) {
            serve(bed, race, lock);
            _exit(0);
        }
        if (rc == 1)
            close(lock);
        int held = rendezvous_lock(&bed->r, &probe);
        if (held != -EEXIST)
            atomic_fetch_add(&race->orphans, 1);
        if (held == 0)
            close(probe);
        rendezvous_forget(&bed->r, pid);
    }
    while (wait(NULL) > 0) {
    }
    _exit(0);
}

static void registered_process_is_never_without_an_agent(void **state)
{
    struct bed *bed = *state;
    struct race *race =
        mmap(NULL, sizeof *race, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(race, MAP_FAILED);
    for (int i = 0; i < WRAPPERS; i++)
        if (fork() == 0)
            wrap(bed, race);
    atomic_store(&race->go, 1);
    while (wait(NULL) > 0) {
    }
    assert_int_equal(atomic_load(&race->joined), WRAPPERS * ROUNDS);
    assert_int_equal(atomic_load(&race->orphans), 0);
    assert_true(atomic_load(&race->agents_ever) >= 1);
    munmap(race, sizeof *race);
}

/* ---- starting and cleaning ----------------------------------------------- */

static void program_that_cannot_be_started_is_reported(void **state)
{
    struct bed *bed = *state;
    const char *const argv[] = {"nothing", NULL};
    int lock;
    assert_int_equal(rendezvous_join(&bed->r, (int32_t)getpid(), "a.0", &lock), 1);
    assert_int_equal(rendezvous_spawn("/nonexistent/holter-agent", argv, lock), -ENOENT);
    /* the lock is free again */
    assert_int_equal(rendezvous_join(&bed->r, (int32_t)getpid(), "a.0", &lock), 1);
    rendezvous_forget(&bed->r, (int32_t)getpid());
    assert_int_equal(rendezvous_leave(&bed->r, lock), 0);
}

static void started_program_holds_the_lock_and_nothing_else(void **state)
{
    struct bed *bed = *state;
    int lock, other, out[2];
    char script[160], text[16] = "";
    assert_int_equal(pipe(out), 0);
    char fifo[128];
    snprintf(fifo, sizeof fifo, "%s/fifo", bed->run_dir);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(rendezvous_join(&bed->r, (int32_t)getpid(), "a.0", &lock), 1);
    snprintf(script, sizeof script, "read x < %s", fifo);
    const char *const argv[] = {"sh", "-c", script, NULL};
    assert_int_equal(rendezvous_spawn("/bin/sh", argv, lock), 0);
    assert_int_equal(rendezvous_join(&bed->r, (int32_t)getpid(), "a.0", &other), 0);
    close(out[1]);
    assert_int_equal(read(out[0], text, sizeof text), 0); /* it has not kept the pipe open */
    close(out[0]);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nor is it a child */
    int release = open(fifo, O_WRONLY);
    assert_int_equal(write(release, "\n", 1), 1);
    close(release);
    while ((other = rendezvous_lock(&bed->r, &lock)) == -EEXIST)
        sched_yield();
    assert_int_equal(other, 0);
    rendezvous_forget(&bed->r, (int32_t)getpid());
    assert_int_equal(rendezvous_leave(&bed->r, lock), 0);
    unlink(fifo);
}

static pid_t dead_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    return pid;
}

/* A rank and its agent died without cleaning up. */
static void leave_remains(struct bed *bed, struct fake_rank *fake)
{
    int lock;
    pid_t pid = dead_process();
    assert_int_equal(rendezvous_join(&bed->r, pid, "old.0", &lock), 1);
    close(lock);
    assert_int_equal(fake_rank_create(fake, SESSION, pid, "old.0", 0, 1, 64), 0);
}

/* Containers with names of their own may share /dev/shm. */
static void a_rank_of_another_host_keeps_no_agent(void **state)
{
    struct bed *bed = *state;
    struct fake_rank other;
    int lock;
    assert_int_equal(fake_rank_create(&other, SESSION, (int32_t)getpid(), "a.0", 0, 1, 64), 0);
    assert_int_equal(rendezvous_join(&bed->r, (int32_t)getpid(), "a.0", &lock), 1);
    rendezvous_forget(&bed->r, (int32_t)getpid());
    assert_int_equal(rendezvous_leave(&bed->r, lock), -EBUSY);
    strcpy(other.segment->host, "elsewhere");
    assert_int_equal(rendezvous_leave(&bed->r, lock), 0);
    fake_rank_destroy(&other);
}

static int exists(const struct fake_rank *fake)
{
    int fd = shm_open(fake->name, O_RDONLY, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void next_start_removes_what_died(void **state)
{
    struct bed *bed = *state;
    struct fake_rank dead, alive;
    int lock;
    leave_remains(bed, &dead);
    assert_int_equal(fake_rank_create(&alive, SESSION, (int32_t)getpid(), "new.0", 0, 1, 64), 0);
    struct registration seen;
    assert_int_equal(rendezvous_join(&bed->r, (int32_t)getpid(), "new.0", &lock), 1);
    assert_int_equal(rendezvous_each(&bed->r, note, &seen), 1);
    assert_int_equal(seen.pid, getpid());
    assert_false(exists(&dead));
    assert_true(exists(&alive));
    rendezvous_forget(&bed->r, (int32_t)getpid());
    assert_int_equal(rendezvous_leave(&bed->r, lock), -EBUSY); /* a segment is left */
    fake_rank_destroy(&alive);
    assert_int_equal(rendezvous_leave(&bed->r, lock), 0);
    fake_rank_destroy(&dead);
}

static void sweep_spares_sessions_that_are_served(void **state)
{
    struct bed *bed = *state;
    struct fake_rank dead;
    int lock;
    leave_remains(bed, &dead);
    assert_int_equal(rendezvous_lock(&bed->r, &lock), 0);
    assert_false(exists(&dead));
    fake_rank_destroy(&dead);
    assert_int_equal(fake_rank_create(&dead, SESSION, dead_process(), "old.0", 0, 1, 64), 0);
    rendezvous_sweep(bed->run_dir);
    assert_true(exists(&dead));
    close(lock);
    assert_true(rendezvous_sweep(bed->run_dir) >= 1);
    assert_false(exists(&dead));
    fake_rank_destroy(&dead);
}

/* Its agent has another run directory, and may not have opened it yet. */
static void sweep_spares_new_segments_of_sessions_elsewhere(void **state)
{
    struct bed *bed = *state;
    struct fake_rank dead;
    char path[128];
    assert_int_equal(fake_rank_create(&dead, "e15e", dead_process(), "old.0", 0, 1, 64), 0);
    rendezvous_sweep(bed->run_dir);
    assert_true(exists(&dead));
    snprintf(path, sizeof path, "/dev/shm%s", dead.name);
    const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
    rendezvous_sweep(bed->run_dir);
    assert_false(exists(&dead));
    fake_rank_destroy(&dead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bad_session_keys_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(first_wrapper_gets_the_lock_and_the_others_do_not, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(registration_reports_job_and_whether_the_process_lives,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(agent_whose_directory_was_removed_may_leave, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(registered_process_is_never_without_an_agent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(program_that_cannot_be_started_is_reported, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(started_program_holds_the_lock_and_nothing_else, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_rank_of_another_host_keeps_no_agent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(next_start_removes_what_died, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sweep_spares_sessions_that_are_served, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sweep_spares_new_segments_of_sessions_elsewhere, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
