"""What is installed works from where it is installed, and what sites get besides is right.
usage: packaging_test.py SOURCE BUILD"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest


def run(*words, env=None, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env=os.environ | (env or {}), check=False, **more)


def introspect(what):
    """What meson knows of the build directory."""
    return json.loads(run("meson", "introspect", BUILD, f"--{what}").stdout)


def meson_options():
    text = pathlib.Path(SOURCE, "meson_options.txt").read_text(encoding="utf-8")
    return set(re.findall(r"^option\('(\w+)'", text, re.M))


class Spec:
    """Of Spack: everything is asked for, or nothing."""

    def __init__(self, has):
        self.has, self.prefix = has, types.SimpleNamespace(include="/mpi/include")

    def satisfies(self, _):
        return self.has

    def __getitem__(self, _):
        return self


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        installed = run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", cls.folder.name)
        assert installed.returncode == 0, installed
        cls.holter, = pathlib.Path(cls.folder.name).rglob("bin/holter")
        cls.prefix = cls.holter.parent.parent
        cls.env = {"HOLTER_RUN_DIR": cls.folder.name}

    def test_holter_finds_its_probes_and_programs(self):
        self.assertRegex(run(self.holter, "--version").stdout, "probe for .*: .*/libholter-.*so")
        self.assertEqual(0, run(self.holter, "check-rules", "--print-defaults").returncode)
        finished = run(self.holter, "run", "--no-record", "--", "sh", "-c", "exit 3", env=self.env)
        self.assertEqual(3, finished.returncode, finished)
        self.assertIn("watching", finished.stderr)

    def test_the_version_names_every_part_that_can_be_left_out(self):
        text = pathlib.Path(SOURCE, "meson_options.txt").read_text(encoding="utf-8")
        parts = set(re.findall(r"^option\('(\w+)', type: 'feature'", text, re.M)) - {"tests"}
        self.assertIn("viewer", parts)
        shown = run(self.holter, "--version").stdout
        self.assertEqual(set(), {part for part in parts if not re.search(rf"[;,] (no )?{part}\b", shown)}, shown)

    def test_a_compute_node_s_part_alone_names_its_build_in_the_same_form(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = run(shutil.copy(self.holter, folder), "--version")
        self.assertEqual((0, run(self.holter, "--version").stdout.splitlines()[:2]),
                         (alone.returncode, alone.stdout.splitlines()), alone)

    def test_ranks_on_other_nodes_are_started_by_the_program_in_bin(self):
        finished = run(self.holter, "run", "--no-record", "--", "sh", "-c", "env", env=self.env)
        self.assertIn(f"{self.holter} exec", finished.stdout)

    def test_a_program_in_a_container_runs_where_holter_cannot_start(self):
        inside = self.prefix / "lib/holter/holter-inside"
        self.assertEqual(3, run(inside, "sh", "-c", "exit 3", env=self.env).returncode)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("bin", "lib/holter"):
                os.makedirs(os.path.join(folder, name))
            shutil.copy("/bin/false", os.path.join(folder, "bin/holter"))
            finished = run(shutil.copy(inside, os.path.join(folder, "lib/holter")), "sh", "-c", "echo runs; exit 3")
        self.assertEqual((3, "runs\n"), (finished.returncode, finished.stdout))
        self.assertRegex(finished.stderr, r"\Aholter: .* cannot start here .*; sh runs unwatched\n\Z")

    def test_view_is_found(self):
        self.assertIn("usage: holter-view", run(self.holter, "view", "--help").stdout)

    @needs("pkg-config")
    def test_a_subscriber_can_include_the_headers(self):
        flags = run("pkg-config", "--define-prefix", "--cflags", "holter",
                    env={"PKG_CONFIG_PATH": self.prefix / "share/pkgconfig"}).stdout.split()
        compiled = run("cc", *flags, f"-I{self.prefix}/include", "-D_GNU_SOURCE", "-fsyntax-only", "-x", "c", "-include",
                       "holter/wire.h", "-include", "holter/event.h", "/dev/null")
        self.assertEqual(0, compiled.returncode, compiled)

    def test_licence_pages_and_units_are_installed(self):
        for name in ("doc/holter/LICENSE", "doc/holter/docs/install.md", "man/man1/holter-run.1"):
            self.assertTrue((self.prefix / "share" / name).exists(), name)
        for kind in ("user", "system"):
            self.assertTrue((self.prefix / "lib/systemd" / kind / "holterd.service").exists())

    def test_installed_pages_find_what_they_link_to(self):
        pages = list((self.prefix / "share/doc/holter").rglob("*.md"))
        links = [(page, link) for page in pages
                 for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))]
        self.assertGreater(len(links), 100)
        self.assertEqual([], [(page.name, link) for page, link in links if not (page.parent / link).exists()])

    @needs("systemd-analyze")
    def test_units_are_right(self):
        for kind in ("user", "system"):
            unit = os.path.join(self.folder.name, kind + "-holterd.service")
            text = (self.prefix / "lib/systemd" / kind / "holterd.service").read_text(encoding="utf-8")
            installed = str(self.prefix)[len(self.folder.name):]
            pathlib.Path(unit).write_text(text.replace(installed + "/bin", str(self.holter.parent)), encoding="utf-8")
            shown = run("systemd-analyze", "verify", "--man=no", unit)
            self.assertEqual((0, ""), (shown.returncode, shown.stderr.strip()), shown)

    def test_what_the_system_unit_forbids_is_an_error_for_a_command_and_does_not_kill_it(self):
        unit = (self.prefix / "lib/systemd/system/holterd.service").read_text(encoding="utf-8").splitlines()
        self.assertIn("SystemCallErrorNumber=EPERM", unit)

    @needs("modulecmd")
    def test_the_module_sets_paths(self):
        shown = run("modulecmd", "sh", "load", "holter",
                    env={"MODULEPATH": str(self.prefix / "share/holter/modulefiles")})
        self.assertRegex(shown.stdout, r"PATH=.*/bin", shown)

    @needs("modulecmd")
    def test_the_module_hides_neither_manuals_nor_data_of_the_system(self):
        env = {name: value for name, value in os.environ.items() if name not in ("MANPATH", "XDG_DATA_DIRS")}
        shown = subprocess.run(["modulecmd", "sh", "load", "holter"], capture_output=True, text=True, check=False,
                               env=env | {"MODULEPATH": str(self.prefix / "share/holter/modulefiles")})
        self.assertRegex(shown.stdout, r"\bMANPATH=\S*/share/man:;", shown)
        self.assertRegex(shown.stdout, r"\bXDG_DATA_DIRS=\S*/usr/local/share:/usr/share;", shown)


class Options(unittest.TestCase):
    """A machine on which pkg-config knows nothing but what probe and agent need."""
    HIDDEN = {"sdl2", "SDL2_ttf", "libpng", "muparser", "otf2", "libcurl", "cmocka", "sqlite3", "libzstd", "yaml-0.1", "ncursesw"}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = os.path.join(folder.name, "build")
        seen = os.path.join(folder.name, "pkgconfig")
        os.mkdir(seen)
        for place in run("pkg-config", "--variable=pc_path", "pkg-config").stdout.strip().split(":"):
            for file in pathlib.Path(place).glob("*.pc"):
                if file.stem not in self.HIDDEN and not os.path.exists(os.path.join(seen, file.name)):
                    os.symlink(file, os.path.join(seen, file.name))
        self.env = {"PKG_CONFIG_LIBDIR": seen}

    def setup_build(self, *options):
        # CMake and others that meson asks besides are not there, either.
        native = os.path.join(os.path.dirname(self.build), "native")
        pathlib.Path(native).write_text("[binaries]\ncmake = '/nonexistent'\n", encoding="utf-8")
        return run("meson", "setup", self.build, SOURCE, "--native-file", native, *options, env=self.env)

    def test_what_a_compute_node_needs_is_built(self):
        made = self.setup_build()
        self.assertEqual(0, made.returncode, made.stdout[-2000:])
        names = {target["name"] for target in json.loads(run("meson", "introspect", self.build, "--targets").stdout)
                 if target["type"] == "executable"}
        self.assertLessEqual({"holter", "holter-agent"}, names)
        self.assertEqual(set(), names & {"holterd", "holter-cli", "holter-view"})

    def test_nothing_newer_than_the_lowest_version_of_meson_is_used(self):
        """Meson knows since when each of its functions exists, and warns."""
        made = run("meson", "setup", self.build, SOURCE)
        self.assertEqual(0, made.returncode, made.stdout[-2000:])
        self.assertNotRegex(made.stdout + made.stderr, "added in newer versions|introduced in")

    def test_what_is_demanded_and_cannot_be_built_is_an_error(self):
        made = self.setup_build("-Dviewer=enabled")
        self.assertEqual(1, made.returncode)
        self.assertIn("sdl2", made.stdout)


class Slurm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name

    def prolog(self, site, **env):
        path = os.path.join(self.home, "site")
        if site is not None:
            pathlib.Path(path).write_text(site, encoding="utf-8")
        clean = {"HOLTER_SITE": path, "HOME": self.home, "HOLTER_DAEMON": "", "HOLTER_KEYS": ""}
        return run(SLURM + "/task_prolog.sh", env=clean | env)

    def test_tasks_get_the_daemon_and_the_keys_of_their_user(self):
        os.mkdir(self.home + "/keys")
        pathlib.Path(self.home + "/keys/agent.key").touch()
        finished = self.prolog("HOLTER_DAEMON=tcp://monitor:4710\nHOLTER_KEYS='~/keys'\n")
        self.assertEqual((0, f"export HOLTER_DAEMON=tcp://monitor:4710\nexport HOLTER_KEYS={self.home}/keys\n"),
                         (finished.returncode, finished.stdout))

    def test_tasks_run_as_before_without_keys_without_a_site_or_with_a_daemon_of_their_own(self):
        site = "HOLTER_DAEMON=tcp://monitor:4710\nHOLTER_KEYS='~/keys'\n"
        for finished in (self.prolog(None), self.prolog("syntax ( error\n"), self.prolog(site),
                         self.prolog(site, HOLTER_DAEMON="ipc:///tmp/own")):
            self.assertEqual((0, ""), (finished.returncode, finished.stdout), finished)

    def test_the_epilog_removes_memory_of_dead_ranks_only(self):
        if os.geteuid() != 0 or run("unshare", "--mount", "true").returncode != 0:
            self.skipTest("root's rights are needed")
        script = ("mount -t tmpfs tmpfs /dev/shm && truncate -s 4096 /dev/shm/holter.1.b.{1,2,22} /dev/shm/other"
                  " && chown 1 /dev/shm/* && exec python3 -c \"import mmap, subprocess, os\n"
                  "f = open('/dev/shm/holter.1.b.22', 'r+b'); m = mmap.mmap(f.fileno(), 4096)\n"
                  "subprocess.run(['$0'], env={'SLURM_JOB_UID': '1', 'PATH': os.environ['PATH']}, check=True)\n"
                  "print(sorted(os.listdir('/dev/shm')))\"")
        finished = run("unshare", "--mount", "bash", "-c", script, SLURM + "/epilog.sh")
        self.assertEqual("['holter.1.b.22', 'other']\n", finished.stdout, finished)


class Recipes(unittest.TestCase):
    @needs("rpmspec")
    def test_the_rpm_spec_can_be_read(self):
        shown = run("rpmspec", "-P", os.path.join(SOURCE, "packaging/rpm/holter.spec"))
        self.assertEqual(0, shown.returncode, shown)

    @needs("rpmbuild")
    def test_the_rpms_have_every_file_that_is_installed(self):
        """Packages are made of this build: rpmbuild refuses files that no package has, and names that are not there."""
        options = {option["name"]: option["value"] for option in introspect("buildoptions")}
        module = next(path for path in introspect("installed").values() if path.endswith("/holter/__init__.py"))
        prefix = options["prefix"]
        macros = {"_prefix": prefix, "_libdir": f"{prefix}/{options['libdir']}", "_datadir": f"{prefix}/share",
                  "_defaultdocdir": f"{prefix}/share/doc", "_mandir": f"{prefix}/share/man", "_bindir": f"{prefix}/bin",
                  "_includedir": f"{prefix}/include",
                  "_unitdir": f"{prefix}/lib/systemd/system", "_userunitdir": f"{prefix}/lib/systemd/user",
                  "_sysusersdir": f"{prefix}/lib/sysusers.d", "python3_sitelib": os.path.dirname(os.path.dirname(module)),
                  "meson_install": f"meson install -C {BUILD} --no-rebuild --quiet --destdir %{{buildroot}}",
                  "debug_package": "%{nil}", "__strip": "/bin/true", "__brp_compress": "/bin/true"}
        for name in ("meson", "meson_build", "sysusers_create_compat", "systemd_post", "systemd_preun", "systemd_postun"):
            macros[name] = "true"
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "BUILD", "holter-0.1.0")
            os.makedirs(source)
            shutil.copy(os.path.join(SOURCE, "LICENSE"), source)
            defined = [word for name, value in ({"_topdir": folder} | macros).items()
                       for word in ("--define", f"{name} {value}")]
            built = run("rpmbuild", "-bb", "--nodeps", "--noprep", *defined,
                        os.path.join(SOURCE, "packaging/rpm/holter.spec"))
            self.assertEqual(0, built.returncode, built.stderr[-3000:])
            self.assertNotIn("warning", built.stderr)
            self.assertEqual({"holter", "holter-agent", "holter-viewer"},
                             {path.name.rsplit("-", 2)[0] for path in pathlib.Path(folder).rglob("*.rpm")})

    def test_the_spack_recipe_gives_every_option_of_the_build(self):
        """Read with stand-ins for what Spack has: a spec with all variants."""
        path = os.path.join(SOURCE, "packaging/spack/packages/holter/package.py")
        variants, known = [], {"MesonPackage": type("MesonPackage", (), {})}
        text = pathlib.Path(path).read_text(encoding="utf-8").replace("from spack.package import *", "")
        for name in ("license", "version", "depends_on"):
            known[name] = lambda *_, **__: None
        known["variant"] = lambda name, **__: variants.append(name)
        known["when"] = lambda _: contextlib.nullcontext()
        exec(compile(text, path, "exec"), known)  # pylint: disable=exec-used
        package = known["Holter"]()
        for has in (True, False):
            package.spec = Spec(has)
            given = [argument[2:].split("=")[0] for argument in package.meson_args() if argument.startswith("-D")]
            project = {name for name in meson_options() if not name.startswith("systemd_")}
            self.assertEqual(sorted(project | {"werror"}), sorted(given))
        self.assertLessEqual(set(variants), meson_options())

    def test_options_in_the_recipes_exist(self):
        for name in ("packaging/rpm/holter.spec", "packaging/debian/rules"):
            given = set(re.findall(r"-D(\w+)=", pathlib.Path(SOURCE, name).read_text(encoding="utf-8")))
            self.assertLessEqual(given, meson_options() | {"werror", "python.purelibdir", "python"}, name)
            self.assertIn("metrics" if "debian" in name else "openmpi", given)

    def test_versions_are_those_of_the_project(self):
        version = run("meson", "introspect", BUILD, "--projectinfo").stdout.split('"version": "')[1].split('"')[0]
        for name in ("CITATION.cff", "packaging/rpm/holter.spec", "packaging/debian/changelog",
                     "packaging/spack/packages/holter/package.py"):
            self.assertIn(version, pathlib.Path(SOURCE, name).read_text(encoding="utf-8"), name)


if __name__ == "__main__":
    SOURCE, BUILD = sys.argv[1:]
    SLURM = os.path.join(SOURCE, "packaging", "slurm")
    unittest.main(argv=sys.argv[:1])
