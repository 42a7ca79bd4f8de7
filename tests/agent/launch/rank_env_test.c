#include "agent/launch/rank_env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/** Variables by name and value, NULL at the end. */
static const char *lookup(void *user, const char *name)
{
    const char *const *pairs = user;
    for (; pairs[0] != NULL; pairs += 2)
        if (strcmp(pairs[0], name) == 0)
            return pairs[1];
    return NULL;
}

static struct rank_env read_env(const char *const *pairs, const char *parent_command)
{
    struct rank_env out;
    struct rank_env_source source = {
        .variable = lookup,
        .user = (void *)pairs,
        .pid = 4321,
        .parent = 1234,
        .parent_start = 0xabc,
        .parent_command = parent_command,
        .host = "front",
    };
    rank_env_read(&out, &source);
    return out;
}

#define READ(parent, ...) read_env((const char *const[]){__VA_ARGS__, NULL}, parent)

static const char proxy[] = "/usr/bin/hydra_pmi_proxy\0--control-port\0head:38909\0--pgid\0"
                            "0\0";
static const char spawned[] = "/usr/bin/hydra_pmi_proxy\0--control-port\0head:38909\0--pgid\0"
                              "2\0";

static int local_size(const char *const *pairs)
{
    const struct rank_env_source source = {.variable = lookup, .user = (void *)pairs};
    return rank_env_local_size(&source);
}

#define LOCAL_SIZE(...) local_size((const char *const[]){__VA_ARGS__, NULL})
#define STEP "SLURM_PROCID", "9", "SLURM_STEP_ID", "0", "SLURM_STEP_TASKS_PER_NODE"

