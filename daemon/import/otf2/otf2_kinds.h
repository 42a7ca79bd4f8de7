/* Kinds of OTF2 event records that Holter only counts.
 *
 * WITH(kind, parameters) and BARE(kind): the callbacks as declared in OTF2_EvtReaderCallbacks.h of
 * OTF2 3.0. */
#ifndef HOLTER_DAEMON_IMPORT_OTF2_OTF2_KINDS_H
#define HOLTER_DAEMON_IMPORT_OTF2_OTF2_KINDS_H

#define OTF2_OTHER_KINDS(WITH, BARE)                                                               \
    WITH(BufferFlush, OTF2_TimeStamp a)                                                            \
    WITH(MeasurementOnOff, OTF2_MeasurementMode a)                                                 \
    WITH(OmpFork, uint32_t a)                                                                      \
    BARE(OmpJoin)                                                                                  \
    WITH(OmpAcquireLock, uint32_t a, uint32_t b)                                                   \
    WITH(OmpReleaseLock, uint32_t a, uint32_t b)                                                   \
    WITH(OmpTaskCreate, uint64_t a)                                                                \
    WITH(OmpTaskSwitch, uint64_t a)                                                                \
    WITH(OmpTaskComplete, uint64_t a)                                                              \
    WITH(Metric, OTF2_MetricRef a, uint8_t b, const OTF2_Type *c, const OTF2_MetricValue *d)       \
    WITH(ParameterString, OTF2_ParameterRef a, OTF2_StringRef b)                                   \
    WITH(ParameterInt, OTF2_ParameterRef a, int64_t b)                                             \
    WITH(ParameterUnsignedInt, OTF2_ParameterRef a, uint64_t b)                                    \
    WITH(RmaWinCreate, OTF2_RmaWinRef a)                                                           \
    WITH(RmaWinDestroy, OTF2_RmaWinRef a)                                                          \
    BARE(RmaCollectiveBegin)                                                                       \
    WITH(RmaCollectiveEnd, OTF2_CollectiveOp a, OTF2_RmaSyncLevel b, OTF2_RmaWinRef c, uint32_t d, \
         uint64_t e, uint64_t f)                                                                   \
    WITH(RmaGroupSync, OTF2_RmaSyncLevel a, OTF2_RmaWinRef b, OTF2_GroupRef c)                     \
    WITH(RmaRequestLock, OTF2_RmaWinRef a, uint32_t b, uint64_t c, OTF2_LockType d)                \
    WITH(RmaAcquireLock, OTF2_RmaWinRef a, uint32_t b, uint64_t c, OTF2_LockType d)                \
    WITH(RmaTryLock, OTF2_RmaWinRef a, uint32_t b, uint64_t c, OTF2_LockType d)                    \
    WITH(RmaReleaseLock, OTF2_RmaWinRef a, uint32_t b, uint64_t c)                                 \
    WITH(RmaSync, OTF2_RmaWinRef a, uint32_t b, OTF2_RmaSyncType c)                                \
    WITH(RmaWaitChange, OTF2_RmaWinRef a)                                                          \
    WITH(RmaOpCompleteBlocking, OTF2_RmaWinRef a, uint64_t b)                                      \
    WITH(RmaOpCompleteNonBlocking, OTF2_RmaWinRef a, uint64_t b)                                   \
    WITH(RmaOpTest, OTF2_RmaWinRef a, uint64_t b)                                                  \
    WITH(RmaOpCompleteRemote, OTF2_RmaWinRef a, uint64_t b)                                        \
    WITH(ThreadFork, OTF2_Paradigm a, uint32_t b)                                                  \
    WITH(ThreadJoin, OTF2_Paradigm a)                                                              \
    WITH(ThreadTeamBegin, OTF2_CommRef a)                                                          \
    WITH(ThreadTeamEnd, OTF2_CommRef a)                                                            \
    WITH(ThreadAcquireLock, OTF2_Paradigm a, uint32_t b, uint32_t c)                               \
    WITH(ThreadReleaseLock, OTF2_Paradigm a, uint32_t b, uint32_t c)                               \
    WITH(ThreadTaskCreate, OTF2_CommRef a, uint32_t b, uint32_t c)                                 \
    WITH(ThreadTaskSwitch, OTF2_CommRef a, uint32_t b, uint32_t c)                                 \
    WITH(ThreadTaskComplete, OTF2_CommRef a, uint32_t b, uint32_t c)                               \
    WITH(ThreadCreate, OTF2_CommRef a, uint64_t b)                                                 \
    WITH(ThreadBegin, OTF2_CommRef a, uint64_t b)                                                  \
    WITH(ThreadWait, OTF2_CommRef a, uint64_t b)                                                   \
    WITH(ThreadEnd, OTF2_CommRef a, uint64_t b)                                                    \
    WITH(CallingContextSample, OTF2_CallingContextRef a, uint32_t b, OTF2_InterruptGeneratorRef c) \
    WITH(IoCreateHandle, OTF2_IoHandleRef a, OTF2_IoAccessMode b, OTF2_IoCreationFlag c,           \
         OTF2_IoStatusFlag d)                                                                      \
    WITH(IoDestroyHandle, OTF2_IoHandleRef a)                                                      \
    WITH(IoDuplicateHandle, OTF2_IoHandleRef a, OTF2_IoHandleRef b, OTF2_IoStatusFlag c)           \
    WITH(IoSeek, OTF2_IoHandleRef a, int64_t b, OTF2_IoSeekOption c, uint64_t d)                   \
    WITH(IoChangeStatusFlags, OTF2_IoHandleRef a, OTF2_IoStatusFlag b)                             \
    WITH(IoDeleteFile, OTF2_IoParadigmRef a, OTF2_IoFileRef b)                                     \
    WITH(IoOperationBegin, OTF2_IoHandleRef a, OTF2_IoOperationMode b, OTF2_IoOperationFlag c,     \
         uint64_t d, uint64_t e)                                                                   \
    WITH(IoOperationTest, OTF2_IoHandleRef a, uint64_t b)                                          \
    WITH(IoOperationIssued, OTF2_IoHandleRef a, uint64_t b)                                        \
    WITH(IoOperationComplete, OTF2_IoHandleRef a, uint64_t b, uint64_t c)                          \
    WITH(IoOperationCancelled, OTF2_IoHandleRef a, uint64_t b)                                     \
    WITH(IoAcquireLock, OTF2_IoHandleRef a, OTF2_LockType b)                                       \
    WITH(IoReleaseLock, OTF2_IoHandleRef a, OTF2_LockType b)                                       \
    WITH(IoTryLock, OTF2_IoHandleRef a, OTF2_LockType b)                                           \
    WITH(ProgramBegin, OTF2_StringRef a, uint32_t b, const OTF2_StringRef *c)                      \
    WITH(ProgramEnd, int64_t a)                                                                    \
    WITH(CommCreate, OTF2_CommRef a)                                                               \
    WITH(CommDestroy, OTF2_CommRef a)

/* Records that are used where MPI wrote them, and only counted where other paradigms did. */
#define OTF2_ACCESS_KINDS(WITH)                                                                    \
    WITH(RmaPut, OTF2_RmaWinRef a, uint32_t b, uint64_t c, uint64_t d)                             \
    WITH(RmaGet, OTF2_RmaWinRef a, uint32_t b, uint64_t c, uint64_t d)                             \
    WITH(RmaAtomic, OTF2_RmaWinRef a, uint32_t b, OTF2_RmaAtomicType c, uint64_t d, uint64_t e,    \
         uint64_t f)

#define OTF2_KIND_BARE_(kind) OTF2_KIND_##kind,
#define OTF2_KIND_WITH_(kind, ...) OTF2_KIND_##kind,

enum otf2_kind {
    OTF2_OTHER_KINDS(OTF2_KIND_WITH_, OTF2_KIND_BARE_) OTF2_ACCESS_KINDS(OTF2_KIND_WITH_)
        OTF2_KIND_Unknown,
    OTF2_KINDS,
};

#endif
