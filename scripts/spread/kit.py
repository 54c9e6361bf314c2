"""How programs are run on devices of several processes, and what is said of what they print."""
import os, re, signal, socket, subprocess, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1',
                   OMPI_MCA_rmaps_base_oversubscribe='1', OMPI_MCA_btl_base_warn_component_unused='0')
SECONDS = 60
CASES = []
ADD = 'add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }\n'


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def case(function):
    CASES.append(function)
    return function


class Tools:
    def __init__(self, folder):
        self.run, self.folder = os.path.join(folder, 'hlo-run'), folder

    def start(self, command, **more):
        more = dict(dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE), **more)
        return subprocess.Popen(command, text=True, start_new_session=True, **more)

    def finish(self, process, seconds=SECONDS, given=None):
        try:
            out, err = process.communicate(given, timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            raise Failed(f'{" ".join(process.args)} has not ended after {seconds} s\n{out}{err}')
        return process.returncode, out, err

    def threads(self, *arguments):
        return self.finish(self.start([self.run, '--launcher=threads', *arguments], env=ENVIRONMENT))

    def mpi(self, count, *arguments, options=(), environment=None, **more):
        command = ['mpirun', '-np', str(count), *options, self.run, *arguments]
        return self.finish(self.start(command, env=dict(ENVIRONMENT, **(environment or {}))), **more)

    def plain(self, count, *arguments, address=None, environments=None, options=None):
        """Processes that plain shells start: --coordinator."""
        address = address or free_address()
        started = []
        for rank in range(count):
            mine = options(rank) if options else [f'--rank={rank}', f'--world-size={count}']
            environment = dict(ENVIRONMENT, **(environments(rank) if environments else {}))
            started.append(self.start([self.run, *mine, f'--coordinator={address}', *arguments], env=environment))
        return started

    def finish_all(self, started):
        return [self.finish(process) for process in started]


def free_address():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return f'127.0.0.1:{s.getsockname()[1]}'


def write(name, text):
    with open(name, 'w', encoding='utf-8') as f:
        f.write(text)
    return name


def errors(text):
    """What hlo-run says, without what mpirun does."""
    lines = text.splitlines()
    kept, own = [], True
    for line in lines:
        if re.match(r'^-{30,}$', line):
            own = not own
        elif own and not re.match(r'^\[[\w.-]+:\d+\]|^mpirun', line):
            kept.append(line)
    return '\n'.join(kept).strip()


def expect(condition, text):
    if not condition:
        raise Failed(text)


def steady(text):
    return re.sub(r'\d+\.\d+ ms', 'N ms', text)


def same(tools, counts, *arguments):
    """Output and exit code with threads and with so many processes are the same."""
    code, out, err = tools.threads(*arguments)
    for count in counts:
        got = tools.mpi(count, *arguments)
        expect((got[0], steady(got[1])) == (code, steady(out)),
               f'{count} processes, {" ".join(arguments)}: exit code {got[0]}, expected {code}\n'
               f'--- threads\n{out}{err}--- mpi\n{got[1]}{got[2]}')
        expect(errors(got[2]) == err.strip(), f'{count} processes say\n{errors(got[2])}\nexpected\n{err}')
    return code, out, err


DEADLOCK = '''HloModule m, replica_count=2
add { a = u32[] parameter(0)  b = u32[] parameter(1)  ROOT s = u32[] add(a, b) }
meets {
  x = u32[] parameter(0)
  ROOT r = u32[] all-reduce(x), replica_groups={{0,1}}, to_apply=add
}
other { x = u32[] parameter(0) ROOT r = u32[] OTHER }
body { x = u32[] parameter(0)  ROOT r = u32[] copy(x) }
cond { x = u32[] parameter(0)  ROOT r = pred[] constant(true) }
ENTRY e {
  k = u32[] replica-id()
  i = s32[] convert(k)
  ROOT r = u32[] conditional(i, k, k), branch_computations={meets, other}
}'''


def spinning():
    return write('spin.hlo', DEADLOCK.replace('OTHER', 'while(x), condition=cond, body=body'))


def children(pid, name):
    """Processes of a program below a process, in their order."""
    found = []
    for entry in os.listdir('/proc'):
        try:
            with open(f'/proc/{entry}/stat', encoding='utf-8') as f:
                fields = f.read().rsplit(')', 1)[1].split()
            with open(f'/proc/{entry}/environ', encoding='utf-8') as f:
                rank = re.search(r'OMPI_COMM_WORLD_RANK=(\d+)', f.read())
            with open(f'/proc/{entry}/comm', encoding='utf-8') as f:
                comm = f.read().strip()
        except (OSError, IndexError):
            continue
        if comm == name and rank and os.getsid(int(entry)) == pid or comm == name and rank and int(fields[1]) == pid:
            found.append((int(rank.group(1)), int(entry)))
    return [p for _, p in sorted(found)]


def wait_for(condition, what, seconds=20):
    end = time.time() + seconds
    while time.time() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.05)
    raise Failed(f'{what}: not within {seconds} s')


def quietly(function):
    try:
        return function()
    except OSError:
        return None