static void launchers_say_how_many_ranks_they_start_on_a_node(void **state)
{
    (void)state;
    assert_int_equal(LOCAL_SIZE("OMPI_COMM_WORLD_SIZE", "8", "OMPI_COMM_WORLD_LOCAL_SIZE", "2"), 2);
    assert_int_equal(LOCAL_SIZE("OMPI_COMM_WORLD_SIZE", "8"), -1);
    assert_int_equal(LOCAL_SIZE("MPI_LOCALRANKID", "0", "MPI_LOCALNRANKS", "3"), 3);
    assert_int_equal(LOCAL_SIZE("MPI_LOCALRANKID", "0", "MPI_LOCALNRANKS", "3x"), -1);
    assert_int_equal(LOCAL_SIZE("PATH", "/bin"), -1);
    /* variables of a step that are left over in what it starts count for nothing */
    assert_int_equal(LOCAL_SIZE(STEP, "1", "SLURM_NODEID", "0", "OMPI_COMM_WORLD_SIZE", "8",
                                "OMPI_COMM_WORLD_LOCAL_SIZE", "4"),
                     4);
    assert_int_equal(LOCAL_SIZE(STEP, "4(x2),3,5(x10)", "SLURM_NODEID", "0"), 4);
    assert_int_equal(LOCAL_SIZE(STEP, "4(x2),3,5(x10)", "SLURM_NODEID", "1"), 4);
    assert_int_equal(LOCAL_SIZE(STEP, "4(x2),3,5(x10)", "SLURM_NODEID", "2"), 3);
    assert_int_equal(LOCAL_SIZE(STEP, "4(x2),3,5(x10)", "SLURM_NODEID", "12"), 5);
    assert_int_equal(LOCAL_SIZE(STEP, "4(x2),3,5(x10)", "SLURM_NODEID", "13"), -1);
    assert_int_equal(LOCAL_SIZE(STEP, "4(x2),3"), -1);
    /* of a heterogeneous step: the list is of one component, the node's number counts in all */
    assert_int_equal(LOCAL_SIZE(STEP, "4,2", "SLURM_NODEID", "1", "SLURM_HET_SIZE", "2"), -1);
    static const char *const damaged[] = {"",       "(x2)", "4(x", "4(x0),2",  "4(x2",
                                          "4(x2)3", "-1,2", "4;2", "4(x-1),2", "99999999999"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        assert_int_equal(LOCAL_SIZE(STEP, damaged[i], "SLURM_NODEID", "2"), -1);
}

static void ranks_of_one_mpirun_have_one_step(void **state)
{
    (void)state;
    /* 1321402369 is family 20163, job 1 */
    struct rank_env a = READ("\0", "OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_LOCAL_RANK", "0",
                             "OMPI_MCA_ess_base_jobid", "1321402369");
    struct rank_env b = READ("sh\0", "OMPI_COMM_WORLD_SIZE", "4", "OMPI_COMM_WORLD_LOCAL_RANK", "3",
                             "OMPI_MCA_ess_base_jobid", "1321402369");
    assert_int_equal(a.flavour, MPI_FLAVOUR_OPENMPI);
    assert_int_equal(a.launched, 1);
    assert_int_equal(a.local_rank, 0);
    assert_int_equal(b.local_rank, 3);
    assert_int_equal(a.size, 4);
    assert_string_equal(a.step, "20163");
    assert_string_equal(a.step, b.step);
    assert_string_equal(a.base, b.base);
}

#define ORTE_JOB(uri)                                                                              \
    READ("\0", "OMPI_COMM_WORLD_SIZE", "4", "OMPI_MCA_ess_base_jobid", "1321402369",               \
         "OMPI_MCA_orte_hnp_uri", uri)

/* The hash of host and pid is the same in containers of one name whose pids are. */
static void mpiruns_of_one_hash_differ_by_their_ports(void **state)
{
    (void)state;
    assert_string_equal(ORTE_JOB("9.0;tcp://192.0.2.2,10.0.0.1:49123;tcp6://[fd00::2]:46929").base,
                        "openmpi-49123");
    assert_string_equal(ORTE_JOB("9.0;tcp://192.0.2.2,10.0.0.1:49124").base, "openmpi-49124");
    assert_string_equal(ORTE_JOB("9.0;tcp://192.0.2.2,10.0.0.1:49124").step, "20163");
    static const char *const others[] = {"",
                                         "9.0;tcp6://[fd00::2]:46929",
                                         "9.0;tcp://a",
                                         "9.0;tcp://a:",
                                         "9.0;tcp://a:0",
                                         "9.0;tcp://a:65536"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_string_equal(ORTE_JOB(others[i]).base, "openmpi");
}

static void spawned_processes_are_a_job_of_their_own(void **state)
{
    (void)state;
    struct rank_env a =
        READ("\0", "OMPI_COMM_WORLD_SIZE", "4", "OMPI_MCA_ess_base_jobid", "1321402370");
    struct rank_env b = READ(spawned, "PMI_RANK", "0");
    assert_string_equal(a.step, "20163-2");
    assert_string_equal(b.step, "38909-2");
}

static void ranks_under_hydra_take_the_port_of_their_mpiexec(void **state)
{
    (void)state;
    struct rank_env rank =
        READ(proxy, "PMI_RANK", "5", "PMI_SIZE", "6", "PMI_FD", "8", "MPI_LOCALRANKID", "1");
    assert_int_equal(rank.size, 6);
    assert_int_equal(rank.flavour, MPI_FLAVOUR_MPICH);
    assert_int_equal(rank.local_rank, 1);
    assert_string_equal(rank.base, "head");
    assert_string_equal(rank.step, "38909");
}

/* A port is that of the next mpiexec, too, where they may use only a few (MPIEXEC_PORT_RANGE). */
static void the_number_of_a_launch_comes_before_the_port_of_mpiexec(void **state)
{
    (void)state;
    assert_string_equal(READ(proxy, "PMI_RANK", "5", "HOLTER_LAUNCH", "8477").step, "8477");
    assert_string_equal(READ(spawned, "PMI_RANK", "0", "HOLTER_LAUNCH", "8477").step, "8477-2");
    assert_string_equal(READ(proxy, "PMI_RANK", "5", "HOLTER_LAUNCH", "x/y").step, "38909");
    assert_string_equal(
        READ("\0", "OMPI_MCA_ess_base_jobid", "1321402369", "HOLTER_LAUNCH", "8477").step, "20163");
}

/* What ranks on two nodes have in common, and their nodes have not. */
static void one_launch_on_two_nodes_is_one_job(void **state)
{
    (void)state;
    static const char intel[] = "hydra_bstrap_proxy\0--upstream-host\0n1\0--upstream-port\0"
                                "34921\0--pgid\0"
                                "0\0";
    static const char below[] = "hydra_bstrap_proxy\0--upstream-host\0n17\0--upstream-port\0"
                                "40001\0--pgid\0"
                                "0\0";
    static const char child[] = "hydra_bstrap_proxy\0--upstream-host\0n1\0--upstream-port\0"
                                "34921\0--pgid\0"
                                "1\0";
#define INTEL                                                                                      \
    "PBS_JOBID", "88.head", "PMI_RANK", "5", "PMI_FD", "8", "I_MPI_HYDRA_UUID",                    \
        "9d260000-7c26-e807-8fb4-050000430af0", "MPI_LOCALRANKID"
    assert_string_equal(READ(intel, INTEL, "0").step, "9d260000-7c26-e807");
    assert_string_equal(READ(below, INTEL, "1").step, "9d260000-7c26-e807");
    assert_string_equal(READ(child, INTEL, "0").step, "9d260000-7c26-e807-1");
    struct rank_env rank =
        READ("palsd\0", "PBS_JOBID", "88.head", "PMI_RANK", "5", "PALS_RANKID", "5",
             "PALS_LOCAL_RANKID", "1", "PALS_APID", "0c5f8a52-6a1c-4b7e-9d0a-9a6b1c2d3e4f");
    assert_string_equal(rank.step, "-4b7e-9d0a-9a6b1c2d3e4f");
    assert_int_equal(rank.local_rank, 1);
    rank = READ("flux-shell\0", "PMI_RANK", "5", "FLUX_TASK_RANK", "5", "FLUX_TASK_LOCAL_ID", "1",
                "FLUX_JOB_ID", "f24b8RJu1");
    assert_string_equal(rank.base, "f24b8RJu1");
    assert_string_equal(rank.step, "f24b8RJu1");
    assert_int_equal(rank.local_rank, 1);
}

static void steps_of_srun_are_slurms(void **state)
{
    (void)state;
    struct rank_env rank =
        READ("slurmstepd\0", "SLURM_JOB_ID", "77", "SLURM_STEP_ID", "3", "SLURM_PROCID", "1",
             "SLURM_LOCALID", "1", "PMIX_RANK", "1", "PMIX_NAMESPACE", "slurm.pmix.77.3");
    assert_int_equal(rank.flavour, MPI_FLAVOUR_OPENMPI);
    assert_int_equal(rank.local_rank, 1);
    assert_string_equal(rank.base, "77");
    assert_string_equal(rank.step, "3");
}

static void programs_of_one_interactive_shell_of_slurm_are_jobs_of_their_own(void **state)
{
    (void)state;
#define SHELL                                                                                      \
    "SLURM_JOB_ID", "77", "SLURM_STEP_ID", "0", "SLURM_PROCID", "0", "SLURM_STEP_NUM_TASKS"
    assert_string_equal(READ("bash\0", SHELL, "1", "SLURM_TASK_PID", "1234").step, "0-4321");
    assert_string_equal(READ("slurmstepd\0", SHELL, "1", "SLURM_TASK_PID", "4321").step, "0");
    assert_string_equal(READ("sh\0", SHELL, "8", "SLURM_TASK_PID", "1234").step, "0");
    assert_string_equal(READ("sh\0", SHELL, "1").step, "0");
}

static void mpirun_within_a_slurm_step_is_not_that_step(void **state)
{
    (void)state;
    struct rank_env rank =
        READ("orted\0", "SLURM_JOB_ID", "77", "SLURM_STEP_ID", "0", "SLURM_PROCID", "1",
             "OMPI_COMM_WORLD_SIZE", "4", "OMPI_MCA_ess_base_jobid", "1321402369");
    assert_string_equal(rank.base, "77");
    assert_string_equal(rank.step, "20163");
    rank = READ("prted\0", "SLURM_JOB_ID", "77", "SLURM_STEP_ID", "0", "SLURM_PROCID", "1",
                "OMPI_COMM_WORLD_SIZE", "4", "PMIX_RANK", "2", "PMIX_NAMESPACE", "prterun-n1-9@1");
    assert_string_equal(rank.base, "77");
    assert_string_equal(rank.step, "prterun-n1-9@1");
}

static void pmix_namespaces_are_cut_at_the_front(void **state)
{
    (void)state;
    struct rank_env rank =
        READ("\0", "PMIX_RANK", "0", "PMIX_NAMESPACE", "prterun-a-long-host-name-123456@1");
    assert_string_equal(rank.step, "long-host-name-123456@1");
}

static void the_user_names_the_job_before_the_scheduler_does(void **state)
{
    (void)state;
    assert_string_equal(READ("\0", "HOLTER_JOB", "tuesday", "SLURM_JOB_ID", "77").base, "tuesday");
    assert_string_equal(READ("\0", "PBS_JOBID", "88.server").base, "88.server");
    assert_string_equal(READ("\0", "JOB_ID", "5").base, "front");
    assert_string_equal(READ("\0", "JOB_ID", "5", "SGE_TASK_ID", "undefined").base, "5");
}

static void a_program_without_launcher_is_its_own_job(void **state)
{
    (void)state;
    struct rank_env rank = READ("bash\0", "HOME", "/root");
    assert_int_equal(rank.flavour, MPI_FLAVOUR_NONE);
    assert_int_equal(rank.launched, 0);
    assert_int_equal(rank.local_rank, -1);
    assert_string_equal(rank.base, "front");
    assert_string_equal(rank.step, "4321");
}

static void nonsense_in_the_environment_is_survived(void **state)
{
    (void)state;
    char longest[4096];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    struct rank_env rank =
        READ("hydra_pmi_proxy\0--control-port\0", "OMPI_COMM_WORLD_SIZE", "-1", "PMIX_NAMESPACE",
             longest, "OMPI_COMM_WORLD_LOCAL_RANK", "99999999999999999999",
             "OMPI_MCA_ess_base_jobid", "17x", "HOLTER_JOB", longest);
    assert_int_equal(rank.local_rank, -1);
    assert_int_equal(strlen(rank.base), sizeof rank.base - 1);
    assert_int_equal(strlen(rank.step), sizeof rank.step - 1);
}

static void options_are_read_in_both_spellings(void **state)
{
    (void)state;
    assert_string_equal(rank_env_command_option("p\0--pgid\0"
                                                "7\0",
                                                "--pgid"),
                        "7");
    assert_string_equal(rank_env_command_option("p\0--pgid=7\0", "--pgid"), "7");
    assert_null(rank_env_command_option("p\0--pgid\0", "--pgid"));
    assert_null(rank_env_command_option("p\0--pgids\0"
                                        "7\0",
                                        "--pgid"));
    assert_null(rank_env_command_option("\0", "--pgid"));
}

static enum launcher launcher_in(const char *const *pairs)
{
    const struct rank_env_source source = {.variable = lookup, .user = (void *)pairs};
    return rank_env_launcher(&source);
}

#define LAUNCHER(...) launcher_in((const char *const[]){__VA_ARGS__, NULL})

static void the_launcher_is_recognised_by_its_own_variables(void **state)
{
    (void)state;
    assert_int_equal(LAUNCHER("OMPI_COMM_WORLD_SIZE", "4", "PMIX_RANK", "0"), LAUNCHER_OPENMPI);
    assert_int_equal(LAUNCHER("PMI_FD", "8", "PMI_RANK", "5", "MPI_LOCALRANKID", "1"),
                     LAUNCHER_HYDRA);
    assert_int_equal(LAUNCHER("PMI_FD", "8", "PMI_RANK", "5"), LAUNCHER_HYDRA);
    assert_int_equal(LAUNCHER("SLURM_STEP_ID", "0", "SLURM_PROCID", "3"), LAUNCHER_SRUN);
    /* --mpi=pmi2 and --mpi=pmix of srun set variables that others set, too. */
    assert_int_equal(LAUNCHER("SLURM_STEP_ID", "0", "SLURM_PROCID", "3", "PMI_FD", "8"),
                     LAUNCHER_SRUN);
    assert_int_equal(LAUNCHER("SLURM_STEP_ID", "0", "SLURM_PROCID", "3", "PMIX_RANK", "3"),
                     LAUNCHER_SRUN);
    assert_int_equal(LAUNCHER("HOME", "/root", "SLURM_STEP_ID", "0"), LAUNCHER_NONE);
}

static void the_launcher_stands_before_the_one_that_it_uses_itself(void **state)
{
    (void)state;
    assert_int_equal(
        LAUNCHER("SLURM_STEP_ID", "0", "SLURM_PROCID", "1", "OMPI_COMM_WORLD_SIZE", "4"),
        LAUNCHER_OPENMPI);
    assert_int_equal(LAUNCHER("SLURM_STEP_ID", "0", "SLURM_PROCID", "1", "MPI_LOCALRANKID", "0"),
                     LAUNCHER_HYDRA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launchers_say_how_many_ranks_they_start_on_a_node),
        cmocka_unit_test(ranks_of_one_mpirun_have_one_step),
        cmocka_unit_test(the_number_of_a_launch_comes_before_the_port_of_mpiexec),
        cmocka_unit_test(mpiruns_of_one_hash_differ_by_their_ports),
        cmocka_unit_test(spawned_processes_are_a_job_of_their_own),
        cmocka_unit_test(ranks_under_hydra_take_the_port_of_their_mpiexec),
        cmocka_unit_test(one_launch_on_two_nodes_is_one_job),
        cmocka_unit_test(steps_of_srun_are_slurms),
        cmocka_unit_test(programs_of_one_interactive_shell_of_slurm_are_jobs_of_their_own),
        cmocka_unit_test(mpirun_within_a_slurm_step_is_not_that_step),
        cmocka_unit_test(pmix_namespaces_are_cut_at_the_front),
        cmocka_unit_test(the_user_names_the_job_before_the_scheduler_does),
        cmocka_unit_test(a_program_without_launcher_is_its_own_job),
        cmocka_unit_test(nonsense_in_the_environment_is_survived),
        cmocka_unit_test(options_are_read_in_both_spellings),
        cmocka_unit_test(the_launcher_is_recognised_by_its_own_variables),
        cmocka_unit_test(the_launcher_stands_before_the_one_that_it_uses_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
