/* The one list of Holter's error codes and their texts.
 *
 * Functions return 0 (or a count) on success and a negative code of this list on failure.
 * System errors keep their errno: a function that passes one through returns -errno, which never
 * collides because the codes below start at 10000.
 */
#ifndef HOLTER_ERROR_H
#define HOLTER_ERROR_H

#define HOLTER_ERRORS(X)                                                                           \
    X(EUSAGE, "wrong usage")                                                                       \
    X(ETRUNCATED, "the message ends before its last field")                                        \
    X(EMALFORMED, "not a well-formed message")                                                     \
    X(ELIMIT, "a length, count or depth is over its limit")                                        \
    X(ETYPE, "a field has the wrong type")                                                         \
    X(ERANGE, "a value is outside its range")                                                      \
    X(EMISSING, "a required field is missing")                                                     \
    X(EPROTOCOL, "the peer speaks another version of the protocol")                                \
    X(EFULL, "full: the item was discarded and counted")                                           \
    X(EEMPTY, "nothing there yet")                                                                 \
    X(ELAPPED, "the writer overtook the reader: events were lost and counted")                     \
    X(EVERSION, "made by another, incompatible version")                                           \
    X(EDENIED, "not allowed for this role")                                                        \
    X(EUNREACHABLE, "the daemon cannot be reached")                                                \
    X(ETIMEOUT, "no answer in time")                                                               \
    X(ENOJOB, "no such job")                                                                       \
    X(ENOMPI, "no MPI library was found")                                                          \
    X(EWRONGMPI, "the MPI library is of another kind than the probe")                              \
    X(ECORRUPT, "the file is damaged")                                                             \
    X(EINTERNAL, "a defect in Holter itself")                                                      \
    X(EEXPOSED, "it must belong to this user, without access for others")

enum holter_error {
    HOLTER_EBASE = 10000,
#define X(name, text) HOLTER_##name,
    HOLTER_ERRORS(X)
#undef X
        HOLTER_EEND
};

/** Text of an error code.
 *  @param code  a negative return value: of this list, or a negated errno
 *  @return static text, never NULL; unknown codes give "unknown error". Thread-safe for the codes
 *          of this list, and for errno values as strerrorname_np() is. */
const char *holter_strerror(int code);

/** Short name of an error code, "HOLTER_EFULL" or "ENOSPC". Static text, never NULL. */
const char *holter_errname(int code);

#endif
