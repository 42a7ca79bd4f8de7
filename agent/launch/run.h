/* The parts of `holter run`: what was asked for, the session it makes, the command it runs, the
 * closing line. */
#ifndef HOLTER_AGENT_LAUNCH_RUN_H
#define HOLTER_AGENT_LAUNCH_RUN_H

#include "agent/launch/launcher.h"
#include "agent/launch/restarts.h"

#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/** Command line of `holter run`. Texts are borrowed from it; NULL: not given. */
struct run_options {
    int verbose;
    int dry_run;
    int strict; /**< refuse what is at fault, rather than run the command without it */
    int no_record;
    int view;
    const char *output;   /**< file to record into */
    const char *record;   /**< directory to record into */
    const char *max_size; /**< of the recording, in holterd's syntax */
    const char *window;   /**< length of a window, in holterd's syntax */
    const char *listen;   /**< endpoint for the daemon */
    const char *daemon;   /**< endpoint of a daemon that is already there */
    const char *keys;     /**< directory of CURVE keys */
    const char *topology; /**< network under the job, for the daemon */
    const char *rules;    /**< file of alert rules, as the next ones for the daemon */
    const char *alert_log, *on_alert, *alertmanager;
    const char *cluster, *external_url; /**< for alerts and metrics */
    const char *metrics;                /**< where the daemon serves metrics */
    int syslog;
    int argc;    /**< words of the command */
    char **argv; /**< the command, NULL at its end */
};

/** What is to be launched, and how the ranks are put under watch. */
struct run_target {
    char program[PATH_MAX];  /**< first word of the command, found through PATH */
    enum launcher launcher;  /**< LAUNCHER_NONE: the program itself or a script */
    int is_rank;             /**< 1: an MPI program without a launcher, a job of one rank */
    int other_hosts;         /**< 1: ranks run on other hosts too */
    char other_host[256];    /**< one of them; "" when only their number is known */
    struct launch_line line; /**< of a launcher */
};

/** Look at the command. @return 0, or the exit status after having said what is wrong */
int run_target_find(struct run_target *out, const struct run_options *options);

/** One session: names, places, and the daemon when it is ours. */
struct run_session {
    char key[17];          /**< session key */
    char job[40];          /**< first part of the job ids */
    char dir[PATH_MAX];    /**< <run dir>/<key>; "" when not made */
    char local[PATH_MAX];  /**< endpoint for programs on this host */
    char remote[512];      /**< endpoint for other hosts; "" when there are none */
    char keys[PATH_MAX];   /**< directory of keys; "": none */
    int own_keys;          /**< 1: made here, to be removed */
    char record[PATH_MAX]; /**< directory of recordings; "": none */
    char log[PATH_MAX];    /**< what the daemon writes on standard error */
    int daemon_wanted;     /**< 1: a daemon of its own; 0: one that is already there serves it */
    const struct run_options *options; /**< borrowed by run_session_open() */
    pid_t daemon;                      /**< ours while it runs, else 0 */
    struct restarts crashes;           /**< of the daemon */
    unsigned restarted;                /**< how often it was restarted after a crash */
    char start_fault[256];             /**< why it could not be started; "": it could */
    time_t started;
};

/** Choose names and places. Makes nothing. @return 0 or -1 after having said what is wrong */
int run_session_plan(struct run_session *session, const struct run_options *options,
                     const struct run_target *target);

/** Make the directories and keys and start the daemon; wait until it answers.
 *  @return 0, or -1 after having said what is wrong; nothing is left then */
int run_session_open(struct run_session *session, const struct run_options *options);

/** Stop the daemon, if it is ours, and remove all that was made. The agent of this host removes its
 *  own. So are sessions of runs that were killed. */
void run_session_close(struct run_session *session);

/** Make the session's directory, and register this process as one that it belongs to: a run in a
 * job script of another run shares its session. @return 0 or -errno */
int run_owners_join(const struct run_session *session);

