/* Recognises launchers, and finds the applications on their command lines. */
#include "agent/launch/launcher.h"

#include "agent/launch/detect_mpi.h"
#include "holter/error.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum meaning {
    PLAIN,     /**< its words mean nothing to us */
    HOSTS,     /**< host names */
    HOSTFILE,  /**< file of host names */
    APP_LIST,  /**< file of applications */
    APPS_NEXT, /**< no value: where an application stands else, such a file is named */
    NODES,     /**< number of nodes */
    APART,     /**< the application is started where `holter` is not */
    NAME_VALUE /**< "name value", or "name=value" in one word */
};

/** An option of a launcher; those with one word that means nothing to us are only listed by name.
 */
struct option {
    const char *name; /**< without dashes */
    int words;        /**< that follow it */
    enum meaning meaning;
};

static const struct option openmpi_options[] = {
    {"H", 1, HOSTS},
    {"host", 1, HOSTS},
    {"hostfile", 1, HOSTFILE},
    {"machinefile", 1, HOSTFILE},
    {"default-hostfile", 1, HOSTFILE},
    {"app", 1, APP_LIST},
    {"gmca", 2, PLAIN},
    {"gomca", 2, PLAIN},
    {"mca", 2, PLAIN},
    {"omca", 2, PLAIN},
    {"pmixmca", 2, PLAIN},
    {"prtemca", 2, PLAIN},
    {NULL, 0, PLAIN},
};

static const char openmpi_plain[] =
    "N am amca arch c cartofile cf bind-to cpu-list cpu-set cpus-per-proc cpus-per-rank debugger "
    "display file forward-signals hnp initial-errhandler launch-agent map-by max-restarts "
    "max-vm-size memory-alloc-kinds n np npernode npersocket ompi-server output output-directory "
    "output-filename path personality ppr prefix preload-files pset rank-by rankfile "
    "report-events report-pid report-uri rf runtime-options slot-list spawn-timeout stdin "
    "stream-buffering timeout tune wd wdir with-ft x xml-file xterm";

static const struct option hydra_options[] = {
    {"hosts", 1, HOSTS},       {"host", 1, HOSTS},
    {"hostlist", 1, HOSTS},    {"hosts-group", 1, HOSTS},
    {"machines", 1, HOSTS},    {"machinelist", 1, HOSTS},
    {"machine", 1, HOSTFILE}, /* of Intel MPI; MPICH takes host names */
    {"f", 1, HOSTFILE},        {"machinefile", 1, HOSTFILE},
    {"hostfile", 1, HOSTFILE}, {"configfile", 1, APP_LIST},
    {"env", 1, NAME_VALUE},    {"genv", 1, NAME_VALUE},
    {NULL, 0, PLAIN},
};

static const char hydra_plain[] =
    "arch bind-to binding bindlib bootstrap bootstrap-exec bootstrap-exec-args branch-count "
    "ckpoint-interval ckpoint-num ckpoint-prefix ckpointlib demux envlist errfile errfile-pattern "
    "genvexcl genvlist gpath gpus-per-proc grr gtool gtoolfile gumask gwdir hostos iface launcher "
    "launcher-exec localhost map-by membind n nameserver np order-nodes outfile outfile-pattern "
    "output-from path perhost pmi-connect ppn prepend-pattern rankmap ranks-per-proc rmk s soft "
    "timeout tmpdir topolib tune umask use-app-topology usize wdir";

/* Options of srun whose value may be left out take it after "=" only, and so no further word. Of
 * them only --bcast is listed, which starts a copy of the line's program on each node. The options
 * for images of containers are those of Pyxis. */
static const struct option srun_options[] = {
    {"N", 1, NODES},
    {"nodes", 1, NODES},
    {"bcast", 0, APART},
    {"multi-prog", 0, APPS_NEXT},
    {"container", 1, APART},
    {"container-image", 1, APART},
    {"container-name", 1, APART},
    {NULL, 0, PLAIN},
};

