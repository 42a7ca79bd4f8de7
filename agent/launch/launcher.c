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
    NODES,     /**< number of nodes */
    NAME_VALUE /**< "name value", or "name=value" in one word */
};

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
    {"N", 1, PLAIN},
    {"am", 1, PLAIN},
    {"c", 1, PLAIN},
    {"cartofile", 1, PLAIN},
    {"cf", 1, PLAIN},
    {"bind-to", 1, PLAIN},
    {"cpu-list", 1, PLAIN},
    {"cpu-set", 1, PLAIN},
    {"cpus-per-proc", 1, PLAIN},
    {"cpus-per-rank", 1, PLAIN},
    {"debugger", 1, PLAIN},
    {"gmca", 2, PLAIN},
    {"hnp", 1, PLAIN},
    {"launch-agent", 1, PLAIN},
    {"map-by", 1, PLAIN},
    {"max-restarts", 1, PLAIN},
    {"max-vm-size", 1, PLAIN},
    {"mca", 2, PLAIN},
    {"n", 1, PLAIN},
    {"np", 1, PLAIN},
    {"npernode", 1, PLAIN},
    {"npersocket", 1, PLAIN},
    {"ompi-server", 1, PLAIN},
    {"output-filename", 1, PLAIN},
    {"path", 1, PLAIN},
    {"personality", 1, PLAIN},
    {"pmixmca", 2, PLAIN},
    {"ppr", 1, PLAIN},
    {"prefix", 1, PLAIN},
    {"preload-files", 1, PLAIN},
    {"prtemca", 2, PLAIN},
    {"rank-by", 1, PLAIN},
    {"rankfile", 1, PLAIN},
    {"report-events", 1, PLAIN},
    {"report-pid", 1, PLAIN},
    {"report-uri", 1, PLAIN},
    {"rf", 1, PLAIN},
    {"slot-list", 1, PLAIN},
    {"stdin", 1, PLAIN},
    {"timeout", 1, PLAIN},
    {"tune", 1, PLAIN},
    {"wd", 1, PLAIN},
    {"wdir", 1, PLAIN},
    {"x", 1, PLAIN},
    {"xml-file", 1, PLAIN},
    {"xterm", 1, PLAIN},
    {NULL, 0, PLAIN},
};

static const struct option hydra_options[] = {
    {"hosts", 1, HOSTS},
    {"host", 1, HOSTS},
    {"f", 1, HOSTFILE},
    {"machinefile", 1, HOSTFILE},
    {"machine", 1, HOSTFILE},
    {"hostfile", 1, HOSTFILE},
    {"configfile", 1, APP_LIST},
    {"env", 1, NAME_VALUE},
    {"genv", 1, NAME_VALUE},
    {"arch", 1, PLAIN},
    {"bind-to", 1, PLAIN},
    {"demux", 1, PLAIN},
    {"envlist", 1, PLAIN},
    {"errfile", 1, PLAIN},
    {"errfile-pattern", 1, PLAIN},
    {"genvlist", 1, PLAIN},
    {"gpus-per-proc", 1, PLAIN},
    {"iface", 1, PLAIN},
    {"launcher", 1, PLAIN},
    {"launcher-exec", 1, PLAIN},
    {"localhost", 1, PLAIN},
    {"map-by", 1, PLAIN},
    {"membind", 1, PLAIN},
    {"n", 1, PLAIN},
    {"nameserver", 1, PLAIN},
    {"np", 1, PLAIN},
    {"order-nodes", 1, PLAIN},
    {"outfile", 1, PLAIN},
    {"outfile-pattern", 1, PLAIN},
    {"path", 1, PLAIN},
    {"perhost", 1, PLAIN},
    {"pmi-port", 1, PLAIN},
    {"ppn", 1, PLAIN},
    {"prepend-pattern", 1, PLAIN},
    {"rmk", 1, PLAIN},
    {"soft", 1, PLAIN},
    {"timeout", 1, PLAIN},
    {"topolib", 1, PLAIN},
    {"usize", 1, PLAIN},
    {"wdir", 1, PLAIN},
    {NULL, 0, PLAIN},
};

/* Options of srun whose value may be left out take it after "=" only, and so no further word. Of
 * them only --bcast is listed: it would be taken for the beginning of --bcast-exclude. */
