"""Makes the recording that `./demo replay` shows: eight ranks on four hosts (namespaces of this machine) simulate and
draw what they simulated, by turns; for a while every packet to and from one host takes 20 ms more.

Argument: the directory to leave slow-link.hrec in."""
import os
import shutil
import sys

import bed
import lab
import slow_link

# Of tests/system/programs/insitu.c: phases of some seconds, and few enough messages for a small file.
STEPS, IMAGES, PAUSE_MS, BYTES = 24, 20, 150, 32768
MOST = 1000  # iterations: it is ended by a file


class Slower(slow_link.SlowLink):
    microseconds = 20000


class InSitu(slow_link.Show):
    """A program with phases in place of LAMMPS."""
    program = 'a simulation that draws pictures of itself'

    def result(self, extension):
        return os.path.join(self.directory, f'slow-link.{extension}')

    def start(self):
        self.control = os.path.join(self.place.dir, 'control')
        os.mkdir(self.control)
        simulation = shutil.copy(lab.program('insitu', 'openmpi'), os.path.join(self.place.dir, 'simulation'))
        return self.launch(simulation, MOST, STEPS, IMAGES, PAUSE_MS, BYTES, self.control)

    def picture(self):
        pass

    def set_state(self, word):
        with open(os.path.join(self.control, word), 'w', encoding='utf-8'):
            pass


def main():
    directory = os.path.abspath(sys.argv[1])
    lab.isolate(network=True)
    with lab.Lab() as place, bed.Bed(place, 4, delayed=[slow_link.SlowLink.host]) as hosts:
        InSitu(place, Slower(hosts), directory, os.path.join(place.dir, 'endpoint')).run()
        place.check_clean()


if __name__ == '__main__':
    main()
