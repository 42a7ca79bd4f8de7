"""make_wrappers.py CALLS.DEF OUTPUT.c OUTPUT.h COMPILER...: writes a probe's wrappers and stubs.

COMPILER... preprocesses a file from standard input: which functions the MPI's mpi.h declares is read from
its output. For each call NAME of calls.def that is declared:

    stub            the exported symbols MPI_NAME and PMPI_NAME: a jump through probe_jump
    watch_MPI_NAME  the wrapper: opens a scope, records the arguments, calls the real function, records the
                    results. Both are recorded by functions of shapes.h, collective.h, rma.h and environment.h.

A shape is a Python function below that gives the C text before and after the call, and replaced arguments.
"""

import re
import subprocess
import sys

import call_table

# Functions of MPI that the probe itself calls.
USED = """Type_size_x Comm_group Comm_remote_group Comm_rank Comm_size Comm_remote_size Comm_test_inter
Group_translate_ranks Group_free Win_get_group Topo_test Cartdim_get Cart_get Cart_shift Graph_neighbors_count
Graph_neighbors Dist_graph_neighbors_count Dist_graph_neighbors Initialized Finalized Query_thread Get_library_version Error_class
Group_from_session_pset Group_rank Group_size""".split()


class Wrapper:
    """C text of one wrapper: before the call, after it, and arguments that replace those of the application."""

    def __init__(self, before, after, **arguments):
        self.before, self.after, self.arguments = before, after, arguments
        self.first = ""  # before the scope is opened
        self.last = ""  # after the scope is closed, or was not opened

    def always(self, last, first=""):
        """Also in calls that are not recorded, as those of an application's callback inside another call."""
        self.first, self.last = first, last
        return self

    def end_of_all(self):
        """Nothing that was begun before this call goes on after it."""
        self.first = "scope_end_unfinished();"
        return self


SHAPES = {}


def shape(*names):
    def register(function):
        for name in names:
            SHAPES[name] = function
        return function
    return register


def has(call, name):
    return any(p.name == name for p in call.parameters)


def find(call, kind):
    """Name of the first parameter of a type."""
    return next(p.name for p in call.parameters if p.type == kind)


def request_of(call):
    return next((p.name for p in call.parameters if p.type == "MPI_Request *" and not p.suffix), None)


STATUS = "MPI_Status own, *used_status = status == MPI_STATUS_IGNORE ? &own : status;"


@shape("plain")
def plain(call):
    return Wrapper("shape_plain_enter(&s);", "shape_plain_leave(&s, result);")


@shape("send")
def send(call):
    return Wrapper("struct posted p = posted_make(&s, count, datatype, dest, tag, comm, EVENT_SEND | EVENT_POST | EVENT_DONE);\n"
                   "shape_post_enter(&s, &p);", "shape_plain_leave(&s, result);")


@shape("isend")
def isend(call):
    return Wrapper("struct posted p = posted_make(&s, count, datatype, dest, tag, comm, EVENT_SEND | EVENT_POST);\n"
                   "shape_post_enter(&s, &p);", "shape_immediate_leave(&s, result, p.bytes, request);")


@shape("recv")
def recv(call):
    return Wrapper(STATUS + "\nstruct posted p = posted_make(&s, count, datatype, source, tag, comm, EVENT_RECV | EVENT_POST | EVENT_DONE);\n"
                   "shape_post_enter(&s, &p);", "shape_recv_leave(&s, result, used_status);", status="used_status")


@shape("irecv")
def irecv(call):
    return Wrapper("struct posted p = posted_make(&s, count, datatype, source, tag, comm, EVENT_RECV | EVENT_POST);\n"
                   "shape_post_enter(&s, &p);", "shape_immediate_leave(&s, result, p.bytes, request);")


@shape("send_init", "recv_init", "psend_init", "precv_init")
def init(call):
    count = "count * partitions" if has(call, "partitions") else "count"
    way = "EVENT_RECV" if call.shape in ("recv_init", "precv_init") else "EVENT_SEND"
    rank = "source" if has(call, "source") else "dest"
    return Wrapper(f"struct posted p = posted_make(&s, {count}, datatype, {rank}, tag, comm, {way} | EVENT_PERSISTENT);\n"
                   "shape_post_enter(&s, &p);", "shape_init_leave(&s, result, &p, request);")