static const struct option srun_options[] = {
    {"N", 1, NODES},
    {"nodes", 1, NODES},
    {"w", 1, PLAIN},
    {"nodelist", 1, PLAIN},
    {"F", 1, PLAIN},
    {"nodefile", 1, PLAIN},
    {"A", 1, PLAIN},
    {"B", 1, PLAIN},
    {"C", 1, PLAIN},
    {"D", 1, PLAIN},
    {"G", 1, PLAIN},
    {"J", 1, PLAIN},
    {"L", 1, PLAIN},
    {"M", 1, PLAIN},
    {"S", 1, PLAIN},
    {"T", 1, PLAIN},
    {"W", 1, PLAIN},
    {"accel-bind", 1, PLAIN},
    {"account", 1, PLAIN},
    {"acctg-freq", 1, PLAIN},
    {"b", 1, PLAIN},
    {"bb", 1, PLAIN},
    {"bbf", 1, PLAIN},
    {"bcast", 0, PLAIN},
    {"bcast-exclude", 1, PLAIN},
    {"begin", 1, PLAIN},
    {"c", 1, PLAIN},
    {"chdir", 1, PLAIN},
    {"cluster-constraint", 1, PLAIN},
    {"clusters", 1, PLAIN},
    {"comment", 1, PLAIN},
    {"constraint", 1, PLAIN},
    {"container", 1, PLAIN},
    {"core-spec", 1, PLAIN},
    {"cores-per-socket", 1, PLAIN},
    {"cpu-bind", 1, PLAIN},
    {"cpu-freq", 1, PLAIN},
    {"cpus-per-gpu", 1, PLAIN},
    {"cpus-per-task", 1, PLAIN},
    {"d", 1, PLAIN},
    {"deadline", 1, PLAIN},
    {"delay-boot", 1, PLAIN},
    {"dependency", 1, PLAIN},
    {"distribution", 1, PLAIN},
    {"e", 1, PLAIN},
    {"epilog", 1, PLAIN},
    {"error", 1, PLAIN},
    {"exclude", 1, PLAIN},
    {"export", 1, PLAIN},
    {"extra-node-info", 1, PLAIN},
    {"gid", 1, PLAIN},
    {"gpu-bind", 1, PLAIN},
    {"gpu-freq", 1, PLAIN},
    {"gpus", 1, PLAIN},
    {"gpus-per-node", 1, PLAIN},
    {"gpus-per-socket", 1, PLAIN},
    {"gpus-per-task", 1, PLAIN},
    {"gres", 1, PLAIN},
    {"gres-flags", 1, PLAIN},
    {"het-group", 1, PLAIN},
    {"hint", 1, PLAIN},
    {"i", 1, PLAIN},
    {"input", 1, PLAIN},
    {"job-name", 1, PLAIN},
    {"jobid", 1, PLAIN},
    {"licenses", 1, PLAIN},
    {"m", 1, PLAIN},
    {"mail-type", 1, PLAIN},
    {"mail-user", 1, PLAIN},
    {"mcs-label", 1, PLAIN},
    {"mem", 1, PLAIN},
    {"mem-bind", 1, PLAIN},
    {"mem-per-cpu", 1, PLAIN},
    {"mem-per-gpu", 1, PLAIN},
    {"mincpus", 1, PLAIN},
    {"mpi", 1, PLAIN},
    {"msg-timeout", 1, PLAIN},
    {"n", 1, PLAIN},
    {"network", 1, PLAIN},
    {"ntasks", 1, PLAIN},
    {"ntasks-per-core", 1, PLAIN},
    {"ntasks-per-gpu", 1, PLAIN},
    {"ntasks-per-node", 1, PLAIN},
    {"ntasks-per-socket", 1, PLAIN},
    {"o", 1, PLAIN},
    {"open-mode", 1, PLAIN},
    {"output", 1, PLAIN},
    {"p", 1, PLAIN},
    {"partition", 1, PLAIN},
    {"power", 1, PLAIN},
    {"prefer", 1, PLAIN},
    {"priority", 1, PLAIN},
    {"profile", 1, PLAIN},
    {"prolog", 1, PLAIN},
    {"q", 1, PLAIN},
    {"qos", 1, PLAIN},
    {"r", 1, PLAIN},
    {"relative", 1, PLAIN},
    {"reservation", 1, PLAIN},
    {"signal", 1, PLAIN},
    {"slurmd-debug", 1, PLAIN},
    {"sockets-per-node", 1, PLAIN},
    {"switches", 1, PLAIN},
    {"t", 1, PLAIN},
    {"task-epilog", 1, PLAIN},
    {"task-prolog", 1, PLAIN},
    {"thread-spec", 1, PLAIN},
    {"threads", 1, PLAIN},
    {"threads-per-core", 1, PLAIN},
    {"time", 1, PLAIN},
    {"time-min", 1, PLAIN},
    {"tmp", 1, PLAIN},
    {"uid", 1, PLAIN},
    {"wait", 1, PLAIN},
    {"wckey", 1, PLAIN},
    {"x", 1, PLAIN},
    {NULL, 0, PLAIN},
};

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

