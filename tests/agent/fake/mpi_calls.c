/* Stands for the C library of an MPI. Only its name and its needs matter. */
int MPI_Init(int *argc, char ***argv);

#ifdef PORTABILITY_LAYER
int opal_init(void);
#endif

int MPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
#ifdef PORTABILITY_LAYER
    return opal_init();
#else
    return 0;
#endif
}