@shape("sendrecv", "sendrecv_replace", "isendrecv", "isendrecv_replace")
def sendrecv(call):
    send_part, recv_part = (("count, datatype",) * 2 if "replace" in call.shape
                            else ("sendcount, sendtype", "recvcount, recvtype"))
    immediate = call.shape.startswith("i")
    # The outgoing half of a nonblocking one is never seen to complete by itself.
    done = "" if immediate else " | EVENT_DONE"
    before = (f"struct posted out = posted_make(&s, {send_part}, dest, sendtag, comm, EVENT_SEND | EVENT_POST{done});\n"
              f"struct posted in = posted_make(&s, {recv_part}, source, recvtag, comm, EVENT_RECV | EVENT_POST{done});\n"
              + ("" if immediate else "out.more = in.ends;\n") + "shape_post_enter(&s, &out);")
    if immediate:
        return Wrapper(before, "shape_isendrecv_leave(&s, result, &out, &in, request);")
    return Wrapper(STATUS + "\n" + before, "shape_sendrecv_leave(&s, result, &out, &in, used_status);", status="used_status")


@shape("probe", "mprobe")
def probe(call):
    message = "message" if call.shape == "mprobe" else "NULL"
    return Wrapper(STATUS + "\nstruct posted p = posted_make_probe(&s, source, tag, comm);\nshape_post_enter(&s, &p);",
                   f"shape_probe_leave(&s, result, &p, used_status, {message});", status="used_status")


@shape("iprobe", "improbe")
def iprobe(call):
    message = "message" if call.shape == "improbe" else "NULL"
    return Wrapper(STATUS + "\nstruct posted p = posted_make_probe(&s, source, tag, comm);",
                   f"shape_iprobe_leave(&s, result, &p, *flag, used_status, {message});", status="used_status")


@shape("mrecv")
def mrecv(call):
    return Wrapper(STATUS + "\nstruct posted p = posted_make_matched(&s, HANDLE(*message), count, datatype, EVENT_RECV | EVENT_POST | EVENT_DONE);\n"
                   "shape_post_enter(&s, &p);", "shape_recv_leave(&s, result, used_status);", status="used_status")


@shape("imrecv")
def imrecv(call):
    return Wrapper("struct posted p = posted_make_matched(&s, HANDLE(*message), count, datatype, EVENT_RECV | EVENT_POST);\n"
                   "shape_post_enter(&s, &p);", "shape_immediate_leave(&s, result, p.bytes, request);")


@shape("parrived")
def parrived(call):
    return Wrapper("", "if (result == MPI_SUCCESS && !*flag) {\n    scope_poll(&s, POLL_TEST, probe_read_ticks());\n} else {\n"
                   "    shape_plain_enter(&s);\n    shape_plain_leave(&s, result);\n}")


@shape("wait")
def wait(call):
    return Wrapper("struct waited w;\nshape_wait_enter(&s, &w, request);\nMPI_Status *used_status = waited_choose_status(&w, status);",
                   "shape_wait_leave(&s, result, &w, request, used_status);", status="used_status")


@shape("test")
def test(call):
    return Wrapper(STATUS + "\nconst uint64_t handle = HANDLE(*request);\n"
                   "struct request *early = request_find_before_call(handle);",
                   "shape_test_leave(&s, result, early, handle, request, result == MPI_SUCCESS && *flag, used_status);", status="used_status")


@shape("get_status")
def get_status(call):
    return Wrapper("const uint64_t handle = HANDLE(request);", "shape_get_status_leave(&s, result, handle, *flag);")


def copied(count):
    return f"struct arrays before = ARRAYS_MAKE(s.t, {count});\narrays_copy_handles(&before, {count}, array_of_requests);"


@shape("waitany")
def waitany(call):
    return Wrapper(STATUS + "\n" + copied("count") + "\nshape_plain_enter(&s);",
                   "shape_any_leave(&s, result, *indx, &before, array_of_requests, used_status);", status="used_status")