static const char srun_plain[] =
    "w nodelist F nodefile A B C D G J L M S T W accel-bind account acctg-freq b bb bbf "
    "bcast-exclude begin c chdir cluster-constraint clusters comment constraint container-env "
    "container-id container-mounts container-save container-workdir core-spec cores-per-socket "
    "cpu-bind cpu-freq cpus-per-gpu cpus-per-task d deadline delay-boot dependency distribution e "
    "epilog error exclude export extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node "
    "gpus-per-socket gpus-per-task gres gres-flags het-group hint i input job-name jobid licenses "
    "m mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout "
    "n network ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket o "
    "open-mode output p partition power prefer priority profile prolog q qos r relative "
    "reservation signal segment slurmd-debug sockets-per-node switches t task-epilog task-prolog "
    "thread-spec threads threads-per-core time time-min tmp tres-bind tres-per-task treewidth uid "
    "wait wckey x";

/* MPICH has a table of 1000 pointers for an application, the last of which is NULL, and writes
 * beyond it where there are more words. */
#define HYDRA_MOST_WORDS 999u

/* ---- which launcher ------------------------------------------------------ */

static enum launcher launcher_by_name(const char *name)
{
    static const struct {
        const char *name;
        enum launcher launcher;
    } names[] = {
        {"orterun", LAUNCHER_OPENMPI},
        {"prterun", LAUNCHER_OPENMPI},
        {"mpirun.openmpi", LAUNCHER_OPENMPI},
        {"mpiexec.openmpi", LAUNCHER_OPENMPI},
        {"mpiexec.hydra", LAUNCHER_HYDRA},
        {"mpirun.mpich", LAUNCHER_HYDRA},
        {"mpiexec.mpich", LAUNCHER_HYDRA},
        {"mpirun.hydra", LAUNCHER_HYDRA},
        {"srun", LAUNCHER_SRUN},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].launcher;
    return LAUNCHER_NONE;
}

/** A shell script that starts a launcher under its own name (Intel MPI's mpirun, sites' wrappers).
 *  */
static enum launcher launcher_detect_script(const char *path)
{
    char text[32 * 1024];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n < 2 || text[0] != '#' || text[1] != '!')
        return LAUNCHER_NONE;
    text[n] = '\0';
    if (strstr(text, "mpiexec.hydra") != NULL)
        return LAUNCHER_HYDRA;
    return strstr(text, "orterun") != NULL || strstr(text, "prterun") != NULL ? LAUNCHER_OPENMPI
                                                                              : LAUNCHER_NONE;
}

enum launcher launcher_detect(const char *path)
{
    char resolved[PATH_MAX], given[PATH_MAX];
    if (strlen(path) >= sizeof given || realpath(path, resolved) == NULL)
        return LAUNCHER_NONE;
    strcpy(given, path);
    const char *asked = basename(given);
    const char *real = strrchr(resolved, '/') + 1;
    enum launcher launcher = launcher_by_name(real);
    if (launcher == LAUNCHER_NONE)
        launcher = launcher_by_name(asked);
    if (launcher != LAUNCHER_NONE)
        return launcher;
    if (strcmp(real, "mpirun") != 0 && strcmp(real, "mpiexec") != 0 &&
        strcmp(asked, "mpirun") != 0 && strcmp(asked, "mpiexec") != 0)
        return LAUNCHER_NONE;
    const char *library_path = getenv("LD_LIBRARY_PATH");
    if (detect_mpi_program_links(resolved, library_path, "libopen-rte.so") ||
        detect_mpi_program_links(resolved, library_path, "libopen-pal.so") ||
        detect_mpi_program_links(resolved, library_path, "libprrte.so"))
        return LAUNCHER_OPENMPI;
    return launcher_detect_script(resolved);
}

/* ---- the command line ---------------------------------------------------- */

/** What is known of a launcher's options. */
static const struct known {
    const struct option *options; /**< ended by one without a name */
    const char *plain;            /**< separated by spaces */
} known_options[] = {
    [LAUNCHER_OPENMPI] = {openmpi_options, openmpi_plain},
    [LAUNCHER_HYDRA] = {hydra_options, hydra_plain},
    [LAUNCHER_SRUN] = {srun_options, srun_plain},
};