/** Whether there is a note of that name for the session's runs: "unwatched." from a probe or
 * `holter exec` that has said why it cannot watch, "uninitialised" from an agent.
 *  @param name  that it begins with */
int run_owners_have_note(const struct run_session *session, const char *name);

/** What the processes of a job have noted about being alone: their launcher is of another MPI.
 *  @param out  a sentence, or "" */
void run_owners_read_alone(const struct run_session *session, const char *job, char *out,
                           size_t capacity);

/** Remove the registration and, when it was the last, all that the session's directory holds, and
 *  keys that were made for it. */
void run_owners_leave(const struct run_session *session);

/** Remove what sessions of this user and host have left: segments and registrations of dead
 *  processes that no agent serves, and all of sessions whose runs are dead and that have no ranks.
 *  @param run_dir  as session_run_dir() gives it */
void run_owners_sweep(const char *run_dir);

/** Start the session's daemon and wait until it answers. @return 0, or -1 after having said what is
 *  wrong */
int run_daemon_start(struct run_session *session);

/** The daemon has ended. It is restarted at the same endpoints, with the same keys and recordings,
 *  unless it ended in order or has crashed too often. Does not wait for it.
 *  @param status  as waitpid(2) gives it */
void run_daemon_ended(struct run_session *session, int status);

/** Look whether the daemon has ended. @return 1 when it had and was restarted */
int run_daemon_revive(struct run_session *session);

/** Stop the daemon, if it is ours. */
void run_daemon_stop(struct run_session *session);

/** Command line of the session's daemon.
 *  @return array ended by NULL, to be freed; words are borrowed from the session and the options */
const char **run_daemon_command(const struct run_session *session,
                                const struct run_options *options, const char *program);

#define RUN_ALERT_WORDS 15 /**< most words that run_alert_words() makes */

/** Words about alerts and metrics for the daemon's command line. @param words  room for
 * RUN_ALERT_WORDS
 *  @return how many */
int run_alert_words(const char **words, const struct run_options *options);

/** Check what is given to the daemon, on the command line or in the environment; its own program
 *  does so. What is wrong is reported and removed: the job runs all the same.
 *  @return how much of it is wrong */
int run_options_check(struct run_options *options);

/** Endpoint that agents use. */
const char *run_agent_endpoint(const struct run_session *session);

/** Command with everything that puts its ranks under watch: words and environment. */
struct run_command {
    char **words;          /**< NULL at the end; owned */
    char *program;         /**< what to execute; owned */
    char *environment[16]; /**< "NAME=value", NULL at the end; owned */
    char *prefix[16];      /**< owned texts that words borrow */
};

/** @param session  NULL: the command is run as it is, unwatched
 *  @return 0 or -1 after having said what is wrong */
int run_command_make(struct run_command *out, const struct run_session *session,
                     const struct run_options *options, const struct run_target *target);
void run_command_finish(struct run_command *command);

/** Whether the variable that puts Open MPI's ranks under watch can hold what they have to know. */
int run_command_has_fork_agent(const struct run_session *session);

/** Say so when the line starts its applications where `holter` is not. */
void run_command_report_apart(const struct launch_line *line, char *const argv[]);

/** Print what would be run. */
void run_command_print(const struct run_session *session, const struct run_options *options,
                       const struct run_command *command);

/** Put links to `holter` under the names of the launchers that are in PATH into <session>/bin,
 * which stands first in the PATH of job scripts. @return 0 or -errno */
int run_shim_create_links(const struct run_session *session);

/** Names of launchers and container runtimes that job scripts use, NULL at the end. */
extern const char *const run_launcher_names[];

/** Is it a runtime of containers that hands its environment on? Open MPI's mpirun, started in a
 *  container, starts nothing where its fork agent names a program that is not in there. */
int run_shim_is_container_runtime(const char *program);

/** Be one of those links: become the launcher that stands behind us in PATH, with the applications
 *  on its command line under watch. @return only when there is none: 126 or 127 */
