"""The tables of facts as one object, with the look-ups that conditions and texts use. Reads no file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuhelp.kb import architectures, companions, drivers, wheels
from gpuhelp.kb import gpus as gpu_names
from gpuhelp.kb.codes import Code, CodeBook

Table = Mapping[str, Any]


class ReadTables(Mapping[str, object]):
    """Tables by name, each read when it is asked for: most answers need one of them."""

    def __init__(self, read: Callable[[str], object], names: Iterable[str]) -> None:
        self._read, self._names = read, frozenset(names)

    def __getitem__(self, name: str) -> object:
        if name not in self._names:
            raise KeyError(name)
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, slots=True)
class Tables:
    """Plain data of kb/tables, one field a file, and the codes of all. What is absent answers nothing."""

    gpus: Table
    cuda_drivers: Table
    torch_wheels: Table
    torch_companions: Table
    codes: CodeBook

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Tables:
        """The tables out of file stem -> data; other stems are ignored. ValueError if one is no mapping."""
        stems = [stem for stem in cls.__slots__ if stem != "codes"]
        tables = {stem: _mapping(stem, data.get(stem, {})) for stem in stems}
        return cls(**tables, codes=CodeBook(data))

    def functions(self) -> dict[str, Callable[..., object]]:
        """The look-ups by the names that expressions know (gpuhelp.kb.evaluation.TABLE_FUNCTIONS)."""
        return {
            "torch_index": self.torch_index,
            "wheel_archs": self.wheel_archs,
            "minimum_driver": self.minimum_driver,
            "compute_capability_of": self.compute_capability_of,
            "arch_runs_on": self.arch_runs_on,
            "cuda_api_of_driver": self.cuda_api_of_driver,
            "driver_runs": self.driver_runs,
            "fits_torch": self.fits_torch,
            "companion_release": self.companion_release,
            "wheel_cxx11_abi": self.wheel_cxx11_abi,
            "code_meaning": self.code_meaning,
            "code_name": self.code_name,
        }

    def torch_index(
        self,
        sm: str,
        cuda_driver_api_version: str,
        *,
        python_version: str | None = None,
        platform: str | None = None,
    ) -> str | None:
        """URL of the PyTorch index that fits this GPU and driver; see gpuhelp.kb.wheels.torch_index."""
        return wheels.torch_index(
            self.torch_wheels,
            self._capabilities,
            self.cuda_drivers,
            sm,
            cuda_driver_api_version,
            python_version=python_version,
            platform=platform,
        )

    def wheel_archs(self, torch_version: str, *, platform: str | None = None) -> tuple[str, ...] | None:
        """The architectures a released PyTorch wheel holds; see gpuhelp.kb.wheels.wheel_archs."""
        return wheels.wheel_archs(self.torch_wheels, torch_version, platform=platform)

    def arch_runs_on(self, sm: str, arch_list: Iterable[str]) -> bool | None:
        """Whether code built for arch_list runs on sm; see gpuhelp.kb.architectures.arch_runs_on."""
        return architectures.arch_runs_on(self._capabilities, sm, arch_list)

    def driver_runs(self, cuda_driver_api_version: str, cuda_runtime_version: str) -> bool | None:
        """Whether this driver runs programs of this CUDA runtime; see gpuhelp.kb.drivers.driver_runs."""
        return drivers.driver_runs(self.cuda_drivers, cuda_driver_api_version, cuda_runtime_version)

    def minimum_driver(self, cuda_runtime_version: str, os_platform: str) -> str | None:
        """The oldest driver version for this CUDA runtime on "linux" or "windows"."""
        return drivers.minimum_driver(self.cuda_drivers, cuda_runtime_version, os_platform)

    def full_features_driver(self, cuda_runtime_version: str, os_platform: str) -> str | None:
        """The driver version listed with this CUDA runtime."""
        return drivers.full_features_driver(self.cuda_drivers, cuda_runtime_version, os_platform)

    def cuda_api_of_driver(self, driver_version: str) -> str | None:
        """The CUDA driver API version that this driver version reports."""
        return drivers.cuda_api_of_driver(self.cuda_drivers, driver_version)

    def companion_release(self, package: str, torch_version: str) -> str | None:
        """The release of torchvision or torchaudio for this torch."""
        return companions.companion_release(self.torch_companions, package, torch_version)

    def fits_torch(self, package: str, package_version: str, torch_version: str) -> bool | None:
        """Whether torchvision or torchaudio was built for this torch; see gpuhelp.kb.companions."""
        return companions.fits_torch(self.torch_companions, package, package_version, torch_version)

    def wheel_cxx11_abi(self, torch_version: str) -> bool | None:
        """Whether that wheel has the C++11 ABI; see gpuhelp.kb.companions.wheel_cxx11_abi."""
        return companions.wheel_cxx11_abi(self.torch_companions, torch_version)

    def gpu_model(self, gpu_name: str) -> gpu_names.GpuModel | None:
        """The NVIDIA model of this name."""
        return gpu_names.gpu_model(self.gpus, gpu_name)

    def compute_capability_of(self, gpu_name: str) -> str | None:
        """The compute capability of the GPU of this name."""
        return gpu_names.compute_capability_of(self.gpus, gpu_name)

    def gfx_of(self, gpu_name: str) -> str | None:
        """The gfx name of the AMD GPU of this name."""
        return gpu_names.gfx_of(self.gpus, gpu_name)

    def code(self, space: str, number_or_name: object) -> Code | None:
        """The code of one space ("cuda", "xid", …): its number, of older releases too, or its name."""
        return self.codes.find(space, number_or_name)

    def code_meaning(self, space: str, number_or_name: object, *, language: str = "en") -> str | None:
        """What a code means, in one sentence."""
        code = self.code(space, number_or_name)
        return code.meaning.get(language) if code else None

    def code_name(self, space: str, number_or_name: object) -> str | None:
        """The usual name of a code."""
        code = self.code(space, number_or_name)
        return code.names[0] if code and code.names else None

    @property
    def _capabilities(self) -> Table:
        found: Table = self.gpus.get("capabilities", {})
        return found


def _mapping(stem: str, value: object) -> Table:
    if not isinstance(value, Mapping):
        raise ValueError(f"table {stem} is no mapping")
    return value