static const struct option *launcher_table_of(enum launcher launcher)
{
    return launcher == LAUNCHER_OPENMPI ? openmpi_options
           : launcher == LAUNCHER_HYDRA ? hydra_options
                                        : srun_options;
}

/** Option of this name. For srun, getopt_long(3) also takes the unambiguous beginning of a long
 *  name.
 *  @param prefixes  1: beginnings count */
static const struct option *launcher_find_option(const struct option *table, const char *name,
                                                 size_t length, int prefixes)
{
    const struct option *found = NULL;
    for (const struct option *o = table; o->name != NULL; o++) {
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0)
            return o;
        if (prefixes && found == NULL && length > 1 && strlen(o->name) > length &&
            memcmp(o->name, name, length) == 0)
            found = o;
    }
    return found;
}

static void launcher_record_value(struct launch_line *out, const struct option *option,
                                  unsigned index, const char *value)
{
    switch (option->meaning) {
    case HOSTS:
        out->hosts = index;
        break;
    case HOSTFILE:
        out->hostfile = index;
        break;
    case APP_LIST:
        out->app_list = index;
        break;
    case NODES:
        out->nodes = atoi(value);
        break;
    case PLAIN:
    case NAME_VALUE:
        break;
    }
}

/** Words of an option with its values, for Open MPI and Hydra, which take one dash and two alike.
 *  */
static int launcher_scan_dashed_words(struct launch_line *out, const struct option *table, int i,
                                      int argc, char *const argv[])
{
    const char *name = argv[i] + 1 + (argv[i][1] == '-');
    const char *equals = strchr(name, '=');
    size_t length = equals == NULL ? strlen(name) : (size_t)(equals - name);
    const struct option *option = launcher_find_option(table, name, length, 0);
    if (option == NULL || equals != NULL || i + 1 >= argc)
        return 1;
    launcher_record_value(out, option, (unsigned)i + 1, argv[i + 1]);
    int words = option->words;
    if (option->meaning == NAME_VALUE && strchr(argv[i + 1], '=') == NULL)
        words = 2;
    return 1 + words;
}

/** Words of an option of srun: getopt_long(3) with short options that may be joined. */
static int launcher_scan_srun_words(struct launch_line *out, int i, int argc, char *const argv[])
{
    const char *word = argv[i];
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        size_t length = equals == NULL ? strlen(word + 2) : (size_t)(equals - word - 2);
        const struct option *option = launcher_find_option(srun_options, word + 2, length, 1);
        if (option != NULL && equals != NULL)
            launcher_record_value(out, option, (unsigned)i, equals + 1);
        if (option == NULL || option->words == 0 || equals != NULL || i + 1 >= argc)
            return 1;
        launcher_record_value(out, option, (unsigned)i + 1, argv[i + 1]);
        return 2;
    }
    for (const char *c = word + 1; *c != '\0'; c++) {
        const struct option *option = launcher_find_option(srun_options, c, 1, 0);
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
    struct launch_line line = {0};
    int i = 1;
    while (i < argc) {
        const char *word = argv[i];
        if (strcmp(word, ":") == 0) {
            i++;
        } else if (word[0] == '-' && word[1] != '\0' && strcmp(word, "--") != 0) {
            i +=
                launcher == LAUNCHER_SRUN
                    ? launcher_scan_srun_words(&line, i, argc, argv)
                    : launcher_scan_dashed_words(&line, launcher_table_of(launcher), i, argc, argv);
        } else {
            i += strcmp(word, "--") == 0;
            if (i >= argc)
                break;
            if (line.app_count == LAUNCH_MAX_APPS)
                return -HOLTER_ELIMIT;
            line.apps[line.app_count++] = (unsigned)i;
            i = launcher_find_app_end(i, argc, argv);
        }
    }
    if (line.app_count == 0 && line.app_list == 0)
        return -HOLTER_EUSAGE;
    *out = line;
    return 0;
}

char **launcher_wrap(const struct launch_line *line, int argc, char *const argv[],
                     char *const prefix[])
{
    size_t extra = 0;
    while (prefix[extra] != NULL)
        extra++;
    char **words = calloc((size_t)argc + line->app_count * extra + 1, sizeof *words);
    if (words == NULL)
        return NULL;
    size_t used = 0;
    unsigned app = 0;
    for (int i = 0; i < argc; i++) {
        if (app < line->app_count && line->apps[app] == (unsigned)i) {
            memcpy(words + used, prefix, extra * sizeof *words);
            used += extra;
            app++;
        }
        words[used++] = argv[i];
    }
    return words;
}
