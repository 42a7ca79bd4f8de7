#include "agent/node/supervise.h"

#include "agent/launch/restarts.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void waits_grow_and_end(void **state)
{
    (void)state;
    struct restarts restarts = {0};
    int last = 0;
    for (unsigned long now = 100; now < 100 + RESTARTS_MAXIMUM; now++) {
        int wait = restarts_record_crash(&restarts, now);
        assert_true(wait > last);
        last = wait;
    }
    assert_int_equal(restarts_record_crash(&restarts, 105), -1);
    assert_int_equal(restarts_record_crash(&restarts, 106), -1);
}

static void crashes_long_ago_are_forgiven(void **state)
{
    (void)state;
    struct restarts restarts = {0};
    for (unsigned long now = 100; now < 100 + RESTARTS_MAXIMUM; now++)
        assert_true(restarts_record_crash(&restarts, now) > 0);
    assert_true(restarts_record_crash(&restarts, 104 + RESTARTS_SECONDS) > 0);
}

struct shared {
    volatile int runs, restarts;
    int crash_until; /* runs before this one end by SIGKILL */
};

static int work(void *user)
{
    struct shared *shared = user;
    if (++shared->runs < shared->crash_until)
        kill(getpid(), SIGKILL);
    return 2;
}

static void count_restart(void *user)
{
    ((struct shared *)user)->restarts++;
}

/* supervise_worker() blocks signals and reaps children, so it gets a process of its own.
 * @return its exit status */
static int run(struct shared *shared)
{
    pid_t pid = fork();
    if (pid == 0) {
        close(STDERR_FILENO);
        _exit(supervise_worker(work, count_restart, shared));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static struct shared *share(int crash_until)
{
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared, MAP_FAILED);
    shared->crash_until = crash_until;
    return shared;
}

static void killed_worker_is_started_again(void **state)
{
    (void)state;
    struct shared *shared = share(3);
    assert_int_equal(run(shared), 2);
    assert_int_equal(shared->runs, 3);
    assert_int_equal(shared->restarts, 2);
    munmap(shared, sizeof *shared);
}

static void worker_that_ends_by_itself_is_not(void **state)
{
    (void)state;
    struct shared *shared = share(0);
    assert_int_equal(run(shared), 2);
    assert_int_equal(shared->runs, 1);
    assert_int_equal(shared->restarts, 0);
    munmap(shared, sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_grow_and_end),
        cmocka_unit_test(crashes_long_ago_are_forgiven),
        cmocka_unit_test(killed_worker_is_started_again),
        cmocka_unit_test(worker_that_ends_by_itself_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
