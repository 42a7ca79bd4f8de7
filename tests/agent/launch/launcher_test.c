#include "agent/launch/launcher.h"

#include "holter/error.h"
#include "tests/directory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX_WORDS 64

/** Split at single spaces; '' stands for an empty word. */
static int split(char *text, char *words[MAX_WORDS])
{
    int n = 0;
    for (char *rest = text, *word; (word = strsep(&rest, " ")) != NULL;)
        words[n++] = word;
    words[n] = NULL;
    return n;
}

/** The line with "W" put before each application. */
static void wrap(char *out, size_t capacity, enum launcher launcher, const char *text,
                 struct launch_line *line)
{
    static char prefix_word[] = "W";
    char *const prefix[] = {prefix_word, NULL};
    char copy[1024], *words[MAX_WORDS];
    snprintf(copy, sizeof copy, "%s", text);
    int n = split(copy, words);
    int rc = launcher_parse(line, launcher, n, words);
    if (rc < 0) {
        snprintf(out, capacity, "%s", holter_errname(rc));
        return;
    }
    char **wrapped = launcher_wrap(line, n, words, prefix);
    assert_non_null(wrapped);
    out[0] = '\0';
    for (int i = 0; wrapped[i] != NULL; i++)
        snprintf(out + strlen(out), capacity - strlen(out), "%s%s", i == 0 ? "" : " ", wrapped[i]);
    free(wrapped);
}

struct example {
    const char *given, *wrapped;
};

static void check_examples(enum launcher launcher, const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char got[2048];
        struct launch_line line;
        wrap(got, sizeof got, launcher, examples[i].given, &line);
        assert_string_equal(got, examples[i].wrapped);
    }
}

#define CHECK(launcher, examples)                                                                  \
    check_examples(launcher, examples, sizeof examples / sizeof *examples)

static void applications_of_openmpi_lines_are_found(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"mpirun -n 8 ./sim -n 3", "mpirun -n 8 W ./sim -n 3"},
        {"mpirun ./sim", "mpirun W ./sim"},
        {"mpirun --allow-run-as-root --oversubscribe -np 4 lmp -in in.melt",
         "mpirun --allow-run-as-root --oversubscribe -np 4 W lmp -in in.melt"},
        {"mpirun -mca btl tcp,self --mca pml ob1 -gmca a b -x PATH -x A=b -np 2 ./a",
         "mpirun -mca btl tcp,self --mca pml ob1 -gmca a b -x PATH -x A=b -np 2 W ./a"},
        {"mpirun --map-by ppr:4:node:pe=2 --bind-to core --rank-by slot --report-bindings ./a",
         "mpirun --map-by ppr:4:node:pe=2 --bind-to core --rank-by slot --report-bindings W ./a"},
        {"mpirun -host a:2,b:2 -wdir /tmp --output-filename out --timeout 60 ./a x",
         "mpirun -host a:2,b:2 -wdir /tmp --output-filename out --timeout 60 W ./a x"},
        {"mpirun -np 1 ./ocean -c 1 : -np 3 --host b ./ice : -np 2 ./air",
         "mpirun -np 1 W ./ocean -c 1 : -np 3 --host b W ./ice : -np 2 W ./air"},
        {"mpirun -tag-output -timestamp-output -np 2 bash -c a:b",
         "mpirun -tag-output -timestamp-output -np 2 W bash -c a:b"},
        {"mpirun -np 2 -- ./a -- b", "mpirun -np 2 -- W ./a -- b"},
        {"mpirun --display map,bind --output tag --runtime-options no-launch --pset all -n 2 ./a",
         "mpirun --display map,bind --output tag --runtime-options no-launch --pset all -n 2 W "
         "./a"},
        {"mpirun --omca a b --gomca a b --with-ft ulfm --output-directory out ./a",
         "mpirun --omca a b --gomca a b --with-ft ulfm --output-directory out W ./a"},
        {"mpirun --version", "HOLTER_EUSAGE"},
        {"mpirun -np", "HOLTER_EUSAGE"},
        {"mpirun", "HOLTER_EUSAGE"},
    };
    CHECK(LAUNCHER_OPENMPI, examples);
}