@shape("testany")
def testany(call):
    return Wrapper(STATUS + "\n" + copied("count"),
                   "if (result == MPI_SUCCESS && (!*flag || *indx == MPI_UNDEFINED)) {\n"
                   "    scope_poll(&s, POLL_TEST, probe_read_ticks());\n} else {\n    shape_plain_enter(&s);\n"
                   "    shape_any_leave(&s, result, *indx, &before, array_of_requests, used_status);\n}", status="used_status")


STATUSES = """
MPI_Status *used_status = array_of_statuses;
if (used_status == MPI_STATUSES_IGNORE)
    used_status = """
STATUSES_ARGUMENT = "used_status ? used_status : MPI_STATUSES_IGNORE"
SOME = copied("incount") + STATUSES + "before.statuses;"
SOME_LEAVE = "shape_some_leave(&s, result, *outcount, array_of_indices, &before, used_status);"


@shape("waitsome")
def waitsome(call):
    return Wrapper(SOME + "\nshape_plain_enter(&s);", SOME_LEAVE, array_of_statuses=STATUSES_ARGUMENT)


@shape("testsome")
def testsome(call):
    return Wrapper(SOME, "if (result == MPI_SUCCESS && (*outcount == 0 || *outcount == MPI_UNDEFINED)) {\n"
                   "    scope_poll(&s, POLL_TEST, probe_read_ticks());\n} else {\n    shape_plain_enter(&s);\n"
                   f"    {SOME_LEAVE}\n}}", array_of_statuses=STATUSES_ARGUMENT)


ALL = ("const struct arrays a = ARRAYS_MAKE(s.t, count);\n"
       "const struct survey all = survey_fill(s.t, a.found, count, array_of_requests);"
       + STATUSES + "all.wants ? a.statuses : NULL;")
ALL_LEAVE = ("shape_all_leave(&s, result, scope_exit(&s), a.found, all.known, used_status,"
             " all.unknown ? EVENT_UNTRACKED : 0);")


@shape("waitall")
def waitall(call):
    return Wrapper(ALL + "\nshape_all_enter(&s, a.found, all.known);", ALL_LEAVE, array_of_statuses=STATUSES_ARGUMENT)


@shape("testall")
def testall(call):
    return Wrapper(ALL, "if (result == MPI_SUCCESS && (!*flag || (all.known == 0 && !all.unknown && !all.complete))) {\n"
                   "    scope_poll(&s, POLL_TEST, probe_read_ticks());\n} else {\n    shape_all_enter(&s, a.found, all.known);\n"
                   f"    {ALL_LEAVE}\n}}", array_of_statuses=STATUSES_ARGUMENT)


@shape("start")
def start(call):
    return Wrapper("const uint64_t handle = HANDLE(*request);\nstruct request *r = request_find(handle);\n"
                   "shape_start_enter(&s, r);", "shape_start_leave(&s, result, r, handle, HANDLE(*request));")


@shape("startall")
def startall(call):
    return Wrapper(copied("count") + "\nshape_start_enter(&s, request_find_first_known(count, array_of_requests));",
                   "shape_startall_leave(&s, result, &before, array_of_requests);")


@shape("cancel")
def cancel(call):
    return Wrapper("struct request *r = request_find_active(HANDLE(*request));\nshape_request_enter(&s, r);\n"
                   "if (r)\n    r->flags |= (uint16_t)REQUEST_CANCELLED;", "shape_plain_leave(&s, result);")


@shape("request_free")
def request_free(call):
    return Wrapper("const uint64_t handle = HANDLE(*request);\n"
                   "struct request *r = handle == HANDLE(MPI_REQUEST_NULL) ? NULL : request_find(handle);\n"
                   "shape_request_enter(&s, r);", "shape_request_free_leave(&s, result, r);")


# ---- collectives: arguments of a function in collective.h, from the call's parameters

