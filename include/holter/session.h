/* Sessions: how the processes of Holter of one user find each other.
 *
 * A session consists of a daemon and all processes that it serves: those of one `holter run`, or
 * the user's default session if the daemon was started by hand. Its key names shared memory, agent
 * locks and sockets, so that two sessions of one user on one node never mix. Within a session every
 * MPI_COMM_WORLD is a job of its own.
 *
 * Environment variables, read by `holter`, agent and probe (command line options override them):
 *   HOLTER_DAEMON    endpoint of the daemon, tcp://HOST:PORT or ipc:///PATH
 *   HOLTER_SESSION   session key, 1 to 31 hexadecimal digits
 *   HOLTER_JOB       first part of job ids, e.g. the scheduler's job number
 *   HOLTER_KEYS      directory with the CURVE keys of the session (mode 0700)
 *   HOLTER_RING      records of the first thread's ring, a power of two, 1024 to 4194304
 *   HOLTER_LOG       error, warn, info or debug
 *   HOLTER_LIBDIR    directory of the probes, if neither beside the program nor installed
 *   HOLTER_RUN_DIR   directory for sockets and locks, instead of the default below
 * Set by `holter run` and its links for mpiexec of MPICH, for `holter exec`:
 *   HOLTER_LAUNCH    number of the launch, another one for the next
 * Set by `holter exec`, for the probe only:
 *   HOLTER_JOB_ID    complete job id
 *   HOLTER_NOTE      file that the first probe of the job makes that cannot watch and says why;
 *                    the others are silent
 */
#ifndef HOLTER_SESSION_H
#define HOLTER_SESSION_H

#include <stddef.h>

/** Directory for sockets and locks: $HOLTER_RUN_DIR, else $XDG_RUNTIME_DIR/holter, else
 *  /tmp/holter-<uid>, or when another user has made that one, $HOME/.holter/run-<host>. Made with
 *  mode 0700 when it is missing.
 *  @return 0, -EPERM when it belongs to another user or others may write to it, -EINVAL when
 *          $HOLTER_RUN_DIR does not begin at the root, or another -errno */
int session_run_dir(char *out, size_t capacity);

/** The same. @param why  on failure a sentence that names the directory and what is wrong with it
 */
int session_explain_run_dir(char *out, size_t capacity, char *why, size_t why_capacity);

/** May a file be written by that name? Not if another user has put a file or link there, in a
 *  directory where everybody may: what is written would be his to read, or destroy what the link
 *  leads to. The same as the Linux kernel's fs.protected_symlinks, _regular and _fifos, which may
 *  be off. What is the owner's of the directory is permitted.
 *  @param why  set on failure: a sentence that names path and owner
 *  @return 0 or -EACCES */
int session_check_shared_file(const char *path, char *why, size_t capacity);

/** Endpoint used when none is given: "ipc://<run dir>/holterd.sock". @return 0 or an error of
 *  session_run_dir */
int session_default_endpoint(char *out, size_t capacity);

/** The same. @param why  on failure what session_explain_run_dir() says */
int session_explain_default_endpoint(char *out, size_t capacity, char *why, size_t why_capacity);

/** Endpoint of the daemon for a client that was given none: HOLTER_DAEMON, else the newest
 *  of the sockets "<run dir>/holterd.sock" and "<run dir>/<session>/holterd.sock" that is
 *  served, else session_default_endpoint().
 *  @return 0, -HOLTER_ERANGE when it does not fit, or an error of session_run_dir */
int session_find_daemon(char *out, size_t capacity);

/** Directory of the CURVE keys for an endpoint, for a client that was given none:
 *  HOLTER_KEYS, else "keys" beside the socket of an ipc endpoint, when it is there. Else out is
 *  "".
 *  @return 0, or -HOLTER_ERANGE when it does not fit */
int session_find_keys(char *out, size_t capacity, const char *endpoint);

/** Key of the session of an endpoint if HOLTER_SESSION is not set: 16 hexadecimal
 *  digits, a hash of the endpoint. @param out  17 bytes */
void session_key_of(const char *endpoint, char out[17]);

/** Is it 1 to 31 hexadecimal digits? */
int session_key_valid(const char *key);

/** Job id from its parts, "<base>.<step>": base is HOLTER_JOB, or the scheduler's job number, or
 *  a name made from host and launcher; step differs for each mpirun and is the same on
 *  all nodes. Characters other than letters, digits, '-', '_' and '.' become '_', and so does a
 *  '.' at the begin, with which daemons accept no id. */
void session_job_id(char out[64], const char *base, const char *step);

#endif
