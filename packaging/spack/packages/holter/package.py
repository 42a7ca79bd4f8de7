# From a checkout: spack repo add packaging/spack && spack dev-build holter@0.1.0
from spack.package import *


class Holter(MesonPackage):
    """A live monitor for the communication of MPI simulations: who sends to whom, who waits, which links are
    overloaded, and when, where and why messages become slower."""

    license("BSD-3-Clause")

    version("0.1.0")  # no archive is published yet: see above

    variant("daemon", default=True, description="holterd and all commands; without: what a compute node needs")
    variant("viewer", default=True, when="+daemon", description="the window, holter-view")
    variant("otf2", default=True, when="+daemon", description="import and export of OTF2")
    variant("metis", default=True, when="+daemon", description="searches for better mappings")
    variant("curl", default=True, when="+daemon", description="alerts for Alertmanager")
    variant("metrics", default=True, when="+daemon", description="metrics for Prometheus")
    variant("fleet", default=False, when="+daemon", description="several daemons on NATS JetStream")
    variant("openmpi", default=True, description="probe for Open MPI")
    variant("mpich", default=False, description="probe for MPICH and what is compatible with it")

    depends_on("c", type="build")
    depends_on("meson@0.63:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("libuv@1.42:")
    depends_on("libzmq@4.3.2:+libsodium")
    depends_on("msgpack-c@3.1:")
    depends_on("hwloc@2.1:")
    # Only mpi.h is needed; the probe is loaded into programs that bring the library.
    depends_on("openmpi", type="build", when="+openmpi")
    depends_on("mpich", type="build", when="+mpich")
    with when("+daemon"):
        depends_on("sqlite@3.34:")
        depends_on("zstd@1.4:")
        depends_on("libyaml@0.2.2:")
        depends_on("ncurses")
    with when("+viewer"):
        depends_on("sdl2@2.0.18:")
        depends_on("sdl2-ttf@2.0.18:")
        depends_on("libpng")
        depends_on("muparser@2.2.6:")
    depends_on("otf2@3.0:", when="+otf2")
    depends_on("metis@5:~int64", when="+metis")
    depends_on("curl@7.76:", when="+curl")
    depends_on("libmicrohttpd@0.9.71:", when="+metrics")
    depends_on("nats-c@3.3:", when="+fleet")

    def meson_args(self):
        args = ["-Dtests=disabled", "-Dwerror=false"]
        for feature in ("daemon", "viewer", "otf2", "metis", "curl", "metrics", "fleet"):
            args.append(f"-D{feature}={'enabled' if self.spec.satisfies('+' + feature) else 'disabled'}")
        for mpi in ("openmpi", "mpich"):
            where = self.spec[mpi].prefix.include if self.spec.satisfies("+" + mpi) else "disabled"
            args.append(f"-D{mpi}={where}")
        return args
