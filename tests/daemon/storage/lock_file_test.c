#include "daemon/storage/lock_file.h"
#include "tests/directory.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[DIRECTORY_ROOM], path[96];

static int make_directory(void **state)
{
    (void)state;
    assert_int_equal(directory_make(directory), 0);
    snprintf(path, sizeof(path), "%s/it.lock", directory);
    return 0;
}

/* Whatever a test took, it gave back. */
static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

static void one_holder_at_a_time(void **state)
{
    (void)state;
    int first = lock_file_acquire(path);
    assert_true(first >= 0);
    assert_int_equal(lock_file_acquire(path), -EWOULDBLOCK);
    lock_file_release(first, path);
    assert_int_equal(access(path, F_OK), -1);
    int second = lock_file_acquire(path);
    assert_true(second >= 0);
    lock_file_release(second, path);
    lock_file_release(-1, path);
}

static void a_dead_holders_lock_is_free(void **state)
{
    int told[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(told), 0);
    pid_t holder = fork();
    if (holder == 0) {
        byte = (char)(lock_file_acquire(path) >= 0);
        if (write(told[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(told[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    assert_int_equal(lock_file_acquire(path), -EWOULDBLOCK);
    kill(holder, SIGKILL);
    assert_int_equal(waitpid(holder, NULL, 0), holder);
    int fd = lock_file_acquire(path); /* the file is still there, the lock is not */
    assert_true(fd >= 0);
    lock_file_release(fd, path);
    close(told[0]);
    close(told[1]);
}

static void a_link_is_not_followed(void **state)
{
    char target[96];
    (void)state;
    snprintf(target, sizeof(target), "%s/elsewhere", directory);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(lock_file_acquire(path), -ELOOP);
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(unlink(path), 0);
}

/* As another user may make one in a shared directory; opened for reading it waits for a writer. */
static void a_pipe_without_a_writer_is_held_by_nobody(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(lock_file_is_held(path));
    assert_int_equal(unlink(path), 0);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    snprintf(path, sizeof(path), "%s/no/such.lock", directory);
    assert_int_equal(lock_file_acquire(path), -ENOENT);
}

#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(one_holder_at_a_time),
        WITH_DIRECTORY(a_dead_holders_lock_is_free),
        WITH_DIRECTORY(a_link_is_not_followed),
        WITH_DIRECTORY(a_pipe_without_a_writer_is_held_by_nobody),
        WITH_DIRECTORY(a_folder_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