static void applications_of_hydra_lines_are_found(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"mpiexec -n 8 ./sim -n 3", "mpiexec -n 8 W ./sim -n 3"},
        {"mpiexec -np=2 ./sim", "mpiexec -np=2 W ./sim"},
        {"mpiexec -genv=A b -env=C=d -n 2 ./a", "mpiexec -genv=A b -env=C=d -n 2 W ./a"},
        {"mpiexec -genv A b -env C=d -n 2 ./a", "mpiexec -genv A b -env C=d -n 2 W ./a"},
        {"mpiexec -genvall -genvlist A,B -envnone -n 2 ./a",
         "mpiexec -genvall -genvlist A,B -envnone -n 2 W ./a"},
        {"mpiexec.hydra -iface eth0 -launcher ssh -launcher-exec rsh.sh -f hosts -ppn 1 ./a b",
         "mpiexec.hydra -iface eth0 -launcher ssh -launcher-exec rsh.sh -f hosts -ppn 1 W ./a b"},
        {"mpiexec -bind-to core:2 -map-by socket -prepend-rank -l -n 4 ./a",
         "mpiexec -bind-to core:2 -map-by socket -prepend-rank -l -n 4 W ./a"},
        {"mpiexec -n 1 ./ocean -f x : -n 3 -wdir /tmp ./ice : -n 1 -env A b ./air",
         "mpiexec -n 1 W ./ocean -f x : -n 3 -wdir /tmp W ./ice : -n 1 -env A b W ./air"},
        {"mpiexec -print-all-exitcodes -disable-auto-cleanup -verbose -n 1 ./a",
         "mpiexec -print-all-exitcodes -disable-auto-cleanup -verbose -n 1 W ./a"},
        {"mpiexec -bootstrap ssh -bootstrap-exec rsh.sh -binding core -n 2 ./a",
         "mpiexec -bootstrap ssh -bootstrap-exec rsh.sh -binding core -n 2 W ./a"},
        {"mpiexec -machinelist a,b -rankmap 0,1 -output-from 0 ./a",
         "mpiexec -machinelist a,b -rankmap 0,1 -output-from 0 W ./a"},
        {"mpiexec -hosts-group a[1-2] -grr 2 -genvexcl A -gtoolfile t ./a",
         "mpiexec -hosts-group a[1-2] -grr 2 -genvexcl A -gtoolfile t W ./a"},
        {"mpiexec -pmi-port ./a b", "mpiexec -pmi-port W ./a b"},
        {"mpiexec -gwdir /tmp -gpath /opt/bin -gumask 022 -tmpdir /tmp -pmi-connect alltoall ./a",
         "mpiexec -gwdir /tmp -gpath /opt/bin -gumask 022 -tmpdir /tmp -pmi-connect alltoall W "
         "./a"},
        {"mpiexec -bootstrap-exec-args -q -use-app-topology t -hostos linux -n 2 ./a",
         "mpiexec -bootstrap-exec-args -q -use-app-topology t -hostos linux -n 2 W ./a"},
        {"mpiexec -info", "HOLTER_EUSAGE"},
    };
    CHECK(LAUNCHER_HYDRA, examples);
}

static void applications_of_srun_lines_are_found(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"srun ./sim -n 3", "srun W ./sim -n 3"},
        {"srun -n4 -N 2 ./sim", "srun -n4 -N 2 W ./sim"},
        {"srun -lN2 -n 4 --mpi=pmix ./a", "srun -lN2 -n 4 --mpi=pmix W ./a"},
        {"srun -ln 4 ./a", "srun -ln 4 W ./a"},
        {"srun --ntasks 4 --ntasks-per-node 2 --exclusive -c 2 ./a",
         "srun --ntasks 4 --ntasks-per-node 2 --exclusive -c 2 W ./a"},
        {"srun --cpu-bind=cores -K --kill-on-bad-exit -I10 ./a",
         "srun --cpu-bind=cores -K --kill-on-bad-exit -I10 W ./a"},
        {"srun --part debug --tim 5 ./a", "srun --part debug --tim 5 W ./a"},
        {"srun --export=NONE --label --unbuffered --pty ./a",
         "srun --export=NONE --label --unbuffered --pty W ./a"},
        {"srun -n1 ./ocean : -n3 ./ice x", "srun -n1 W ./ocean : -n3 W ./ice x"},
        {"srun -n 2 -- ./a", "srun -n 2 -- W ./a"},
        {"srun --tres-per-task gres/gpu:1 --tres-bind gres/gpu:closest --container-id c ./a",
         "srun --tres-per-task gres/gpu:1 --tres-bind gres/gpu:closest --container-id c W ./a"},
        {"srun -n 4 --multi-prog apps : -n 2 ./a", "srun -n 4 --multi-prog apps : -n 2 W ./a"},
        {"srun --version", "HOLTER_EUSAGE"},
    };
    CHECK(LAUNCHER_SRUN, examples);
}

/* A copy of `holter` on another node has no agent beside it, and a container has no `holter`. */
static void what_srun_starts_in_a_container_or_as_a_copy_is_not_wrapped(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"srun --bcast ./a", "srun --bcast ./a"},
        {"srun --bcast=/tmp/a -n 4 ./a", "srun --bcast=/tmp/a -n 4 ./a"},
        {"srun --container /bundle ./a", "srun --container /bundle ./a"},
        {"srun -n 2 --container-image a.sqsh --container-mounts /a:/b --container-workdir /b ./a",
         "srun -n 2 --container-image a.sqsh --container-mounts /a:/b --container-workdir /b ./a"},
        {"srun --container-name=a --no-container-mount-home ./a",
         "srun --container-name=a --no-container-mount-home ./a"},
        {"srun --bcast-exclude /lib ./a", "srun --bcast-exclude /lib W ./a"},
    };
    CHECK(LAUNCHER_SRUN, examples);
}

