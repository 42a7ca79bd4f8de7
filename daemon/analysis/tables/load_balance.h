/* Load balance of processes: PCLVis, Eq. 7-8. LB_p = |mc_p - mean| / mean absolute deviation, where
 * mc_p is the number of messages that process p sent and received, and both means are over the
 * processes that communicated. All processes are added, then added again as load_balance_deviate(),
 * before any is asked for. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_TABLES_LOAD_BALANCE_H
#define HOLTER_DAEMON_ANALYSIS_TABLES_LOAD_BALANCE_H

/** Zero-initialised is empty. */
struct load_balance {
    double messages;  /**< of all processes */
    double deviation; /**< sum of the absolute deviations from the mean */
    double processes; /**< that communicated */
};

/** First pass. @param messages  of a process; 0: it does not count */
static inline void load_balance_add(struct load_balance *balance, double messages)
{
    balance->messages += messages;
    balance->processes += messages > 0;
}

static inline double load_balance_mean(const struct load_balance *balance)
{
    return balance->processes > 0 ? balance->messages / balance->processes : 0;
}

static inline double load_balance_distance(const struct load_balance *balance, double messages)
{
    double above = messages - load_balance_mean(balance);
    return above < 0 ? -above : above;
}

/** Second pass, with the same messages. */
static inline void load_balance_deviate(struct load_balance *balance, double messages)
{
    balance->deviation += messages > 0 ? load_balance_distance(balance, messages) : 0;
}

/** LB_p. @return 0 where all are alike, within the rounding of sums, and of a process without
 *  messages */
static inline double load_balance_of(const struct load_balance *balance, double messages)
{
    double mean_deviation = balance->processes > 0 ? balance->deviation / balance->processes : 0;
    return messages > 0 && mean_deviation > 1e-9 * load_balance_mean(balance)
               ? load_balance_distance(balance, messages) / mean_deviation
               : 0;
}

#endif
