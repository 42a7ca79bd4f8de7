"""Makes the recording that `./demo replay` shows: eight ranks on four hosts (namespaces of this machine) exchange
messages with their neighbours; for a while every packet to and from one host takes 10 ms more.

Argument: the directory to leave slow-link.hrec in."""
import os
import shutil
import sys

import bed
import lab
import slow_link

COMPUTES_US = 40000  # between messages: few enough of them for a small file
BYTES = 4000


class Slower(slow_link.SlowLink):
    microseconds = 10000


class Steps(slow_link.Show):
    """tests/system/programs/steps.c in place of LAMMPS."""
    program = 'a simulation in outline'

    def result(self, extension):
        return os.path.join(self.directory, f'slow-link.{extension}')

    def start(self):
        self.control = os.path.join(self.place.dir, 'control')
        os.mkdir(self.control)
        simulation = shutil.copy(lab.program('steps', 'openmpi'), os.path.join(self.place.dir, 'simulation'))
        return self.launch(simulation, self.control, BYTES, COMPUTES_US)

    def picture(self):
        pass

    def set_state(self, word):
        with open(os.path.join(self.control, word), 'w', encoding='utf-8'):
            pass


def main():
    directory = os.path.abspath(sys.argv[1])
    lab.isolate(network=True)
    with lab.Lab() as place, bed.Bed(place, 4, delayed=[slow_link.SlowLink.host]) as hosts:
        Steps(place, Slower(hosts), directory, os.path.join(place.dir, 'endpoint')).run()
        place.check_clean()


if __name__ == '__main__':
    main()
