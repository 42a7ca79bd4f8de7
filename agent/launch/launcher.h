/* MPI launchers: which one a program is, and where on its command line the applications stand.
 *
 * Sources of the tables: mpirun(1) of Open MPI 4.1, `mpiexec.hydra -help` of MPICH 4.0,
 * mpiexec.hydra(1) of Intel MPI 2019, srun(1) of Slurm 22.05 and the README of Pyxis. Only options
 * that take words of their own are listed: any other word that begins with a dash is a flag. */
#ifndef HOLTER_AGENT_LAUNCH_LAUNCHER_H
#define HOLTER_AGENT_LAUNCH_LAUNCHER_H

enum launcher {
    LAUNCHER_NONE,    /**< no launcher that we know */
    LAUNCHER_OPENMPI, /**< mpirun, mpiexec of Open MPI; orterun, prterun */
    LAUNCHER_HYDRA,   /**< mpiexec.hydra of MPICH and its kin */
    LAUNCHER_SRUN,    /**< srun of Slurm */
};

/** "mpirun of Open MPI", "mpiexec of MPICH", "srun of Slurm", "no launcher". */
const char *launcher_name(enum launcher launcher);

/** Which launcher is it? Follows symbolic links (mpirun -> /etc/alternatives/mpirun -> orterun); a
 *  program that is only called mpirun or mpiexec is known by the libraries it needs, a script by
 *  what it calls.
 *  @param path  executable file */
enum launcher launcher_detect(const char *path);

#define LAUNCH_MAX_APPS 256u /**< applications of one MPMD command line */

/** Words of a command line. */
struct launch_words {
    unsigned at[LAUNCH_MAX_APPS];
    unsigned count;
};

/** Where things stand on a launcher's command line; indexes into argv. */
struct launch_line {
    unsigned apps[LAUNCH_MAX_APPS]; /**< first word of each application, in order */
    unsigned app_count;
    unsigned most_words;       /**< that the launcher has room for in an application; 0: any */
    int apps_next;             /**< used while the words are read */
    unsigned apart;            /**< option by which applications are started where `holter` is not,
                                    in a container or as a copy: app_count is 0; 0: none */
    unsigned app_list;         /**< names a file of applications; 0: none does */
    struct launch_words hosts; /**< host names, of all applications */
    struct launch_words files; /**< names of files of hosts */
    int nodes;                 /**< requested number of nodes; 0: not given */
};

/** The value in a word: all of it, or what stands behind the "=" of an option. */
const char *launcher_value(const char *word);

/** Find the applications and hosts.
 *  @param argc, argv  the launcher's words, argv[0] the launcher
 *  @return 0, -HOLTER_EUSAGE when there is no application, -HOLTER_ELIMIT for more than
 *          LAUNCH_MAX_APPS */
int launcher_parse(struct launch_line *out, enum launcher launcher, int argc, char *const argv[]);

/** Has the launcher room for words before each of its applications?
 *  @param prefix  words, ended by NULL */
int launcher_has_room(const struct launch_line *line, int argc, char *const argv[],
                      char *const prefix[]);

/** A command line with words put before each application for which the launcher has room then.
 *  @param prefix  words, ended by NULL
 *  @return array ended by NULL, to be freed; its words are borrowed from argv and prefix. NULL: no
 *          memory */
char **launcher_wrap(const struct launch_line *line, int argc, char *const argv[],
                     char *const prefix[]);

#endif
