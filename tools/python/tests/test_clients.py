"""Compiling and running."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

import hlo_toolkit as hlo

ADD = hlo.Module("HloModule add\nENTRY e {\n a = f32[2] parameter(0)\n b = f32[2] parameter(1)\n ROOT r = f32[2] add(a, b)\n}")
PAIR = hlo.Module("HloModule pair\nENTRY e {\n a = s32[] parameter(0)\n t = (s32[], s32[]) tuple(a, a)\n"
                  " ROOT r = (s32[], (s32[], s32[])) tuple(a, t)\n}")
ENDLESS = hlo.Module(
    "HloModule endless\nc {\n s = s32[] parameter(0)\n z = s32[] constant(1)\n ROOT l = pred[] compare(s, z), direction=LE\n}\n"
    "b {\n ROOT s = s32[] parameter(0)\n}\n"
    "ENTRY e {\n i = s32[] parameter(0)\n ROOT w = s32[] while(i), condition=c, body=b\n}")

SUM = ("HloModule sum, replica_count=2\nadd {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
       " ROOT s = f32[] add(a, b)\n}\nENTRY e {\n x = f32[2] parameter(0)\n"
       " ROOT r = f32[2] all-reduce(x), replica_groups={}, to_apply=add\n}")
ONE_OF_TWO = f"""
import sys
import hlo_toolkit as hlo
mine = int(sys.argv[2])
client = hlo.Client(devices=2, launcher="auto", coordinator=sys.argv[1], process_index=mine, process_count=2)
assert (client.process_index, client.process_count, client.addressable_devices) == (mine, 2, [mine])
program = client.compile(hlo.Module({SUM!r}), replicas=2)
results = program.run_on_devices([[[1, 2]] if mine == 0 else [], [[10, 20]] if mine == 1 else []])
print([result if result is None else result.tolist() for result in results])
"""


class Running(unittest.TestCase):
    def test_platforms(self):
        for platform in ("cpu", "interpreter", "gpu-emu"):
            client = hlo.Client(platform, cache=False)
            self.assertEqual(client.compile(ADD)([1, 2], [3, 4]).tolist(), [4, 6])
            self.assertEqual(client.platform, platform)
        with self.assertRaisesRegex(hlo.InvalidArgument, "tpu"):
            hlo.Client("tpu")
        with self.assertRaises(hlo.InvalidArgument):
            hlo.Client(devices=-1)

    def test_arguments(self):
        add = hlo.compile(ADD)
        self.assertEqual(repr(add), "Executable('add', (a: f32[2], b: f32[2]) -> f32[2])")
        for wrong in ((), ([1, 2],), ([1, 2], [3, 4], [5, 6]), ([1, 2], [3]), ([1, 2], "text"), ([1, 2], None)):
            with self.assertRaises(hlo.InvalidArgument):
                add(*wrong)

    def test_tuples(self):
        result = hlo.run(PAIR, 7)
        self.assertEqual(result[0].item(), 7)
        self.assertEqual([element.item() for element in result[1]], [7, 7])
        swap = hlo.Module("HloModule swap\nENTRY e {\n p = (s32[], f32[]) parameter(0)\n"
                          " a = s32[] get-tuple-element(p), index=0\n b = f32[] get-tuple-element(p), index=1\n"
                          " ROOT r = (f32[], s32[]) tuple(b, a)\n}")
        self.assertEqual([element.item() for element in hlo.run(swap, (1, 2.5))], [2.5, 1])
        with self.assertRaises(hlo.InvalidArgument):
            hlo.run(swap, (1, 2, 3))

    def test_buffers(self):
        client = hlo.Client()
        add = client.compile(ADD)
        x = client.to_device([1, 2], "f32[2]")
        self.assertEqual((str(x.hlo_shape), repr(x)), ("f32[2]", "Buffer(f32[2], device=0)"))
        self.assertEqual(add(x, x).tolist(), [2, 4])
        run = add.execute_async([x, x])
        run.wait()
        self.assertTrue(run.is_ready())
        self.assertEqual(run.results()[0].to_host().tolist(), [2, 4])
        y = add.execute([x, x])[0]
        self.assertEqual(y.to_host().tolist(), [2, 4])
        z = client.to_device([1, 1], "f32[2]")
        self.assertEqual(add.execute([z, y], donated=[0])[0].to_host().tolist(), [3, 5])
        with self.assertRaises(hlo.FailedPrecondition):
            z.to_host()
        y.delete()
        with self.assertRaises(hlo.FailedPrecondition):
            add.execute([x, y])
        with self.assertRaises(hlo.InvalidArgument):
            add.execute([x])

    def test_devices(self):
        client = hlo.Client(devices=2)
        program = client.compile(hlo.Module(SUM), replicas=2)
        self.assertEqual(program.device_count, 2)
        results = program.run_on_devices([[[1, 2]], [[10, 20]]])
        self.assertEqual([result.tolist() for result in results], [[11, 22], [11, 22]])
        with self.assertRaises(hlo.InvalidArgument):
            hlo.Client().compile(hlo.Module(SUM), replicas=2)

    def test_processes(self):
        """Two processes that meet at an address have a device each."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        processes = [subprocess.Popen([sys.executable, "-c", ONE_OF_TWO, address, str(i)], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) for i in range(2)]
        told = [process.communicate(timeout=60) for process in processes]
        self.assertEqual([out for out, _ in told], ["[[11.0, 22.0], None]\n", "[None, [11.0, 22.0]]\n"], told)
        self.assertEqual(hlo.Client(launcher="auto").addressable_devices, [0])
        with self.assertRaises(hlo.InvalidArgument):
            hlo.Client(launcher="pigeons")

    def test_reports(self):
        add = hlo.compile(ADD)
        profile = add.profile([1, 2], [3, 4], runs=3)
        self.assertEqual(profile.runs, 3)
        self.assertIn("%a, %b", str(profile))
        self.assertIn("<table>", profile._repr_html_())
        self.assertEqual(add.memory.arguments, 16)
        self.assertIn("ENTRY", add.optimized_text)

    def test_bytes(self):
        client = hlo.Client()
        self.assertEqual(client.load(client.compile(ADD).serialize())([1, 2], [3, 4]).tolist(), [4, 6])
        for wrong in (b"", b"no program", client.compile(ADD).serialize()[:-1]):
            with self.assertRaises(hlo.HloError):
                client.load(wrong)

    def test_infeed(self):
        client = hlo.Client()
        program = client.compile(hlo.Module(
            "HloModule feed\nENTRY e {\n t = token[] after-all()\n i = (f32[2], token[]) infeed(t)\n"
            " v = f32[2] get-tuple-element(i), index=0\n d = f32[2] add(v, v)\n"
            " ROOT o = token[] outfeed(d, t), outfeed_shape=f32[2]\n}"))
        client.to_infeed([1, 2], "f32[2]")
        program.execute([])
        self.assertEqual(client.from_outfeed("f32[2]").tolist(), [2, 4])

    def test_limits(self):
        with self.assertRaises(hlo.DeadlineExceeded):
            hlo.Client(time_limit=0.2).compile(ENDLESS)(0)
        with self.assertRaises(hlo.ResourceExhausted):
            hlo.Client(memory_limit=4).compile(ADD)([1, 2], [3, 4])

    def test_cancel(self):
        client = hlo.Client()
        run = client.compile(ENDLESS).execute_async([client.to_device(0, "s32[]")])
        client.cancel()
        with self.assertRaises(hlo.Cancelled):
            run.wait()
        client.clear_cancellation()
        self.assertEqual(client.compile(ADD)([1, 2], [3, 4]).tolist(), [4, 6])

    def test_interrupt(self):
        program = hlo.compile(ENDLESS)
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            program(0)
        # As before, and outside of runs Ctrl-C is Python's own.
        self.assertEqual(hlo.run(ADD, [1, 2], [3, 4]).tolist(), [4, 6])
        with self.assertRaises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)

    def test_threads(self):
        """Other threads of Python go on while a program runs."""
        client = hlo.Client()
        program = client.compile(ENDLESS)
        failed = []

        def run():
            try:
                program(0)
            except hlo.Cancelled:
                failed.append(True)

        thread = threading.Thread(target=run)
        thread.start()
        self.assertEqual(hlo.run(ADD, [1, 2], [3, 4]).tolist(), [4, 6])
        client.cancel()
        thread.join()
        self.assertEqual(failed, [True])

    def test_many_threads(self):
        add = hlo.compile(ADD)
        wrong = []

        def run(i):
            for k in range(200):
                if add([i, k], [k, i]).tolist() != [i + k, i + k]:
                    wrong.append((i, k))

        threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