COLLECTIVES = {
    "barrier": "comm", "bcast": "count datatype root comm",
    "gather": "sendbuf send recv root comm", "scatter": "send recvbuf recv root comm",
    "allgather": "sendbuf send recv comm", "alltoall": "sendbuf send recv comm",
    "reduce": "sendbuf count datatype root comm", "allreduce": "sendbuf count datatype comm",
    "reduce_scatter": "sendbuf recv comm",
    "neighbor_allgather": "send recv comm", "neighbor_alltoall": "send recv comm",
}
# Shapes whose bytes are computed as those of another one, from counts or types for each rank.
SAME = {"gatherv": "gather", "scatterv": "scatter", "allgatherv": "allgather", "alltoallv": "alltoall",
        "alltoallw": "alltoall", "scan": "allreduce", "exscan": "allreduce",
        "reduce_scatter_block": "reduce_scatter", "neighbor_allgatherv": "neighbor_allgather",
        "neighbor_alltoallv": "neighbor_alltoall", "neighbor_alltoallw": "neighbor_alltoall"}


def parts(call, side):
    """The send or receive buffer's parts: PARTS(sendcounts, sendtype)."""
    counts = side + ("counts" if has(call, side + "counts") else "count")
    if has(call, side + "types"):
        return f"PARTS_TYPES({counts}, {side}types)"
    return f"PARTS({counts}, {side + 'type' if has(call, side + 'type') else 'datatype'})"


@shape(*COLLECTIVES, *SAME)
def collective(call):
    name = SAME.get(call.shape, call.shape)
    arguments = ", ".join(parts(call, a) if a in ("send", "recv") else a for a in COLLECTIVES[name].split())
    before = f"const struct exchange x = exchange_{name}(s.t, {arguments});"
    if not request_of(call):
        return Wrapper(before + "\nshape_collective_enter(&s, &x);", "shape_plain_leave(&s, result);")
    if has(call, "info"):
        return Wrapper(before + "\nconst struct posted p = posted_make_collective(&s, &x);\n"
                       "scope_enter(&s, x.give, x.get, p.ends, 0, p.comm, p.flags);",
                       "shape_init_leave(&s, result, &p, request);\nif (result == MPI_SUCCESS)\n"
                       "    collective_store_bytes(s.t, HANDLE(*request), x.get);")
    return Wrapper(before + "\nshape_collective_post(&s, &x);",
                   "shape_immediate_leave(&s, result, 0, request);")


# ---- one-sided

@shape("put", "get", "fetch", "fetch_and_op")
def rma(call):
    give = "type_payload_bytes(s.t, origin_count, origin_datatype)"
    # The operation that only reads: what the origin names is not used.
    reads = "op == MPI_NO_OP ? 0 : " if has(call, "op") else ""
    if call.shape == "put":
        sizes = f"{give}, 0"
    elif call.shape == "get":
        sizes = f"0, {give}"
    elif call.shape == "fetch":
        sizes = f"{reads}{give}, type_payload_bytes(s.t, result_count, result_datatype)"
    else:
        sizes = f"{reads}type_payload_bytes(s.t, 1, datatype), type_payload_bytes(s.t, 1, datatype)"
    if request_of(call):
        return Wrapper(f"shape_rma_enter(&s, {sizes}, target_rank, win, EVENT_POST);",
                       "shape_immediate_leave(&s, result, 0, request);")
    return Wrapper(f"shape_rma_enter(&s, {sizes}, target_rank, win, 0);", "shape_plain_leave(&s, result);")


@shape("win_sync")
def win_sync(call):
    return Wrapper("shape_window_enter(&s, win);", "shape_plain_leave(&s, result);")


@shape("win_peer")
def win_peer(call):
    return Wrapper("shape_rma_enter(&s, 0, 0, rank, win, 0);", "shape_plain_leave(&s, result);")


@shape("win_test")
def win_test(call):
    return Wrapper("", "shape_window_test_leave(&s, result, *flag, win);")


@shape("win_create")
def win_create(call):
    return Wrapper(COMM_ENTER.format("comm"), "shape_plain_leave(&s, result);").always(
        MADE.format(f"comm_window_made(CALL_{call.name}, comm, *win)"))


# ---- communicators

COMM_ENTER = "shape_collective_enter(&s, &(struct exchange){{.root = PEER_NONE, .comm = comm_find(s.t, {0})->slot}});"
MADE = "if (result == MPI_SUCCESS)\n    {0};"
COMM_LEAVE = ("scope_exit(&s);\nif (result == MPI_SUCCESS)\n    {0};\nelse\n    scope_what(&s, EVENT_FAILED, 0);\n"
              "scope_close(&s);")


