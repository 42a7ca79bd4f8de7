"""ring.py ROUNDS: arrays and objects pass round the ranks by mpi4py, which writes its truth as truth.h describes."""
import os
import pickle
import sys
from array import array

from mpi4py import MPI

WORDS = 100
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
rounds = int(sys.argv[1])
calls = {}
sent = received = messages = 0


def count(name, given=0, got=0):
    row = calls.setdefault(name, [0, 0, 0])
    for i, added in enumerate((1, given, got)):
        row[i] += added


def pickled(thing):
    return len(pickle.dumps(thing, MPI.pickle.PROTOCOL))


count('MPI_Init_thread')
for i in range(rounds):
    numbers, got = array('d', [rank] * WORDS), array('d', [0] * WORDS)
    world.Sendrecv(numbers, right, 1, got, left, 1)
    count('MPI_Sendrecv')
    # an object is sent as bytes, and received by a probe for their number
    request = world.isend({'rank': rank, 'round': i}, right, 2)
    thing = world.recv(source=left, tag=2)
    request.wait()
    for name in ('MPI_Isend', 'MPI_Mprobe', 'MPI_Mrecv', 'MPI_Wait'):
        count(name)
    if thing != {'rank': left, 'round': i} or got[0] != left:
        raise SystemExit('what was received is not what was sent')
    messages += 2
    sent += WORDS * 8 + pickled({'rank': rank, 'round': i})
    received += WORDS * 8 + pickled(thing)
    total = array('d', [0] * WORDS)
    world.Allreduce(numbers, total)
    count('MPI_Allreduce', WORDS * 8, WORDS * 8)
    world.Barrier()
    count('MPI_Barrier')
count('MPI_Finalize')
MPI.Finalize()
lines = [f'truth calls {rank} {name} {n} {given} {got}\n' for name, (n, given, got) in calls.items()]
lines.append(f'truth sent {rank} {right} {messages} {sent}\n')
lines.append(f'truth received {rank} {messages} {received}\n')
with open(os.path.join(os.environ['TRUTH_DIR'], f'truth.{rank}'), 'w', encoding='utf-8') as f:
    f.writelines(lines)
