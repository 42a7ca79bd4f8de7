! Fortran through one of the three bindings: built with BINDING_mpif, BINDING_mpi or BINDING_mpi_f08.
! Rank r talks with r + 1 and r - 1 in a ring; counts are known in advance and written as truth.h describes.
#if defined(BINDING_mpi_f08)
#define REQUEST type(MPI_Request)
#define STATUS type(MPI_Status)
#define COMM type(MPI_Comm)
#else
#define REQUEST integer
#define STATUS integer, dimension(MPI_STATUS_SIZE)
#define COMM integer
#endif
program bindings
#if defined(BINDING_mpi_f08)
    use mpi_f08
#elif defined(BINDING_mpi)
    use mpi
#endif
    implicit none
#if defined(BINDING_mpif)
    include 'mpif.h'
#endif
    integer, parameter :: rounds = 10, doubles = 100
    integer :: rank, ranks, left, right, ierr, i, got, none
    logical :: flag
    double precision :: out(doubles), in(doubles), total(1), ones(1)
    integer :: numbers(4), pair(2)
    REQUEST :: requests(2), persistent
#if defined(BINDING_mpi_f08)
    STATUS :: one, both(2)
#else
    integer :: one(MPI_STATUS_SIZE), both(MPI_STATUS_SIZE, 2)
#endif
    COMM :: copy

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    right = mod(rank + 1, ranks)
    left = mod(rank + ranks - 1, ranks)
    none = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    do i = 1, rounds
        out = rank + i
        ! a private communicator, statuses read
        call MPI_Irecv(in, doubles, MPI_DOUBLE_PRECISION, left, 5, copy, requests(1), ierr)
        call MPI_Isend(out, doubles, MPI_DOUBLE_PRECISION, right, 5, copy, requests(2), ierr)
        call MPI_Waitall(2, requests, both, ierr)
        if (in(doubles) /= left + i) call broken('MPI_Irecv')
        ! any source, any tag, statuses ignored
        call MPI_Irecv(numbers, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, requests(1), ierr)
        call MPI_Send((/rank, i, 3, 4/), 4, MPI_INTEGER, right, i, copy, ierr)
        call MPI_Wait(requests(1), one, ierr)
        call MPI_Get_count(one, MPI_INTEGER, got, ierr)
        if (got /= 4 .or. numbers(1) /= left) call broken('MPI_Wait')
        call MPI_Irecv(numbers, 2, MPI_INTEGER, left, 6, copy, requests(1), ierr)
        pair = (/rank, i/)
        call MPI_Isend(pair, 2, MPI_INTEGER, right, 6, copy, requests(2), ierr)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
        ! both at a time
        call MPI_Sendrecv(out, 7, MPI_DOUBLE_PRECISION, right, 7, in, 7, MPI_DOUBLE_PRECISION, left, 7, &
            MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        ! polling
        call MPI_Irecv(numbers, 1, MPI_INTEGER, left, 8, MPI_COMM_WORLD, requests(1), ierr)
        call MPI_Send(rank, 1, MPI_INTEGER, right, 8, MPI_COMM_WORLD, ierr)
        flag = .false.
        do while (.not. flag)
            call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, ierr)
            if (.not. flag) none = none + 1
        end do
        ! collectives, one of them in place
        ones = 1
        call MPI_Allreduce(ones, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, copy, ierr)
        if (nint(total(1)) /= ranks) call broken('MPI_Allreduce')
        call MPI_Allreduce(MPI_IN_PLACE, ones, 1, MPI_DOUBLE_PRECISION, MPI_SUM, copy, ierr)
        if (nint(ones(1)) /= ranks) call broken('MPI_Allreduce in place')
        call MPI_Bcast(numbers, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        call MPI_Barrier(copy, ierr)
    end do
    call MPI_Send_init(out, 3, MPI_DOUBLE_PRECISION, right, 9, copy, persistent, ierr)
    do i = 1, rounds
        call MPI_Start(persistent, ierr)
        call MPI_Recv(in, 3, MPI_DOUBLE_PRECISION, left, 9, copy, MPI_STATUS_IGNORE, ierr)
        call MPI_Wait(persistent, MPI_STATUS_IGNORE, ierr)
    end do
    call MPI_Request_free(persistent, ierr)
    call MPI_Comm_free(copy, ierr)
    call MPI_Finalize(ierr)
    call write_truth()

contains

    subroutine broken(what)
        character(len=*), intent(in) :: what
        write (0, *) 'rank ', rank, ': ', what, ' did not do what it should'
        stop 99
    end subroutine broken

    subroutine calls(unit, name, count, given, taken)
        integer, intent(in) :: unit, count, given, taken
        character(len=*), intent(in) :: name
        write (unit, '(a,i0,3a,i0,1x,i0,1x,i0)') 'truth calls ', rank, ' ', name, ' ', count, given, taken
    end subroutine calls

    subroutine write_truth()
        character(len=4096) :: directory
        integer :: unit, length, first
        integer, parameter :: bytes = rounds * (800 + 16 + 8 + 56 + 4 + 24)
        call get_environment_variable('TRUTH_DIR', directory, length)
        unit = 6
        if (length > 0) then
            write (directory(length + 1:), '(a,i0)') '/truth.', rank
            open (newunit=unit, file=trim(directory), action='write')
        end if
        first = merge(1, 0, rank == 0)
        call calls(unit, 'MPI_Init', 1, 0, 0)
        call calls(unit, 'MPI_Comm_dup', 1, 0, 0)
        call calls(unit, 'MPI_Irecv', 4 * rounds, 0, 0)
        call calls(unit, 'MPI_Isend', 2 * rounds, 0, 0)
        call calls(unit, 'MPI_Waitall', 2 * rounds, 0, 0)
        call calls(unit, 'MPI_Send', 2 * rounds, 0, 0)
        call calls(unit, 'MPI_Wait', 2 * rounds, 0, 0)
        call calls(unit, 'MPI_Sendrecv', rounds, 0, 0)
        call calls(unit, 'MPI_Test', rounds + none, 0, 0)
        call calls(unit, 'MPI_Allreduce', 2 * rounds, 16 * rounds, 16 * rounds)
        call calls(unit, 'MPI_Bcast', rounds, 16 * rounds * first, 16 * rounds * (1 - first))
        call calls(unit, 'MPI_Barrier', rounds, 0, 0)
        call calls(unit, 'MPI_Send_init', 1, 0, 0)
        call calls(unit, 'MPI_Start', rounds, 24 * rounds, 0)
        call calls(unit, 'MPI_Recv', rounds, 0, 0)
        call calls(unit, 'MPI_Request_free', 1, 0, 0)
        call calls(unit, 'MPI_Comm_free', 1, 0, 0)
        call calls(unit, 'MPI_Finalize', 1, 0, 0)
        if (none > 0) write (unit, '(a,i0,a,i0)') 'truth polls ', rank, ' MPI_Test ', none
        write (unit, '(a,4(i0,1x))') 'truth sent ', rank, right, 6 * rounds, bytes
        write (unit, '(a,3(i0,1x))') 'truth received ', rank, 6 * rounds, bytes
        if (length > 0) close (unit)
    end subroutine write_truth
end program bindings