@shape("comm_new")
def comm_new(call):
    parent, child = find(call, "MPI_Comm"), find(call, "MPI_Comm *")
    how = "comm_copied" if "dup" in call.name else "comm_made"
    made = MADE.format(f"{how}(CALL_{call.name}, {parent}, *{child})")
    if not request_of(call):
        return Wrapper(COMM_ENTER.format(parent), "shape_plain_leave(&s, result);").always(made)
    return Wrapper("scope_enter(&s, 0, 0, NO_ENDS, 0, comm_find(s.t, comm)->slot, EVENT_POST);",
                   "shape_immediate_leave(&s, result, 0, request);").always(made)


@shape("comm_group", "intercomm", "comm_far")
def comm_by_group(call):
    parent = next((p.name for p in call.parameters if p.type == "MPI_Comm"), "MPI_COMM_NULL")
    child = find(call, "MPI_Comm *")
    tag = "tag" if has(call, "tag") else "0"
    enter = "shape_plain_enter(&s);" if parent == "MPI_COMM_NULL" else COMM_ENTER.format(parent)
    return Wrapper(enter, "shape_plain_leave(&s, result);").always(
        MADE.format(f"comm_made_by_group(CALL_{call.name}, {parent}, {tag}, *{child})"))


@shape("comm_free", "win_free")
def comm_free(call):
    freed = call.parameters[0].name
    return Wrapper("shape_collective_enter(&s, &(struct exchange){.root = PEER_NONE, .comm = freed->slot});",
                   "shape_plain_leave(&s, result);").always(
        MADE.format("comm_freed(freed, handle)"),
        f"const uint64_t handle = {freed} ? HANDLE(*{freed}) : 0;\nconst struct comm *freed = comm_known(handle);")


@shape("set_name")
def set_name(call):
    return Wrapper(COMM_ENTER.format("comm"), COMM_LEAVE.format("comm_named(comm, comm_name)"))


@shape("type_free")
def type_free(call):
    return plain(call).always("", "if (datatype)\n    type_freed(&thread_self, HANDLE(*datatype));")


# ---- environment

@shape("init")
def mpi_init(call):
    return Wrapper("shape_plain_enter(&s);", COMM_LEAVE.format("probe_on_initialized()"))


@shape("finalize")
def finalize(call):
    return Wrapper("shape_plain_enter(&s);\nprobe_on_finalize();", COMM_LEAVE.format("probe_set_finalized()")).end_of_all()


@shape("session_init")
def session_init(call):
    return Wrapper("shape_plain_enter(&s);", COMM_LEAVE.format("probe_on_session(*session)"))


@shape("session_finalize")
def session_finalize(call):
    return Wrapper("shape_plain_enter(&s);\nprobe_on_session_finalize(*session);",
                   COMM_LEAVE.format("probe_on_session_finalized()"))


@shape("abort")
def abort(call):
    return Wrapper(COMM_ENTER.format("comm") + "\nprobe_set_aborted(errorcode);", "shape_plain_leave(&s, result);").end_of_all()


@shape("pcontrol")
def pcontrol(call):
    return Wrapper("shape_plain_enter(&s);\nconst int moved = region_control(s.t, level, argument);",
                   "shape_pcontrol_leave(&s, result, moved);")


# ---- files

@shape("io", "io_open", "io_read", "io_write")
def io(call):
    if call.shape == "io_open":
        return Wrapper(COMM_ENTER.format("comm"), "shape_plain_leave(&s, result);")
    if call.shape == "io":
        return Wrapper("shape_plain_enter(&s);", "shape_plain_leave(&s, result);")
    size = "type_payload_bytes(s.t, count, datatype)"
    sizes = f"0, {size}" if call.shape == "io_read" else f"{size}, 0"
    if request_of(call):
        return Wrapper(f"scope_enter(&s, {sizes}, NO_ENDS, 0, COMM_SLOT_NONE, EVENT_POST);",
                       "shape_immediate_leave(&s, result, 0, request);")
    return Wrapper(f"scope_enter(&s, {sizes}, NO_ENDS, 0, COMM_SLOT_NONE, 0);",
                   "shape_plain_leave(&s, result);")


