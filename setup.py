"""What pyproject.toml cannot say: a wheel holds what `coverage` and `findings` read, too."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

READ = (
    *("tests/__init__.py", "tests/checklist.py", "tests/collecting.py", "tests/recipe.py"),
    *("tests/twins", "tests/pipelines", "tests/initials", "tests/recipes", "tests/distributed"),
    *("ms_models", "pt_reference", "findings", "fixtures/measured-cpu.json"),
)
"""Files and folders of the repository; in the wheel they lie in equivalence/verified."""


class WithVerified(build_py):
    """Copies them beside the engine, but where the repository itself is what is installed."""

    def run(self):
        super().run()
        for each in () if self.editable_mode else READ:
            source, target = Path(each), Path(self.build_lib, "equivalence", "verified", each)
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                leave = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, target, dirs_exist_ok=True, ignore=leave)
            else:
                shutil.copyfile(source, target)


setup(cmdclass={"build_py": WithVerified})