static void parsed(struct launch_line *line, enum launcher launcher, const char *text)
{
    char out[1024];
    wrap(out, sizeof out, launcher, text, line);
}

static void hosts_are_found_before_the_application_only(void **state)
{
    (void)state;
    struct launch_line line;
    parsed(&line, LAUNCHER_OPENMPI, "mpirun -np 2 --host a,b ./sim -host c");
    assert_int_equal(line.hosts.at[0], 4);
    parsed(&line, LAUNCHER_OPENMPI, "mpirun -np 2 ./sim -host c");
    assert_int_equal(line.hosts.count, 0);
    parsed(&line, LAUNCHER_OPENMPI, "mpirun -machinefile m ./sim");
    assert_int_equal(line.files.at[0], 2);
    parsed(&line, LAUNCHER_HYDRA, "mpiexec -f m -n 2 ./sim");
    assert_int_equal(line.files.at[0], 2);
    parsed(&line, LAUNCHER_HYDRA, "mpiexec -n 2 -hosts a,b ./sim");
    assert_int_equal(line.hosts.at[0], 4);
    parsed(&line, LAUNCHER_HYDRA, "mpiexec -n 2 -machinelist a,b ./sim");
    assert_int_equal(line.hosts.at[0], 4);
}

static void hosts_of_all_applications_are_found(void **state)
{
    (void)state;
    struct launch_line line;
    parsed(&line, LAUNCHER_OPENMPI, "mpirun --host a -n 1 ./x : --host b -n 1 ./y");
    assert_int_equal(line.hosts.count, 2);
    assert_int_equal(line.hosts.at[0], 2);
    assert_int_equal(line.hosts.at[1], 8);
    parsed(&line, LAUNCHER_SRUN, "srun -N2 ./x : -N1 ./y");
    assert_int_equal(line.nodes, 3);
}

static void hosts_behind_an_equals_sign_are_found(void **state)
{
    (void)state;
    char word[] = "-hosts=a,b";
    struct launch_line line;
    parsed(&line, LAUNCHER_HYDRA, "mpiexec -hosts=a,b -f=m -n 2 ./sim");
    assert_int_equal(line.hosts.count, 1);
    assert_int_equal(line.hosts.at[0], 1);
    assert_int_equal(line.files.at[0], 2);
    assert_string_equal(launcher_value(word), "a,b");
    assert_string_equal(launcher_value("a=b"), "a=b");
}

static void nodes_of_srun_are_counted(void **state)
{
    (void)state;
    struct launch_line line;
    parsed(&line, LAUNCHER_SRUN, "srun -N 3 ./sim");
    assert_int_equal(line.nodes, 3);
    parsed(&line, LAUNCHER_SRUN, "srun -lN4 ./sim");
    assert_int_equal(line.nodes, 4);
    parsed(&line, LAUNCHER_SRUN, "srun --nodes=2-4 ./sim");
    assert_int_equal(line.nodes, 2);
    parsed(&line, LAUNCHER_SRUN, "srun ./sim -N 5");
    assert_int_equal(line.nodes, 0);
}

static void a_file_of_applications_is_noticed(void **state)
{
    (void)state;
    struct launch_line line;
    parsed(&line, LAUNCHER_HYDRA, "mpiexec -configfile apps");
    assert_int_equal(line.app_list, 2);
    assert_int_equal(line.app_count, 0);
    parsed(&line, LAUNCHER_OPENMPI, "mpirun --app apps");
    assert_int_equal(line.app_list, 2);
    parsed(&line, LAUNCHER_SRUN, "srun --multi-prog -n 4 apps");
    assert_int_equal(line.app_list, 4);
    assert_int_equal(line.app_count, 0);
}

static void more_applications_than_fit_are_refused(void **state)
{
    (void)state;
    static char word[] = "./a", colon[] = ":", launcher[] = "mpirun";
    char *words[2 * LAUNCH_MAX_APPS + 4] = {launcher};
    int n = 1;
    for (unsigned i = 0; i <= LAUNCH_MAX_APPS; i++) {
        words[n++] = word;
        words[n++] = colon;
    }
    struct launch_line line;
    assert_int_equal(launcher_parse(&line, LAUNCHER_OPENMPI, n, words), -HOLTER_ELIMIT);
}