# ---- writing

def indent(text):
    return "".join(f"    {line}\n" if line else "\n" for line in text.split("\n")) if text else ""


def declaration(parameters, large):
    if not parameters:
        return "void"
    words = []
    for p in parameters:
        kind = p.type
        if kind != "...":
            kind = re.sub(r"\bCOUNT\b", "MPI_Count" if large else "int", kind)
            kind = re.sub(r"\bDISPL\b", "MPI_Aint" if large else "int", kind)
            kind += ("" if kind.endswith("*") else " ") + p.name + p.suffix
        words.append(kind)
    return ", ".join(words)


# Shapes that read a handle before the call.
READS = ("wait", "test", "start", "cancel", "request_free", "mrecv", "imrecv", "comm_free", "type_free", "win_free",
         "session_finalize")


def missing(call):
    """Conditions under which a pointer that the wrapper follows is NULL: the library is to refuse the call."""
    conditions = []
    for p in call.parameters:
        if p.name in ("array_of_requests", "array_of_indices"):
            conditions.append(f"(!{p.name} && {call.parameters[0].name} > 0)")
        elif p.name in ("flag", "indx", "outcount") and p.type == "int *" and call.shape != "test":
            conditions.append(f"!{p.name}")
        elif call.shape in READS and p.type.startswith("MPI_") and p.type != "MPI_Status *" and p.type.endswith("*"):
            conditions.append(f"!{p.name}")
    return conditions


# Shapes of calls that programs make most: their body is inlined into both wrappers, which saves 6 to 15 of some 110
# instructions. With all others inlined, too, compiling takes 1.7 times as long, and the library is half as large again.
FREQUENT = ("send", "isend", "recv", "irecv", "sendrecv", "wait", "test", "waitall", "testall", "waitany", "testany",
            "start", "startall", "barrier", "bcast", "reduce", "allreduce")


def write_wrapper(out, call, name, large):
    """Both wrappers of one function, around one body."""
    parameters = [p for p in call.parameters if p.type != "..."]
    variadic = len(parameters) != len(call.parameters)
    wrapper = SHAPES[call.shape](call)
    given = [p.name for p in parameters] + (["argument"] if variadic else [])
    passed = ", ".join(wrapper.arguments.get(g, g) for g in given)
    straight = ", ".join(given)
    inner = declaration(parameters, large) + (", const void *argument" if variadic else "")
    inner = "" if inner == "void" else ", " + inner
    unwatched = " || ".join([*missing(call), f"!scope_open(&s, CALL_{call.name})"])
    inlined = "HOT" if call.shape in FREQUENT and not large else "NOINLINE"
    unrecorded = f" {{\n        const int result = real({straight});\n{indent(indent(wrapper.last).rstrip())}        return result;\n    }}\n"
    if not wrapper.last:
        unrecorded = f"\n        return real({straight});\n"
    out.write(f"{inlined} int record_{name}(__typeof__(MPI_{name}) *real{inner})\n{{\n    struct scope s;\n"
              f"{indent(wrapper.first)}    if (unlikely({unwatched})){unrecorded}"
              f"{indent(wrapper.before)}    const int result = real({passed});\n{indent(wrapper.after)}{indent(wrapper.last)}"
              "    return result;\n}\n\n")
    for prefix in ("MPI_", "PMPI_"):
        out.write(f"static int watch_{prefix}{name}({declaration(call.parameters, large)})\n{{\n")
        if variadic:
            last = parameters[-1].name
            out.write(f"    va_list list;\n    va_start(list, {last});\n"
                      "    const void *argument = va_arg(list, const void *);\n    va_end(list);\n")
        out.write(f"    return record_{name}({', '.join([f'real_{prefix}{name}'] + given)});\n}}\n\n")