int run_shim_exec_launcher(const char *name, int argc, char **argv);

/** Block the signals that are passed on to the command, so that none ends us before everything is
 *  removed.
 *  @param before  set to the mask that the command gets */
void run_child_hold_signals(sigset_t *before);

/** Whether a signal that requests the end has arrived while signals are blocked. It stays pending.
 */
int run_child_end_requested(void);

/** Run the command and wait for it, passing signals on. They have to be held.
 *  @param session  its daemon is restarted when it crashes. NULL: none
 *  @return its exit status, 128+n when signal n ended it */
int run_child_run_and_wait(const struct run_command *command, struct run_session *session,
                           const sigset_t *before);

/** What one job came to. */
struct run_job {
    char id[64];
    char app[256];
    char state[16];
    char recording[512];   /**< path, of the newest part; "": none */
    int recording_stopped; /**< before the job's end: the disk was full */
    char alone[160];       /**< why each process is a job of its own; "": it is none */
    char network[513];     /**< what of it is not in the network; "": nothing */
    uint64_t window_ns;
    uint64_t span;           /**< windows by which growth was judged; 0: not known */
    uint64_t ranks, watched; /**< ranks of the job, and those of them that were watched */
    uint64_t nodes;
    uint64_t windows_ns;         /**< from its first window to its last; 0: its end was not seen */
    uint64_t duration_ns;        /**< of the rank that was there for longest; 0: likewise */
    uint64_t messages, bytes;    /**< sent */
    double rank_ns;              /**< time of the ranks, summed: see ranks_time_ns() */
    uint64_t mpi_ns;             /**< of that, in MPI */
    uint64_t waiting_ns;         /**< likewise, see WAITING_NS() */
    uint64_t matched, unmatched; /**< of the messages received */
    uint64_t of_unwatched;       /**< other received ones: their senders are not watched */
    uint64_t lost;               /**< events that were not counted */
    uint64_t tallied;            /**< events that their ranks summed, unread */
    uint64_t untracked;          /**< requests whose completion was not observed */
    uint64_t windows_dropped;    /**< that agents had no room for */
};

/** The jobs of one session. Zero-initialised is empty. */
struct run_report {
    struct run_job *jobs; /**< owned */
    unsigned count;
    int complete;         /**< 1: all agents had reported all and left */
    int explained;        /**< 1: it has been said why a program is not watched */
    int uninitialised;    /**< 1: processes ended before MPI_Init had returned */
    char sink_error[257]; /**< sink of alerts that fails in the session's daemon, and why */
};

/** Wait, bounded, until the agents have reported everything, then ask the daemon about the jobs.
 *  @param elapsed_ns  time that the command took: the daemon counts in whole windows, and no job
 *                     took longer
 *  @return 0, or a negative error when the daemon does not answer */
int run_report_collect(struct run_report *report, const struct run_session *session,
                       uint64_t elapsed_ns);

/** Name the recordings as the user wants, after the daemon has closed them: "%j" is the job id,
 *  "%h" the host name; of several jobs the later ones get their ids into the name. */
void run_report_rename(struct run_report *report, const char *output);

/** One line for each job. */
void run_report_print(const struct run_report *report);

/** One line about the jobs that the daemon has forgotten for later ones; none without such. After a
 *  crash, run_report_print_crashes() names them. */
void run_report_print_earlier(const struct run_report *report, const struct run_session *session);

/** One line about the daemon's crashes and what is missing because of them; none without a crash.
 *  @param collected  whether the daemon has answered at the end */
void run_report_print_crashes(const struct run_report *report, const struct run_session *session,
                              int collected);

void run_report_finish(struct run_report *report);

/** Name of a recording from the user's template. For tests. @return 0 or -HOLTER_ERANGE */
int run_output_name(char *out, size_t capacity, const char *output, const char *job,
                    const char *host, unsigned index);

#endif
