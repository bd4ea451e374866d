# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe. In a checkout or an unpacked source archive:

    spack repo add packaging/spack && spack dev-build busbar@0.2.0
"""
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Busbar(MakefilePackage):
    """Measures collective communication between GPUs, sockets and nodes in the style of nccl-tests, compares it with
    what the topology allows, and judges interconnects."""

    license("BSD-3-Clause")

    # The archive of `make dist`; its SHA-256 stands beside it where it is published.
    version("0.2.0")

    variant("mpi", default=True, description="join ranks and measure host memory by MPI")
    variant("cuda", default=False, description="measure GPUs by NCCL, which is opened at run time")
    variant("gloo", default=False, description="measure host memory without MPI, by Gloo")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("gmake", type="build")
    depends_on("hwloc@2:")
    depends_on("fmt@8:11")
    depends_on("pugixml")
    depends_on("libsodium")
    depends_on("tomlplusplus", type="build")
    depends_on("nlohmann-json@3.9:", type="build")
    # Its headers alone: nothing is linked, GLPK least of all.
    depends_on("lemon~glpk", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("gloo", when="+gloo")
    depends_on("cuda@11.8:", when="+cuda")
    depends_on("nccl@2.14:", when="+cuda")
    depends_on("gnuplot", type="run")
    conflicts("%gcc@:11", msg="GCC 12 is the oldest that is tested")
    conflicts("~mpi~gloo~cuda", msg="there is nothing to measure with")

    # One header that Spack has no package of.
    resource(
        name="fast-cpp-csv-parser",
        git="https://github.com/ben-strasser/fast-cpp-csv-parser.git",
        commit="9bf299cefb60d0e4ba7dc79d51491595ab1b3213",
        destination="vendor",
        placement={"csv.h": "libfccp/csv.h"},
    )

    @property
    def settings(self):
        spec = self.spec
        words = ["BUSBAR_NO_INSTALL=1", "WERROR=", f"CXX={spack_cxx}", f"PREFIX={self.prefix}"]
        words.append(f"CXXFLAGS=-O2 -g1 -isystem {self.stage.source_path}/vendor")
        words.append(f"MPICXX={spec['mpi'].mpicxx}" if spec.satisfies("+mpi") else "MPI=0")
        words += ["HAVE_GLOO=1", f"GLOO_HOME={spec['gloo'].prefix}"] if spec.satisfies("+gloo") else ["HAVE_GLOO=0"]
        if spec.satisfies("+cuda"):
            return [*words, "HAVE_NCCL=1", f"CUDA_HOME={spec['cuda'].prefix}", f"NCCL_HOME={spec['nccl'].prefix}"]
        return [*words, "HAVE_NCCL=0"]

    def build(self, spec, prefix):
        make("executables", *self.settings)

    def install(self, spec, prefix):
        make("install", *self.settings)

    def test_prediction(self):
        """a row that is predicted from a topology, without a GPU"""
        program = which(self.prefix.bin.allreduce_perf)
        out = program("--backend", "sim", "--system", "dgx-h100", "--ranks", "8", "-b", "1M", "-e", "1M", output=str.split)
        assert "Out of bounds values : 0 OK" in out
