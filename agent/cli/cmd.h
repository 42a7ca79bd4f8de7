/* The commands of `holter`, one function each in cmd_<name>.c. */
#ifndef HOLTER_AGENT_CLI_CMD_H
#define HOLTER_AGENT_CLI_CMD_H

/** X(name, "what it does, for the list in --help") */
#define HOLTER_COMMANDS(X)                                                                         \
    X(run, "watch a command: start a daemon, launch, record")                                      \
    X(exec, "run a program as one watched rank")                                                   \
    X(view, "open the viewer")                                                                     \
    X(top, "show the live stream in the terminal")                                                 \
    X(record, "record a running job from now on")                                                  \
    X(replay, "serve a recording as if it were live")                                              \
    X(commgram, "print phases, communities and their messages")                                    \
    X(capture, "print the last calls of each rank")                                                \
    X(graph, "write who waited for whose message, of a capture or trace")                          \
    X(tap, "print the live stream as lines")                                                       \
    X(report, "write a recording as one HTML file")                                                \
    X(topology, "check and print a network")                                                       \
    X(remap, "find a better mapping of ranks to nodes")                                            \
    X(reroute, "find better routes")                                                               \
    X(import, "convert a trace or table to a recording")                                           \
    X(export, "write a recording as csv, json, perfetto, otf2-summary or dot")                     \
    X(sql, "query a recording in SQL")                                                             \
    X(info, "print what a recording contains")                                                     \
    X(cut, "copy a part of a recording")                                                           \
    X(merge, "join recordings of one job")                                                         \
    X(diff, "compare two recordings of one job")                                                   \
    X(compare, "compare two runs, before and after a change")                                      \
    X(keys, "make keys for a daemon that other users or hosts can reach")                          \
    X(status, "print the state of daemon, agents and jobs")

/** Run a command. argv[0] is its name.
 *  @return the exit status: 0, 2 for wrong usage, 1 for failure, or the status of what was run */
#define X(name, text) int cmd_##name(int argc, char **argv);
HOLTER_COMMANDS(X)
#undef X

/** `holter check-rules`, whose name is not an identifier of C. */
int cmd_check_rules(int argc, char **argv);

#endif