STUBS = r"""
/* Exported symbols. Each jumps through its word of probe_jump, with all registers as the application set them,
 * so that it is right for any MPI's handles and for variadic calls. At first the word leads to code after the
 * stub, which saves the argument registers (System V ABI for x86-64, section 3.2.3; AAPCS64, section 6.8.2), has
 * probe_first() fill the words, and jumps again. */
#if defined(__x86_64__)
__asm__(
    ".text\n"
    "holter_first:\n"
    "    .cfi_startproc\n"
    "    .cfi_adjust_cfa_offset 8\n" /* the stub's number */
    "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n    push %rax\n"
    "    .cfi_adjust_cfa_offset 56\n"
    "    sub $136, %rsp\n"
    "    .cfi_adjust_cfa_offset 136\n" /* eight registers of 16, and 8 to align the stack */
    "    movups %xmm0, (%rsp)\n    movups %xmm1, 16(%rsp)\n    movups %xmm2, 32(%rsp)\n"
    "    movups %xmm3, 48(%rsp)\n    movups %xmm4, 64(%rsp)\n    movups %xmm5, 80(%rsp)\n"
    "    movups %xmm6, 96(%rsp)\n    movups %xmm7, 112(%rsp)\n"
    "    call probe_first\n"
    "    movups (%rsp), %xmm0\n    movups 16(%rsp), %xmm1\n    movups 32(%rsp), %xmm2\n"
    "    movups 48(%rsp), %xmm3\n    movups 64(%rsp), %xmm4\n    movups 80(%rsp), %xmm5\n"
    "    movups 96(%rsp), %xmm6\n    movups 112(%rsp), %xmm7\n"
    "    add $136, %rsp\n"
    "    .cfi_adjust_cfa_offset -136\n"
    "    pop %rax\n    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n    pop %rdi\n"
    "    .cfi_adjust_cfa_offset -56\n"
    "    pop %r11\n" /* the stub's number */
    "    .cfi_adjust_cfa_offset -8\n"
    "    lea probe_jump(%rip), %r10\n"
    "    jmp *(%r10,%r11,8)\n"
    "    .cfi_endproc\n"
);
#define STUB(symbol, number)                                                                       \
    __asm__(".text\n.p2align 4\n.globl " #symbol "\n.type " #symbol ", @function\n" #symbol ":\n"  \
            "    .cfi_startproc\n    jmp *probe_jump+8*" #number "(%rip)\n"                        \
            "holter_stub_" #number ":\n    push $" #number "\n    jmp holter_first\n"              \
            "    .cfi_endproc\n.size " #symbol ", .-" #symbol "\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    "holter_first:\n"
    "    .cfi_startproc\n"
    "    stp x29, x30, [sp, #-224]!\n"
    "    .cfi_def_cfa_offset 224\n    .cfi_offset 29, -224\n    .cfi_offset 30, -216\n"
    "    mov x29, sp\n"
    "    stp x0, x1, [sp, #16]\n    stp x2, x3, [sp, #32]\n    stp x4, x5, [sp, #48]\n"
    "    stp x6, x7, [sp, #64]\n    stp x8, x17, [sp, #80]\n" /* x17: the stub's number */
    "    stp q0, q1, [sp, #96]\n    stp q2, q3, [sp, #128]\n    stp q4, q5, [sp, #160]\n"
    "    stp q6, q7, [sp, #192]\n"
    "    bl probe_first\n"
    "    ldp q0, q1, [sp, #96]\n    ldp q2, q3, [sp, #128]\n    ldp q4, q5, [sp, #160]\n"
    "    ldp q6, q7, [sp, #192]\n"
    "    ldp x0, x1, [sp, #16]\n    ldp x2, x3, [sp, #32]\n    ldp x4, x5, [sp, #48]\n"
    "    ldp x6, x7, [sp, #64]\n    ldp x8, x17, [sp, #80]\n"
    "    ldp x29, x30, [sp], #224\n"
    "    .cfi_def_cfa_offset 0\n    .cfi_restore 29\n    .cfi_restore 30\n"
    "    adrp x16, probe_jump\n    add x16, x16, :lo12:probe_jump\n    ldr x16, [x16, x17, lsl #3]\n"
    "    br x16\n"
    "    .cfi_endproc\n"
);
#define STUB(symbol, number)                                                                       \
    __asm__(".text\n.p2align 4\n.globl " #symbol "\n.type " #symbol ", %function\n" #symbol ":\n"  \
            "    .cfi_startproc\n    adrp x16, probe_jump+8*" #number "\n"                          \
            "    ldr x16, [x16, #:lo12:probe_jump+8*" #number "]\n    br x16\n"                     \
            "holter_stub_" #number ":\n    mov w17, #" #number "\n    b holter_first\n"             \
            "    .cfi_endproc\n.size " #symbol ", .-" #symbol "\n");
#else
#error "there are stubs for x86-64 and aarch64 only"
#endif
"""