/** Words before the first of two applications, of which that one has as many words as given. */
static int words_put_before(enum launcher launcher, int count, int *fit)
{
    static char word[] = "./a", colon[] = ":", name[] = "mpiexec", first[] = "holter";
    char *words[1010] = {name}, *const prefix[] = {first, word, NULL};
    int n = 1;
    while (n <= count)
        words[n++] = word;
    words[n++] = colon;
    words[n++] = word;
    struct launch_line line;
    assert_int_equal(launcher_parse(&line, launcher, n, words), 0);
    *fit = launcher_has_room(&line, n, words, prefix);
    char **wrapped = launcher_wrap(&line, n, words, prefix);
    assert_non_null(wrapped);
    int before = strcmp(wrapped[1], first) == 0 ? 2 : 0;
    assert_string_equal(wrapped[n + before - 1], first); /* the other application has room */
    assert_null(wrapped[n + before + 2]);
    free(wrapped);
    return before;
}

static void an_application_gets_no_more_words_than_its_launcher_has_room_for(void **state)
{
    (void)state;
    int fit;
    assert_int_equal(words_put_before(LAUNCHER_HYDRA, 997, &fit), 2);
    assert_true(fit);
    assert_int_equal(words_put_before(LAUNCHER_HYDRA, 998, &fit), 0);
    assert_false(fit);
    assert_int_equal(words_put_before(LAUNCHER_SRUN, 1000, &fit), 2);
    assert_true(fit);
}

/** A directory with files and links, as an installation has them. */
struct place {
    char dir[DIRECTORY_ROOM];
    char path[128];
};

static const char *in_place(struct place *p, const char *name)
{
    snprintf(p->path, sizeof p->path, "%s/%s", p->dir, name);
    return p->path;
}

static void make_file(struct place *p, const char *name, const char *text)
{
    FILE *file = fopen(in_place(p, name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(p->path, 0700);
}

static int make_place(void **state)
{
    static struct place place;
    *state = &place;
    return directory_make(place.dir);
}

static int remove_place(void **state)
{
    struct place *p = *state;
    return directory_remove(p->dir);
}

static void launchers_are_known_through_their_links(void **state)
{
    struct place *p = *state;
    char target[128];
    make_file(p, "orterun", "");
    make_file(p, "mpiexec.hydra", "");
    make_file(p, "srun", "");
    make_file(p, "sim", "#!/bin/sh\n# mpiexec.hydra, orterun\n");
    assert_int_equal(symlink("orterun", in_place(p, "alternative")), 0);
    snprintf(target, sizeof target, "%s/alternative", p->dir);
    assert_int_equal(symlink(target, in_place(p, "mpirun")), 0);
    assert_int_equal(symlink("mpiexec.hydra", in_place(p, "mpiexec.mpich")), 0);
    assert_int_equal(launcher_detect(in_place(p, "mpirun")), LAUNCHER_OPENMPI);
    assert_int_equal(launcher_detect(in_place(p, "mpiexec.mpich")), LAUNCHER_HYDRA);
    assert_int_equal(launcher_detect(in_place(p, "srun")), LAUNCHER_SRUN);
    assert_int_equal(launcher_detect(in_place(p, "sim")), LAUNCHER_NONE);
    assert_int_equal(launcher_detect(in_place(p, "missing")), LAUNCHER_NONE);
}

static void a_script_called_mpirun_is_known_by_what_it_calls(void **state)
{
    struct place *p = *state;
    make_file(p, "mpirun", "#!/bin/sh\nexec /opt/impi/bin/mpiexec.hydra \"$@\"\n");
    assert_int_equal(launcher_detect(in_place(p, "mpirun")), LAUNCHER_HYDRA);
    make_file(p, "mpiexec", "#!/bin/sh\nexec prterun \"$@\"\n");
    assert_int_equal(launcher_detect(in_place(p, "mpiexec")), LAUNCHER_OPENMPI);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applications_of_openmpi_lines_are_found),
        cmocka_unit_test(applications_of_hydra_lines_are_found),
        cmocka_unit_test(applications_of_srun_lines_are_found),
        cmocka_unit_test(what_srun_starts_in_a_container_or_as_a_copy_is_not_wrapped),
        cmocka_unit_test(hosts_are_found_before_the_application_only),
        cmocka_unit_test(hosts_of_all_applications_are_found),
        cmocka_unit_test(hosts_behind_an_equals_sign_are_found),
        cmocka_unit_test(nodes_of_srun_are_counted),
        cmocka_unit_test(a_file_of_applications_is_noticed),
        cmocka_unit_test(more_applications_than_fit_are_refused),
        cmocka_unit_test(an_application_gets_no_more_words_than_its_launcher_has_room_for),
        cmocka_unit_test_setup_teardown(launchers_are_known_through_their_links, make_place,
                                        remove_place),
        cmocka_unit_test_setup_teardown(a_script_called_mpirun_is_known_by_what_it_calls,
                                        make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
