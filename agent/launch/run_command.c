/* Makes the command line and environment that put the ranks under watch. */
#include "agent/launch/run.h"

#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Take over an owned text. @return it; NULL when there was no memory for it */
static char *run_command_append_argument(char **list, size_t capacity, char *text)
{
    size_t used = 0;
    while (list[used] != NULL)
        used++;
    if (text == NULL || used + 1 >= capacity) {
        free(text);
        return NULL;
    }
    list[used] = text;
    return text;
}

static char *run_command_join(const char *a, const char *b)
{
    char *text = NULL;
    return asprintf(&text, "%s%s", a, b) < 0 ? NULL : text;
}

#define CAPACITY(list) (sizeof(list) / sizeof *(list))

static int run_command_add_variable(struct run_command *c, const char *name, const char *value)
{
    return run_command_append_argument(c->environment, CAPACITY(c->environment),
                                       run_command_join(name, value)) == NULL
               ? -ENOMEM
               : 0;
}

static int run_command_add_prefix(struct run_command *c, const char *word)
{
    return run_command_append_argument(c->prefix, CAPACITY(c->prefix), strdup(word)) == NULL
               ? -ENOMEM
               : 0;
}

/** "holter exec --session ..." with everything a rank on any host has to know. */
static int run_command_make_prefix(struct run_command *c, const struct run_session *s, int verbose)
{
    char holter[PATH_MAX];
    int rc = paths_holter(holter, sizeof holter);
    if (rc < 0)
        return rc;
    rc |= run_command_add_prefix(c, holter) | run_command_add_prefix(c, "exec");
    rc |= run_command_add_prefix(c, "--session") | run_command_add_prefix(c, s->key);
    rc |= run_command_add_prefix(c, "--daemon") | run_command_add_prefix(c, run_agent_endpoint(s));
    rc |= run_command_add_prefix(c, "--job") | run_command_add_prefix(c, s->job);
    if (s->keys[0] != '\0')
        rc |= run_command_add_prefix(c, "--keys") | run_command_add_prefix(c, s->keys);
    if (verbose)
        rc |= run_command_add_prefix(c, "--verbose");
    return rc != 0 ? -ENOMEM : 0;
}

static int run_command_has_space(const char *text)
{
    return strpbrk(text, " \t\n\"'\\$`") != NULL;
}

/** The prefix as one text. Open MPI splits it at spaces and knows no quotes.
 *  @return owned text, NULL when a word cannot be given that way */
static char *run_command_join_prefix(char *const prefix[], const char *behind)
{
    char *text = strdup(prefix[0]);
    for (int i = 1; prefix[i] != NULL && text != NULL; i++) {
        char *longer = NULL;
        if (run_command_has_space(prefix[i]) || asprintf(&longer, "%s %s", text, prefix[i]) < 0)
            longer = NULL;
        free(text);
        text = longer;
    }
    if (text != NULL && run_command_has_space(prefix[0])) {
        free(text);
        text = NULL;
    }
    if (text != NULL && behind != NULL && behind[0] != '\0') {
        char *longer = NULL;
        if (asprintf(&longer, "%s %s", text, behind) < 0)
            longer = NULL;
        free(text);
        text = longer;
    }
    return text;
}

int run_command_has_fork_agent(const struct run_session *session)
{
    struct run_command c = {.words = NULL};
    char *agent = run_command_make_prefix(&c, session, 0) == 0
                      ? run_command_join_prefix(c.prefix, NULL)
                      : NULL;
    const int has = agent != NULL;
    free(agent);
    run_command_finish(&c);
    return has;
}

/** Open MPI puts the words of this parameter before every application that it starts, on all hosts,
 *  and so needs no change of the command line and works for each mpirun of a job script. PRRTE, the
 *  launcher of Open MPI 5, has it under a name of its own. @return 0, or -EINVAL when the words
 *  cannot be given so */
static int run_command_add_fork_agent(struct run_command *c)
{
    char *agent = run_command_join_prefix(c->prefix, getenv("OMPI_MCA_orte_fork_agent"));
    if (agent == NULL)
        return -EINVAL;
    int rc = run_command_add_variable(c, "OMPI_MCA_orte_fork_agent=", agent) |
             run_command_add_variable(c, "PRTE_MCA_prte_fork_agent=", agent);
    free(agent);
    return rc != 0 ? -ENOMEM : 0;
}

/** What `holter exec`, status, tap and view read, when they are run below the command. */
static int run_command_add_session(struct run_command *c, const struct run_session *s)
{
    int rc = run_command_add_variable(c, "HOLTER_SESSION=", s->key) |
             run_command_add_variable(c, "HOLTER_DAEMON=", run_agent_endpoint(s)) |
             run_command_add_variable(c, "HOLTER_JOB=", s->job);
    if (s->keys[0] != '\0')
        rc |= run_command_add_variable(c, "HOLTER_KEYS=", s->keys);
    return rc != 0 ? -ENOMEM : 0;
}

/** One command of several at one daemon has a number of its own. */
static int run_command_add_launch(struct run_command *c)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)getpid());
    return run_command_add_variable(c, "HOLTER_LAUNCH=", number);
}

static int run_command_add_shims(struct run_command *c, const struct run_session *s)
{
    const char *path = getenv("PATH");
    char *value = NULL;
    if (asprintf(&value, "%s/bin:%s", s->dir, path == NULL ? "/bin:/usr/bin" : path) < 0)
        return -ENOMEM;
    int rc = run_command_add_variable(c, "PATH=", value);
    free(value);
    return rc;
}