/** @return 2 when it is the name, 1 when it is the beginning of it */
static int launcher_compare_name(const char *full, size_t full_length, const char *name,
                                 size_t length)
{
    return length > full_length || memcmp(full, name, length) != 0 ? 0
           : length == full_length                                 ? 2
                                                                   : 1;
}

/** Option of this name. For srun, getopt_long(3) also takes the unambiguous beginning of a long
 *  name.
 *  @param prefixes  1: beginnings count */
static const struct option *launcher_find_option(enum launcher launcher, const char *name,
                                                 size_t length, int prefixes)
{
    static const struct option plain = {"", 1, PLAIN};
    const struct known *known = &known_options[launcher];
    const struct option *found = NULL;
    int same;
    for (const struct option *o = known->options; o->name != NULL; o++) {
        if ((same = launcher_compare_name(o->name, strlen(o->name), name, length)) == 2)
            return o;
        if (same == 1 && prefixes && found == NULL && length > 1)
            found = o;
    }
    for (const char *word = known->plain; *word != '\0'; word += strspn(word, " ")) {
        size_t full = strcspn(word, " ");
        if ((same = launcher_compare_name(word, full, name, length)) == 2)
            return &plain;
        if (same == 1 && prefixes && found == NULL && length > 1)
            found = &plain;
        word += full;
    }
    return found;
}

const char *launcher_value(const char *word)
{
    const char *equals = word[0] == '-' ? strchr(word, '=') : NULL;
    return equals == NULL ? word : equals + 1;
}

static void launcher_append_word(struct launch_words *words, unsigned index)
{
    if (words->count < LAUNCH_MAX_APPS)
        words->at[words->count++] = index;
}

static void launcher_record_value(struct launch_line *out, const struct option *option,
                                  unsigned index, const char *value)
{
    long nodes;
    switch (option->meaning) {
    case HOSTS:
        launcher_append_word(&out->hosts, index);
        break;
    case HOSTFILE:
        launcher_append_word(&out->files, index);
        break;
    case APP_LIST:
        out->app_list = index;
        break;
    case NODES: /* of each application of its own */
        nodes = strtol(value, NULL, 10);
        out->nodes += nodes > 0 && nodes < INT_MAX - out->nodes ? (int)nodes : 0;
        break;
    case APPS_NEXT:
        out->apps_next = 1;
        break;
    case APART:
        out->apart = index;
        break;
    case PLAIN:
    case NAME_VALUE:
        break;
    }
}

/** Words of an option with its values, for Open MPI and Hydra, which take one dash and two alike.
 *  */
static int launcher_scan_dashed_words(struct launch_line *out, enum launcher launcher, int i,
                                      int argc, char *const argv[])
{
    const char *name = argv[i] + 1 + (argv[i][1] == '-');
    const char *equals = strchr(name, '=');
    size_t length = equals == NULL ? strlen(name) : (size_t)(equals - name);
    const struct option *option = launcher_find_option(launcher, name, length, 0);
    if (option == NULL || (equals == NULL && i + 1 >= argc))
        return 1;
    const int at = equals == NULL ? i + 1 : i;
    const char *value = equals == NULL ? argv[at] : equals + 1;
    launcher_record_value(out, option, (unsigned)at, value);
    if (option->meaning == NAME_VALUE)
        return at - i + (strchr(value, '=') == NULL ? 2 : 1);
    return 1 + (equals == NULL ? option->words : 0);
}

