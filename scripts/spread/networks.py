"""Hosts that a network joins: namespaces with an interface each."""
import os, shutil, signal, subprocess, time

from spread.kit import ADD, ENVIRONMENT, Failed, Skipped, case, children, expect, spinning, wait_for, write


class Network:
    """Hosts: namespaces with a network, a name and numbers of processes of their own, joined by a bridge."""
    NET = f'10.213.{os.getpid() % 250}'
    made_so_far = 0

    def __init__(self, count):
        # What is deleted may stay for a while.
        self.name = f'{os.getpid()}{chr(97 + Network.made_so_far)}'
        Network.made_so_far += 1
        self.hosts = [f'hlo{self.name}n{i}' for i in range(count)]
        self.bridge = f'hlob{self.name}'
        self.made = []

    def ip(self, *words):
        got = subprocess.run(['ip', *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if got.returncode:
            raise Skipped(f'ip {" ".join(words)}: {got.stderr.strip()}')

    def cable(self, i):
        return f'hlov{self.name}{i}'

    def __enter__(self):
        if not shutil.which('ip'):
            raise Skipped('there is no ip')
        try:
            self.ip('link', 'add', self.bridge, 'type', 'bridge')
            self.made.append(('link', 'del', self.bridge))
            self.ip('addr', 'add', f'{self.NET}.254/24', 'dev', self.bridge)
            self.ip('link', 'set', self.bridge, 'up')
            for i, host in enumerate(self.hosts):
                self.ip('netns', 'add', host)
                self.made.append(('netns', 'del', host))
                self.ip('link', 'add', self.cable(i), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', host)
                self.ip('link', 'set', self.cable(i), 'master', self.bridge, 'up')
                self.ip('-n', host, 'addr', 'add', f'{self.NET}.{i + 1}/24', 'dev', 'eth0')
                self.ip('-n', host, 'link', 'set', 'eth0', 'up')
                self.ip('-n', host, 'link', 'set', 'lo', 'up')
            if subprocess.run(['unshare', '--uts', '--pid', '--fork', '--mount-proc', 'true'],
                              stderr=subprocess.DEVNULL).returncode:
                raise Skipped('unshare is not permitted')
        except Skipped:
            self.__exit__()
            raise
        # What mpirun calls instead of ssh.
        self.agent = write('agent', '#!/bin/bash\nname=$1; shift\nexec ip netns exec "$name" unshare --uts --pid --fork '
                           '--mount-proc bash -c \'hostname "$1"; shift; exec bash -c "$*"\' - "$name" "$@"\n')
        os.chmod(self.agent, 0o755)
        return self

    def __exit__(self, *_):
        for words in reversed(self.made):
            subprocess.run(['ip', *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self):
        for host in self.hosts:
            got = subprocess.run(['ip', 'netns', 'pids', host], stdout=subprocess.PIPE, text=True)
            for pid in got.stdout.split():
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except OSError:
                    pass

    def start(self, tools, *arguments, **more):
        """A process on each host."""
        net = f'{self.NET}.0/24'
        command = ['mpirun', '--leave-session-attached', '-np', str(len(self.hosts)), '--host', ','.join(self.hosts),
                   '--map-by', 'node']
        for name, value in (('plm_rsh_agent', os.path.abspath(self.agent)), ('plm_rsh_no_tree_spawn', '1'),
                            ('oob_tcp_if_include', net), ('btl_tcp_if_include', net), ('btl', 'tcp,self'),
                            ('pml', 'ob1')):
            command += ['--mca', name, value]
        return tools.start([*command, tools.run, *arguments], env=ENVIRONMENT, **more)


@case
def network_results(tools):
    m = write('net.hlo', ADD + '''ENTRY e {
  p = f32[300000] parameter(0)
  ROOT r = f32[300000] all-reduce(p), replica_groups={{0,1,2}}, to_apply=add
}''')
    arguments = [os.path.abspath(m), '--output-devices=all', '--input-scope=per-device', '--print=summary']
    code, out, _ = tools.threads(*arguments)
    with Network(3) as network:
        got = tools.finish(network.start(tools, *arguments))
        expect(got[:2] == (code, out), f'{got}')


@case
def network_cut(tools):
    """A process that cannot be reached any more, and may live or not."""
    m = os.path.abspath(spinning())
    with Network(2) as network:
        with open('said', 'w', encoding='utf-8') as said:
            process = network.start(tools, '--platform=interpreter', m, stdout=said, stderr=said)

        def text():
            with open('said', encoding='utf-8') as said:
                return said.read()
        try:
            wait_for(lambda: len(children(process.pid, 'hlo-run')) == 2, 'two processes')
            time.sleep(2)
            network.ip('link', 'set', network.cable(1), 'down')
            wait_for(lambda: 'device 0 waits in %r' in text(), 'where devices were')
        except Failed as e:
            raise Failed(f'{e}\n{text()}')
        finally:
            # mpirun waits for its own end on the other host.
            network.kill()
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        expect(f'process 1 of 2 (host {network.hosts[1]}, pid ' in text() and 'has not been heard of' in text(), text())


@case
def coordinator_network(tools):
    """Hosts without MPI: the same results, and one that cannot be reached any more."""
    m = write('net.hlo', ADD + '''ENTRY e {
  p = f32[300000] parameter(0)
  c = f32[300000] collective-permute(p), source_target_pairs={{0,1},{1,0}}
  ROOT r = f32[300000] all-reduce(c), replica_groups={{0,1}}, to_apply=add
}''')
    arguments = [os.path.abspath(m), '--output-devices=all', '--input-scope=per-device', '--print=summary']
    code, out, _ = tools.threads(*arguments)
    with Network(2) as network:
        def start(*words):
            coordinator = f'--coordinator={network.NET}.1:7000'
            return [tools.start([os.path.abspath(network.agent), host, tools.run, f'--rank={r}', '--world-size=2', coordinator,
                                 *words], env=ENVIRONMENT) for r, host in enumerate(network.hosts)]
        got = tools.finish_all(start(*arguments))
        expect(got == [(code, out, ''), (0, '', '')], f'{got}')
        started = start('--platform=interpreter', os.path.abspath(spinning()))
        try:
            time.sleep(2)
            expect(all(p.poll() is None for p in started), 'they run')
            network.ip('link', 'set', network.cable(1), 'down')
            begun = time.time()
            code, out, err = tools.finish(started[0], seconds=20)
        finally:
            network.kill()
            for process in started:
                process.wait()
        expect(code == 6 and f'process 1 of 2 (host {network.hosts[1]}, pid ' in err and 'has not been heard of' in err and
               time.time() - begun < 12, f'{code} after {time.time() - begun:.1f} s\n{out}{err}')
