"""make_call_list.py CALLS.DEF OUTPUT: writes holter/call_list.h."""

import sys

import call_table


def main(source, output):
    calls, local = call_table.read(source)
    width = max(len(call.name) for call in calls)
    with open(output, "w", encoding="utf-8") as out:
        out.write("/* Made from agent/probe/calls.def. Included by holter/call.h. */\n"
                  "#ifndef HOLTER_CALL_LIST_H\n#define HOLTER_CALL_LIST_H\n\n"
                  "/** X(number, name without MPI_, enum call_class), by number */\n"
                  "#define CALL_LIST(X) \\\n")
        out.write(" \\\n".join(f"    X({call.number}, {call.name}, {call_table.CLASSES[call.klass]})"
                               for call in calls))
        out.write("\n\n/** X(name without MPI_), by name: functions that neither transfer data nor wait */\n"
                  "#define CALL_LOCAL_LIST(X) \\\n")
        out.write(" \\\n".join(f"    X({name})" for name in sorted(local)))
        out.write("\n\nenum call {\n    CALL_NONE = 0,\n")
        for call in calls:
            out.write(f"    CALL_{call.name:{width}} = {call.number},\n")
        out.write(f"    CALL_NUMBERS = {max(call.number for call in calls) + 1} "
                  "/**< one more than the highest number */\n};\n\n#endif\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