/** Words of an option of srun: getopt_long(3) with short options that may be joined. */
static int launcher_scan_srun_words(struct launch_line *out, int i, int argc, char *const argv[])
{
    const char *word = argv[i];
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        size_t length = equals == NULL ? strlen(word + 2) : (size_t)(equals - word - 2);
        const struct option *option = launcher_find_option(LAUNCHER_SRUN, word + 2, length, 1);
        if (option != NULL && (equals != NULL || option->words == 0))
            launcher_record_value(out, option, (unsigned)i, launcher_value(word));
        if (option == NULL || option->words == 0 || equals != NULL || i + 1 >= argc)
            return 1;
        launcher_record_value(out, option, (unsigned)i + 1, argv[i + 1]);
        return 2;
    }
    for (const char *c = word + 1; *c != '\0'; c++) {
        const struct option *option = launcher_find_option(LAUNCHER_SRUN, c, 1, 0);
        if (*c == 'I' || *c == 'K' || *c == 'k') /* the rest is their optional value */
            return 1;
        if (option == NULL)
            continue;
        if (c[1] != '\0') {
            launcher_record_value(out, option, (unsigned)i, c + 1);
            return 1;
        }
        if (i + 1 < argc)
            launcher_record_value(out, option, (unsigned)i + 1, argv[i + 1]);
        return 2;
    }
    return 1;
}

/** End of the application that begins at a word: the next lone colon, or the end of the line. */
static int launcher_find_app_end(int i, int argc, char *const argv[])
{
    while (i < argc && strcmp(argv[i], ":") != 0)
        i++;
    return i;
}

int launcher_parse(struct launch_line *out, enum launcher launcher, int argc, char *const argv[])
{
    struct launch_line line = {.most_words = launcher == LAUNCHER_HYDRA ? HYDRA_MOST_WORDS : 0};
    int i = 1;
    while (i < argc) {
        const char *word = argv[i];
        if (strcmp(word, ":") == 0) {
            i++;
        } else if (word[0] == '-' && word[1] != '\0' && strcmp(word, "--") != 0) {
            i += launcher == LAUNCHER_SRUN
                     ? launcher_scan_srun_words(&line, i, argc, argv)
                     : launcher_scan_dashed_words(&line, launcher, i, argc, argv);
        } else {
            i += strcmp(word, "--") == 0;
            if (i >= argc)
                break;
            if (line.app_count == LAUNCH_MAX_APPS)
                return -HOLTER_ELIMIT;
            if (line.apps_next)
                line.app_list = (unsigned)i;
            else
                line.apps[line.app_count++] = (unsigned)i;
            line.apps_next = 0;
            i = launcher_find_app_end(i, argc, argv);
        }
    }
    if (line.app_count == 0 && line.app_list == 0)
        return -HOLTER_EUSAGE;
    if (line.apart != 0)
        line.app_count = 0;
    *out = line;
    return 0;
}

static size_t launcher_count_words(char *const words[])
{
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    return count;
}

/** Is there room for more words before the application that begins at a word? */
static int launcher_app_has_room(const struct launch_line *line, int i, int argc,
                                 char *const argv[], size_t extra)
{
    size_t words = (size_t)(launcher_find_app_end(i, argc, argv) - i);
    return line->most_words == 0 || words + extra <= line->most_words;
}

int launcher_has_room(const struct launch_line *line, int argc, char *const argv[],
                      char *const prefix[])
{
    size_t extra = launcher_count_words(prefix);
    for (unsigned app = 0; app < line->app_count; app++)
        if (!launcher_app_has_room(line, (int)line->apps[app], argc, argv, extra))
            return 0;
    return 1;
}

char **launcher_wrap(const struct launch_line *line, int argc, char *const argv[],
                     char *const prefix[])
{
    size_t extra = launcher_count_words(prefix);
    char **words = calloc((size_t)argc + line->app_count * extra + 1, sizeof *words);
    if (words == NULL)
        return NULL;
    size_t used = 0;
    unsigned app = 0;
    for (int i = 0; i < argc; i++) {
        if (app < line->app_count && line->apps[app] == (unsigned)i) {
            size_t fitting = launcher_app_has_room(line, i, argc, argv, extra) ? extra : 0;
            memcpy(words + used, prefix, fitting * sizeof *words);
            used += fitting;
            app++;
        }
        words[used++] = argv[i];
    }
    return words;
}