def write_source(out, functions, used):
    out.write("/* Made from agent/probe/calls.def by make_wrappers.py. */\n"
              "#include PROBE_WRAPPERS_H\n\n#include \"agent/probe/collective.h\"\n#include \"agent/probe/environment.h\"\n"
              "#include \"agent/probe/rma.h\"\n#include \"agent/probe/shapes.h\"\n\n#include <stdarg.h>\n\n")
    names = [prefix + name for _, name, _ in functions for prefix in ("MPI_", "PMPI_")]
    names += [f"PMPI_{name}" for name in used]
    for name in names:
        out.write(f"__typeof__({name}) *real_{name};\n")
    out.write("\n")
    for call, name, large in functions:
        # mpi.h's own type first: a definition that differs from it does not compile.
        out.write(f"static __typeof__(MPI_{name}) watch_MPI_{name}, watch_PMPI_{name};\n")
        write_wrapper(out, call, name, large)
    out.write("const struct target probe_targets[] = {\n")
    stubs = [prefix + name for _, name, _ in functions for prefix in ("MPI_", "PMPI_")]
    for name in stubs:
        out.write(f"    {{\"{name}\", (void **)&real_{name}, (void *)watch_{name}}},\n")
    out.write("};\nconst size_t probe_target_count = sizeof(probe_targets) / sizeof(probe_targets[0]);\n\n"
              "const struct target probe_uses[] = {\n")
    for name in used:
        out.write(f"    {{\"PMPI_{name}\", (void **)&real_PMPI_{name}, NULL}},\n")
    out.write("};\nconst size_t probe_use_count = sizeof(probe_uses) / sizeof(probe_uses[0]);\n")
    out.write(STUBS + "\n")
    for number, name in enumerate(stubs):
        out.write(f"STUB({name}, {number})\n")
    out.write("__asm__(\".data\\n.p2align 6\\n.globl probe_jump\\n.hidden probe_jump\\nprobe_jump:\\n\"\n")
    for number in range(len(stubs)):
        out.write(f"        \"    .quad holter_stub_{number}\\n\"\n")
    out.write("        \".text\\n\");\n")


def start_write_header(out, functions, used):
    out.write("/* Made from agent/probe/calls.def by make_wrappers.py: the definitions that follow this library;\n"
              " * NULL if the loaded MPI does not have a function. */\n"
              "#ifndef HOLTER_PROBE_WRAPPERS_H\n#define HOLTER_PROBE_WRAPPERS_H\n\n#include <mpi.h>\n\n")
    names = [prefix + name for _, name, _ in functions for prefix in ("MPI_", "PMPI_")]
    for name in names + [f"PMPI_{name}" for name in used]:
        out.write(f"extern __typeof__({name}) *real_{name};\n")
    out.write("\n#endif\n")


def main(table, source, header, compiler):
    calls, _ = call_table.read(table)
    text = subprocess.run(compiler + ["-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\n", text=True,
                          stdout=subprocess.PIPE, check=True).stdout
    declared = set(re.findall(r"\bMPI_(\w+)\s*\(", text)) & set(re.findall(r"\bPMPI_(\w+)\s*\(", text))
    functions = []
    for call in calls:
        if call.name in declared:
            functions.append((call, call.name, False))
        if any("COUNT" in p.type or "DISPL" in p.type for p in call.parameters) and call.name + "_c" in declared:
            functions.append((call, call.name + "_c", True))
    used = [name for name in USED if name in declared]
    with open(source, "w", encoding="utf-8") as out:
        write_source(out, functions, used)
    with open(header, "w", encoding="utf-8") as out:
        start_write_header(out, functions, used)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
