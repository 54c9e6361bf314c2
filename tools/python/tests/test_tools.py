"""The tools that come along."""
import os
import subprocess
import sysconfig
import tempfile
import unittest

MODULE = "HloModule m\nENTRY e {\n x = f32[2] parameter(0)\n ROOT r = f32[2] add(x, x)\n}\n"


def run(tool, *arguments, text=MODULE):
    program = os.path.join(sysconfig.get_path("scripts"), tool)
    return subprocess.run([program, *arguments], input=text, capture_output=True, text=True)


@unittest.skipUnless(os.path.exists(os.path.join(sysconfig.get_path("scripts"), "hlo-run")), "not installed")
class Tools(unittest.TestCase):
    def test_run(self):
        done = run("hlo-run", "--input={1,2}", "-")
        self.assertEqual((done.returncode, done.stdout), (0, "output f32[2] = {2, 4}\n"))

    def test_opt(self):
        done = run("hlo-opt", "-")
        self.assertEqual(done.returncode, 0)
        self.assertIn("ENTRY %e", done.stdout)
        self.assertIn("<stdin>:4", run("hlo-opt", "-", text=MODULE.replace("r = f32[2]", "r = f32[3]")).stderr)
        self.assertEqual(run("hlo-opt", "--no-such-option").returncode, 2)

    def test_diff_and_viz(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "m.hlo")
            with open(path, "w") as file:
                file.write(MODULE)
            self.assertEqual(run("hlo-diff", path, path).returncode, 0)
            self.assertIn("digraph", run("hlo-viz", path).stdout)

    def test_names(self):
        for tool in ("hlo-opt", "hlo-run", "hlo-diff", "hlo-viz"):
            done = run(tool, "--version")
            self.assertEqual(done.returncode, 0)
            self.assertIn(tool, done.stdout)


if __name__ == "__main__":
    unittest.main()
