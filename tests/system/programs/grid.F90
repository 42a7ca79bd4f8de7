! What grid.c does, through one of the three bindings: built with BINDING_mpif, BINDING_mpi or BINDING_mpi_f08.
#if defined(BINDING_mpi_f08)
#define COMM type(MPI_Comm)
#define GROUP type(MPI_Group)
#else
#define COMM integer
#define GROUP integer
#endif
program grids
#if defined(BINDING_mpi_f08)
    use mpi_f08
#elif defined(BINDING_mpi)
    use mpi
#endif
    implicit none
#if defined(BINDING_mpif)
    include 'mpif.h'
#endif
    integer, parameter :: steps = 50, bytes = 8000
    integer :: rank, members, colour, at, i, ierr
    integer :: sizes(2), mine(2), ends(2), worlds(2)
    logical :: wraps(2), keep(2)
    character :: out(bytes), in(bytes)
    character(len=32) :: text
    COMM :: turned, grid, column
    GROUP :: inner, world

    call get_command_argument(1, text)
    read (text, *) members
    out = 'x'
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    colour = MPI_UNDEFINED
    if (rank < members) colour = 0
    call MPI_Comm_split(MPI_COMM_WORLD, colour, -rank, turned, ierr)
    if (rank < members) then
        sizes = (/members / 2, 2/)
        wraps = (/.true., .false./)
        keep = wraps
        call MPI_Cart_create(turned, 2, sizes, wraps, .true., grid, ierr)
        call MPI_Comm_rank(grid, at, ierr)
        call MPI_Cart_coords(grid, at, 2, mine, ierr)
        call MPI_Cart_shift(grid, 0, 1, ends(1), ends(2), ierr)
        call MPI_Comm_group(grid, inner, ierr)
        call MPI_Comm_group(MPI_COMM_WORLD, world, ierr)
        call MPI_Group_translate_ranks(inner, 2, ends, world, worlds, ierr)
        call MPI_Cart_sub(grid, keep, column, ierr)
        call MPI_Comm_free(column, ierr)
        call MPI_Comm_free(grid, ierr)
        print '(a,i0,a,i0,a,i0,a)', 'place ', rank, ' (', mine(1), ',', mine(2), ')'
        flush (6)
        do i = 1, steps
            call MPI_Sendrecv(out, bytes, MPI_CHARACTER, worlds(2), 0, in, bytes, MPI_CHARACTER, worlds(1), 0, &
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
            call execute_pause()
        end do
        call MPI_Comm_free(turned, ierr)
    end if
    call MPI_Finalize(ierr)

contains

    ! 30 ms; others may have the processor meanwhile
    subroutine execute_pause()
        use iso_c_binding
        interface
            integer(c_int) function usleep(microseconds) bind(c, name='usleep')
                import :: c_int
                integer(c_int), value :: microseconds
            end function
        end interface
        integer(c_int) :: left
        left = usleep(30000_c_int)
    end subroutine
end program
