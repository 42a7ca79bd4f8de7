/* Why a rank is late: what the kernel has counted for its process, now and when the job was calm.
 *
 * Each sign is a time by itself (time without a core, time stopped, time blocked) or explains one,
 * so that signs can be compared: the cause is the sign that has grown most. What the rank is longer
 * outside of MPI, or busy, beyond all signs is longer work, or work at a lower clock, or with more
 * messages. A rank that computes longer competes for its core longer: a wait for it in the former
 * proportion to the time on it is part of longer work. Pure. */
#ifndef HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_LATENESS_H
#define HOLTER_DAEMON_ANALYSIS_ATTRIBUTION_LATENESS_H

/** Figures of a rank, or the mean of several. Times are shares of the time in which the job does
 *  the same work when it is calm, so that calm ones are at most about 1, and others may be more. */
struct lateness_figures {
    double outside;  /**< of MPI */
    double inside;   /**< in MPI */
    double cpu;      /**< on a core */
    double queued;   /**< without a core, though it could run, and cores that were taken away */
    double stopped;  /**< by a signal */
    double blocked;  /**< in uninterruptible sleep or in MPI-IO, whichever is longer */
    double faults;   /**< major page faults, as many as in a second of that time */
    double clock;    /**< of its cores, kHz; 0: not known */
    double messages; /**< sent and received, likewise */
};

enum lateness_sign {
    LATENESS_COMPUTES,
    LATENESS_INTERRUPTED,
    LATENESS_STOPPED,
    LATENESS_PAGING,
    LATENESS_IO,
    LATENESS_CLOCK,
    LATENESS_PATTERN,
    LATENESS_SIGNS
};

/** @param delays  set to the time that each sign explains, as a share like the figures; not
 * negative
 *  @return the sign that explains most; LATENESS_SIGNS: none explains a hundredth of the time */
enum lateness_sign lateness_judge(const struct lateness_figures *calm,
                                  const struct lateness_figures *now,
                                  double delays[LATENESS_SIGNS]);

#endif