static char **run_command_copy_words(int argc, char *const argv[])
{
    char **words = calloc((size_t)argc + 1, sizeof *words);
    if (words != NULL)
        memcpy(words, argv, (size_t)argc * sizeof *words);
    return words;
}

void run_command_report_apart(const struct launch_line *line, char *const argv[])
{
    if (line->apart == 0)
        return;
    const char *option = argv[line->apart];
    if (option[0] != '-' && line->apart > 1)
        option = argv[line->apart - 1]; /* its value stands in a word of its own */
    terminal_print("%.*s: what is started in a container or as a copy is watched only if `holter "
                   "exec` stands before it and is there",
                   (int)strcspn(option, "="), option);
}

static int run_command_wrap_line(struct run_command *c, const struct run_options *o,
                                 const struct run_target *t)
{
    if (t->line.app_list != 0)
        terminal_print(
            "%s: the applications named in it are not watched: put `holter exec` before them there",
            launcher_value(o->argv[t->line.app_list]));
    run_command_report_apart(&t->line, o->argv);
    /* Where the launcher has no room for all words, the environment has the rest, too. */
    char *const brief[] = {c->prefix[0], c->prefix[1], NULL};
    int fits = launcher_has_room(&t->line, o->argc, o->argv, c->prefix);
    if (!fits && !launcher_has_room(&t->line, o->argc, o->argv, brief))
        terminal_print("%s has no room for more words of an application, which runs unwatched",
                       o->argv[0]);
    c->words = launcher_wrap(&t->line, o->argc, o->argv, fits ? c->prefix : brief);
    return c->words == NULL ? -ENOMEM : 0;
}

static int run_command_wrap_rank(struct run_command *c, const struct run_options *o)
{
    static const struct launch_line whole = {.apps = {0}, .app_count = 1};
    c->words = launcher_wrap(&whole, o->argc, o->argv, c->prefix);
    return c->words == NULL ? -ENOMEM : 0;
}

int run_command_make(struct run_command *out, const struct run_session *session,
                     const struct run_options *options, const struct run_target *target)
{
    struct run_command c = {.program = strdup(target->program)};
    int rc = c.program == NULL ? -ENOMEM : 0;
    if (session != NULL && rc == 0) {
        rc = run_command_make_prefix(&c, session, options->verbose);
        if (rc == 0)
            rc = run_command_add_session(&c, session);
        int agent = 0;
        if (rc == 0 && !run_shim_is_container_runtime(options->argv[0]) &&
            (target->launcher == LAUNCHER_OPENMPI || target->launcher == LAUNCHER_NONE))
            agent = run_command_add_fork_agent(&c);
        if (agent == -ENOMEM)
            rc = agent;
        if (rc == 0 && target->is_rank) {
            rc = run_command_wrap_rank(&c, options);
            free(c.program);
            c.program = rc < 0 ? NULL : strdup(c.prefix[0]);
        } else if (rc == 0 &&
                   (target->launcher == LAUNCHER_HYDRA || target->launcher == LAUNCHER_SRUN ||
                    (target->launcher == LAUNCHER_OPENMPI && agent == -EINVAL))) {
            rc = run_command_wrap_line(&c, options, target);
            if (rc == 0 && target->launcher == LAUNCHER_HYDRA)
                rc = run_command_add_launch(&c);
        } else if (rc == 0 && target->launcher == LAUNCHER_NONE) {
            rc = run_command_add_shims(&c, session);
        }
    }
    if (rc == 0 && c.words == NULL)
        c.words = run_command_copy_words(options->argc, options->argv);
    if (c.words == NULL || c.program == NULL || rc < 0) {
        terminal_print("%s: cannot be put under watch: %s", options->argv[0],
                       holter_strerror(rc < 0 ? rc : -ENOMEM));
        run_command_finish(&c);
        return -1;
    }
    *out = c;
    return 0;
}

void run_command_finish(struct run_command *command)
{
    for (size_t i = 0; i < CAPACITY(command->environment); i++)
        free(command->environment[i]);
    for (size_t i = 0; i < CAPACITY(command->prefix); i++)
        free(command->prefix[i]);
    free(command->words);
    free(command->program);
    *command = (struct run_command){0};
}

/* ---- --dry-run ----------------------------------------------------------- */

/** One word as a shell would need it. */
static void run_command_print_word(const char *word)
{
    static const char plain[] = "%+,-./:=@_^";
    int quote = word[0] == '\0';
    for (const char *c = word; *c != '\0' && !quote; c++)
        quote = !isalnum((unsigned char)*c) && strchr(plain, *c) == NULL;
    if (!quote) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (const char *c = word; *c != '\0'; c++)
        if (*c == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*c);
    putchar('\'');
}

static void run_command_print_words(const char *const words[])
{
    for (int i = 0; words[i] != NULL; i++) {
        if (i > 0)
            putchar(' ');
        run_command_print_word(words[i]);
    }
    putchar('\n');
}

static void run_command_print_assignment(const char *text)
{
    size_t name = strcspn(text, "=");
    printf("%.*s=", (int)name, text);
    run_command_print_word(text + name + 1);
    putchar('\n');
}

void run_command_print(const struct run_session *session, const struct run_options *options,
                       const struct run_command *command)
{
    if (session->daemon_wanted) {
        const char **words = run_daemon_command(session, options, "holterd");
        if (words != NULL)
            run_command_print_words(words);
        free(words);
    }
    for (int i = 0; command->environment[i] != NULL; i++)
        run_command_print_assignment(command->environment[i]);
    run_command_print_words((const char *const *)command->words);
}
