/* The program `holter`: `holter COMMAND ...` runs cmd_COMMAND(). When it is called by the name of a
 * launcher, by a link in the PATH of a job script (see run_shim_create_links), it runs that
 * launcher and watches the applications. */
#include "agent/cli/cmd.h"
#include "agent/launch/run.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/quiet_child.h"
#include "agent/terminal/terminal.h"
#include "holter/plain_text.h"
#include "proto/command_option.h"
#include "version.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>
#include <zmq.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *text;
} commands[] = {
#define X(name, text) {#name, cmd_##name, text},
    HOLTER_COMMANDS(X)
#undef X
        {"check-rules", cmd_check_rules, "check a file of alert rules"},
};

#define COMMANDS (sizeof commands / sizeof *commands)

static const struct command *holter_find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void holter_print_help(FILE *out)
{
    fputs("Holter watches the communication of a running MPI simulation.\n"
          "\n"
          "usage: holter COMMAND [OPTION]... [ARGUMENT]...\n"
          "\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].text);
    fputs("\n"
          "  holter run -- mpirun -n 8 ./sim input    watch a job and record it\n"
          "  holter view                              view it live, from another terminal\n"
          "\n"
          "See `holter help COMMAND` and `holter COMMAND --help`; holter(7) is the overview.\n",
          out);
}

/* Print that a command does not exist. @return the exit status */
static int holter_refuse_command(const char *name)
{
    struct near_word near = {.word = name};
    for (size_t i = 0; i < COMMANDS; i++)
        near_word_try(&near, commands[i].name);
    if (near.best != NULL)
        terminal_print("there is no command \"%s\"; did you mean `holter %s`?", name, near.best);
    else
        terminal_print("there is no command \"%s\"; `holter --help` lists all commands", name);
    return 2;
}

/* A command that has succeeded has written all that it printed.
 * @return the exit status */
static int holter_end(const char *name, int status)
{
    return status == 0 ? terminal_flush_output(name) : status;
}

/* Does man(1) find this page? */
static int holter_has_page(const char *page)
{
    pid_t man = quiet_child_fork(QUIET_OUTPUT | QUIET_ERRORS);
    if (man == 0) {
        execlp("man", "man", "-w", page, (char *)NULL);
        _exit(127);
    }
    return quiet_child_wait(man) == 0;
}

/* Show the manual page of a command, or its --help if the page is not installed. @return the exit
 * status */
static int holter_help(const char *name)
{
    char page[64], option[] = "--help";
    const struct command *command = holter_find_command(name);
    if (command == NULL)
        return holter_refuse_command(name);
    snprintf(page, sizeof page, "holter-%s", command->name);
    if (holter_has_page(page))
        execlp("man", "man", page, (char *)NULL);
    char *words[] = {page + strlen("holter-"), option, NULL};
    return holter_end(command->name, command->run(2, words));
}

static void holter_print_probe(const char *mpi, enum mpi_flavour flavour)
{
    char path[PATH_MAX];
    int rc = paths_probe(path, sizeof path, flavour);
    printf("probe for %s: %s\n", mpi, rc == 0 ? path : "none");
}

static int holter_print_version(void)
{
    int major, minor, patch;
    zmq_version(&major, &minor, &patch);
    printf("holter %s\n", HOLTER_VERSION);
    printf("build: %s\n", HOLTER_BUILD_OPTIONS);
    printf("libraries: ZeroMQ %d.%d.%d%s, libuv %s\n", major, minor, patch,
           zmq_has("curve") ? " with CURVE" : " without CURVE", uv_version_string());
    holter_print_probe("Open MPI", MPI_FLAVOUR_OPENMPI);
    holter_print_probe("MPICH", MPI_FLAVOUR_MPICH);
    return 0;
}

int main(int argc, char **argv)
{
    const char *called = argc == 0 ? "holter" : text_base_name(argv[0]);
    for (int i = 0; run_launcher_names[i] != NULL; i++)
        if (strcmp(called, run_launcher_names[i]) == 0)
            return run_shim_exec_launcher(called, argc, argv);
    if (argc < 2) {
        terminal_print("no command is given; `holter --help` lists all commands");
        return 2;
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2)
        return holter_help(argv[2]);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        holter_print_help(stdout);
        return holter_end("--help", 0);
    }
    if (strcmp(argv[1], COMMAND_OPTIONS_LIST) == 0) {
        for (size_t i = 0; i < COMMANDS; i++)
            printf("%s\t%s\n", commands[i].name, commands[i].text);
        return holter_end(argv[1], 0);
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return holter_end("--version", holter_print_version());
    const struct command *command = holter_find_command(argv[1]);
    if (command == NULL)
        return holter_refuse_command(argv[1]);
    return holter_end(command->name, command->run(argc - 1, argv + 1));
}
