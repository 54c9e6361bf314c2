"""Makes a wheel of a folder: wheel.py FOLDER OUTPUT.

The folder holds the package as it will be installed; what is missing is added: type stubs, the libraries that the
package's own needs and Python does not bring, the wheel's own files.
"""
import glob
import importlib
import os
import re
import shutil
import subprocess
import sys

NAME, VERSION = "hlo_toolkit", "0.1.0"
# What every Linux of the platform tag has.
SYSTEM = ("libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "libpthread.so", "libdl.so", "librt.so", "ld-linux")
# Debian 12's glibc.
PLATFORM = "manylinux_2_36_x86_64"

METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: HLO modules: read, built, optimised, compiled, run, compared and drawn
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == 'numpy'
Requires-Dist: ml_dtypes; extra == 'numpy'
Description-Content-Type: text/markdown

"""
ENTRY_POINTS = "[console_scripts]\n" + "".join(
    f"hlo-{tool} = hlo_toolkit._tools:hlo_{tool}\n" for tool in ("opt", "run", "diff", "viz"))


def needed(library):
    """The shared libraries that a file names, and where they are."""
    for line in subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) >= 3 and words[1] == "=>" and words[2].startswith("/"):
            yield words[0], words[2]


def bundle(package):
    """Names files as programs look for them, and takes along what is not everywhere."""
    for link in [path for path in glob.glob(f"{package}/*.so.*") if os.path.islink(path)]:
        target = os.path.realpath(link)
        os.remove(link)
        os.rename(target, link)
    for library in glob.glob(f"{package}/libhlo.so.*"):
        for name, path in needed(library):
            if not name.startswith(SYSTEM) and not os.path.exists(f"{package}/{name}"):
                shutil.copy(path, f"{package}/{name}")


def complete_stubs(folder):
    """Types as checkers want them, where the generator does not know better."""
    sys.path.insert(0, folder)
    native = importlib.import_module(f"{NAME}._native")
    for path in glob.glob(f"{folder}/{NAME}/_native/*.pyi"):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        # Errors say that they are of the package, which has them from here.
        errors = re.search(rf"from {NAME} import \(\n(.*?)\n\)\n", text, re.S)
        if errors and "HloError" in errors[1]:
            names = sorted(re.findall(r"(\w+) as", errors[1]), key=lambda name: len(getattr(native, name).__mro__))
            classes = "".join(f"class {name}({', '.join(base.__name__ for base in getattr(native, name).__bases__)}): ...\n"
                              for name in names)
            text = text.replace(errors[0], "")
            text = text.replace("\nclass ", f"\n{classes}\nclass ", 1)
        # `tuple` is a method of Shape, too.
        if re.search(r"(->|\|) tuple\b", text):
            text = re.sub(r"(->|\|) tuple\b", r"\1 builtins.tuple[Any, ...]", text).replace("\nfrom ", "\nimport builtins\nfrom ", 1)
        text = text.replace("-> str | Any:", "-> str:")
        # Where a shape is taken its text is, too.
        lines = text.split("\n")
        for i, line in enumerate(lines):
            if line.lstrip().startswith("def ") and " -> " in line:
                head, result = line.rsplit(" -> ", 1)
                lines[i] = re.sub(r"\bShape\b(?! \| str)", "Shape | str", head) + " -> " + result
        write(path, "\n".join(lines))


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    folder, output = sys.argv[1:]
    package = f"{folder}/{NAME}"
    bundle(package)
    native = os.path.basename(glob.glob(f"{package}/_native.*")[0])
    environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-r", "-m", f"{NAME}._native", "-O", package],
                   check=True, env=environment)
    sys.dont_write_bytecode = True
    complete_stubs(folder)
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tag = f"cp312-abi3-{PLATFORM}" if ".abi3." in native else f"{python}-{python}-{PLATFORM}"
    info = f"{folder}/{NAME}-{VERSION}.dist-info"
    os.makedirs(info, exist_ok=True)
    readme = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools/python/README.md")
    with open(readme, encoding="utf-8") as file:
        write(f"{info}/METADATA", METADATA + file.read())
    write(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\nTag: {tag}\n")
    write(f"{info}/entry_points.txt", ENTRY_POINTS)
    subprocess.run([sys.executable, "-m", "wheel", "pack", folder, "-d", output], check=True, stdout=subprocess.DEVNULL)
    print(f"{output}/{NAME}-{VERSION}-{tag}.whl")


main()
