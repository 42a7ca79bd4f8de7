/* The built-in rules: the text of a rules file. */
#include "daemon/alert/rules.h"

#include <string.h>

/* The built-in rules, as a file with comments: what `holter check-rules --print-defaults` prints.
 */
static const char rules_text[] =
    "# Alert rules of Holter: what is announced, and to whom. holter-rules(5) describes every "
    "key.\n"
    "# Numbers carry their units: ms, s, min, h; x (times); %/min.\n"
    "# A rule that is taken out announces nothing. Without `rules` or `sinks` the built-in ones "
    "hold.\n"
    "rules:\n"
    "  # Messages, or those who wait for a rank, take longer than they did before.\n"
    "  - name: latency-growth\n"
    "    kind: latency\n"
    "    scope: [job, intra-node, inter-node, node, node-pair, link, rank]\n"
    "    above: 1.2x            # of what it was before, from which it counts\n"
    "    clear: 1.08x           # below this it counts as back\n"
    "    growth: 10%/min        # or, while it grows, the slope from which it counts\n"
    "    for: 500ms             # so long before it is announced, after the windows to see it\n"
    "    clear-for: 5s          # so long below `clear` before it is over\n"
    "    least-messages: 20     # windows with fewer messages are not judged\n"
    "    severity: warning\n"
    "    capture: true          # read back the last calls of its ranks when it fires\n"
    "\n"
    "  # Ranks wait in MPI and nothing moves; those that have not arrived are named.\n"
    "  - name: hang\n"
    "    kind: hang\n"
    "    for: 10s               # in one call\n"
    "    stopped-for: 3s        # where a process was stopped (SIGSTOP, a debugger)\n"
    "    times-longest: 5x      # and so much longer than the longest such call so far\n"
    "    severity: critical\n"
    "    capture: true\n"
    "\n"
    "  - name: rank-died        # a rank ended without MPI_Finalize\n"
    "    kind: rank-died\n"
    "    severity: critical\n"
    "  - name: agent-lost       # a node's agent fell silent\n"
    "    kind: agent-lost\n"
    "    severity: warning\n"
    "  - name: ranks-unwatched  # ranks that no agent reports: what they do is in no figure\n"
    "    kind: ranks-unwatched\n"
    "    severity: warning\n"
    "  - name: data-lost        # events or windows are missing from the sums\n"
    "    kind: data-lost\n"
    "    severity: warning\n"
    "  - name: recording-stopped\n"
    "    kind: recording-stopped\n"
    "    severity: warning\n"
    "\n"
    "sinks:\n"
    "  - kind: terminal         # one line when an alert fires, one when it is over\n"
    "    severity: info         # alerts of this severity and worse\n"
    "# - kind: file             # one JSON object a line, as `holter tap --topic alerts -f json`\n"
    "#   path: /tmp/alerts.jsonl\n"
    "# - kind: command          # run by /bin/sh with the JSON object on standard input\n"
    "#   command: mail -s 'Holter' me@example.org\n"
    "#   timeout: 10s\n"
    "# - kind: syslog\n"
    "#   severity: warning\n"
    "# - kind: alertmanager     # Prometheus' Alertmanager, API version 2\n"
    "#   url: http://127.0.0.1:9093\n"
    "#   repeat: 1min           # repeated so often while it fires\n"
    "#   timeout: 10s\n";

const char *rules_default_text(void)
{
    return rules_text;
}

static void rules_default_on_fault(void *user, const char *fault)
{
    (void)user;
    (void)fault;
}

int rules_default(struct rules *out)
{
    return rules_parse(out, "defaults", rules_text, strlen(rules_text), rules_default_on_fault,
                       NULL);
}
