"""A path tells whether code is a library's or the person's own."""

from __future__ import annotations

import pytest

from gpuhelp.reading.frames import is_library


@pytest.mark.parametrize(
    "file",
    [
        "/usr/lib/python3.10/threading.py",
        "/usr/lib64/python3.6/runpy.py",
        "/usr/lib/python3/dist-packages/torch/cuda/__init__.py",
        "/usr/local/lib/python3.12/dist-packages/torch/nn/modules/module.py",
        "/home/user/.local/lib/python3.8/site-packages/transformers/trainer.py",
        "/home/user/miniconda3/envs/ml/lib/python3.9/runpy.py",
        "/opt/conda/lib/python3.11/multiprocessing/process.py",
        "/home/user/project/.venv/lib/python3.12/site-packages/vllm/engine.py",
        "/home/user/.local/share/uv/python/cpython-3.11.5-linux-x86_64-gnu/lib/python3.11/runpy.py",
        "/home/user/.pyenv/versions/3.10.4/lib/python3.10/asyncio/base_events.py",
        "/nix/store/abc-python3-3.11.6/lib/python3.11/runpy.py",
        "~/miniconda3/lib/python3.8/site-packages/torch/serialization.py",
        "lib/python3.10/site-packages/x.py",
        # macOS
        "/Library/Frameworks/Python.framework/Versions/3.11/lib/python3.11/runpy.py",
        "/opt/homebrew/Cellar/python@3.11/3.11.4/Frameworks/Python.framework/Versions/3.11/lib/python3.11/queue.py",
        # Windows
        r"C:\Users\me\AppData\Local\Programs\Python\Python310\lib\site-packages\torch\cuda\__init__.py",
        r"C:\Users\me\AppData\Local\Programs\Python\Python310\Lib\threading.py",
        r"C:\Program Files\Python312\Lib\runpy.py",
        r"C:\ProgramData\Anaconda3\lib\runpy.py",
        r"C:\Users\me\miniconda3\envs\ml\lib\multiprocessing\spawn.py",
        r"C:\work\.venv\Lib\site-packages\torch\__init__.py",
        r"C:\Program Files\WindowsApps\PythonSoftwareFoundation.Python.3.10_3.10.3056.0_x64\lib\runpy.py",
        r"C:\Users\me\AppData\Roaming\uv\python\cpython-3.11.5-windows-x86_64-none\Lib\runpy.py",
        r"C:\Users\me\.pyenv\pyenv-win\versions\3.10.5\lib\runpy.py",
        # a framework run from its own source tree
        "/home/me/src/pytorch/torch/cuda/__init__.py",
        "/opt/pytorch/torch/nn/modules/linear.py",
        "/opt/pytorch/torch/_tensor.py",
        # launchers
        "/usr/bin/torchrun",
        "/usr/local/bin/accelerate",
        "/home/user/miniconda3/envs/ml/bin/deepspeed",
        r"C:\Users\me\miniconda3\Scripts\torchrun.exe\__main__.py",
        # generated and downloaded code
        "<frozen importlib._bootstrap>",
        "<string>",
        "<__array_function__ internals>",
        "/home/user/.cache/huggingface/modules/transformers_modules/org/model/abc/modeling_x.py",
        "/tmp/torchinductor_user/ab/cabcdef.py",
    ],
)
def test_installed_and_generated_code_is_a_library(file: str) -> None:
    assert is_library(file)


@pytest.mark.parametrize(
    "file",
    [
        "/work/quant/torch/quantization/observer.py",
        "/home/user/train.py",
        "train.py",
        "./scripts/train.py",
        "/home/user/scripts/train.py",
        "/workspace/src/lib/model.py",
        "/home/user/lib/pythonic/x.py",
        "/home/user/src/transformers/src/transformers/trainer.py",  # an editable install is a checkout
        "/home/user/bin/train.py",
        "/data/my-env.py",
        r"C:\Users\me\project\train.py",
        r"C:\Users\me\scripts\lib\model.py",
        r"D:\python projects\train.py",
        "<stdin>",
        "<ipython-input-3-abc>",
        "Cell In[3]",
        "Input In [3]",
        "/tmp/ipykernel_1234/567.py",
    ],
)
def test_other_code_is_the_persons_own(file: str) -> None:
    assert not is_library(file)
