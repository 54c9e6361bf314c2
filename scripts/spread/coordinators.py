"""Processes that meet at an address, without MPI."""
import os, signal, socket, time

from spread.kit import ADD, DEADLOCK, ENVIRONMENT, case, errors, expect, free_address, quietly, spinning, wait_for, write


@case
def coordinator_results(tools):
    """The same as in one process; the first one prints. Ranks from options, their aliases or Slurm's variables."""
    m = write('c.hlo', ADD + '''ENTRY e {
  p = f32[100003] parameter(0)
  c = f32[100003] collective-permute(p), source_target_pairs={{0,3},{3,1},{1,0}}
  ROOT r = f32[100003] all-reduce(c), replica_groups={{0,2},{1,3}}, to_apply=add
}''')
    arguments = [m, '--output-devices=all', '--input-scope=per-device', '--print=summary']
    code, out, err = tools.threads(*arguments)
    expect(code == 0, f'{code} {err}')
    slurm = dict(SLURM_STEP_ID='0', SLURM_STEP_NUM_TASKS='4')
    ways = ((2, {}), (4, dict(options=lambda r: [f'--task_id={r}', '--num_nodes=4'])),
            (4, dict(options=lambda r: [], environments=lambda r: dict(slurm, SLURM_PROCID=str(r)))))
    for count, how in ways:
        got = tools.finish_all(tools.plain(count, *arguments, **how))
        expect(got == [(code, out, '')] + [(0, '', '')] * (count - 1), f'{count} processes {how}: {got}\nexpected\n{out}')


@case
def coordinator_errors(tools):
    m = write('e.hlo', 'HloModule u, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }')
    d = write('d.hlo', DEADLOCK.replace('OTHER', 'copy(x)'))
    _, _, err = tools.threads(d)
    got = tools.finish_all(tools.plain(2, d))
    expect([g[0] for g in got] == [6, 6] and got[0][2] == err, f'deadlock: {got}\nexpected\n{err}')
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        in_use = f'127.0.0.1:{taken.getsockname()[1]}'
        for options, code, text in (
                (['--rank=0', '--world-size=2', f'--coordinator={free_address()}', '--collective-timeout=300ms'], 6,
                 'of 2 processes, these have not come to 127.0.0.1:'),
                (['--rank=1', '--world-size=2', f'--coordinator={free_address()}', '--collective-timeout=300ms'], 6,
                 'process 0 of 2 has not come to 127.0.0.1:'),
                (['--rank=0', '--world-size=2', f'--coordinator={in_use}'], 7, f'cannot listen at {in_use}: Address already in use'),
                (['--rank=0', '--world-size=2', '--coordinator=nowhere'], 2, "coordinator 'nowhere': expected HOST:PORT"),
                (['--rank=2', '--world-size=2', '--coordinator=localhost:1'], 2, 'rank 2 of 2 processes: expected one of 0 to 1'),
                (['--world-size=2', '--coordinator=localhost:1'], 2, 'of the rank and the world size one is missing'),
                (['--rank=0', '--world-size=2'], 2, '2 processes have to find each other'),
                (['--rank=0', '--launcher=threads'], 2, 'are of several processes'),
                (['--coordinator=localhost:1', '--launcher=mpi'], 2, "launcher 'mpi' has no coordinator")):
            result = tools.finish(tools.start([tools.run, *options, m], env=ENVIRONMENT))
            expect(result[0] == code and text in result[2] and result[2].count('error:') == 1, f'{options}: {result}')
    address = free_address()
    got = tools.finish_all(tools.plain(2, m, address=address, options=lambda r: [f'--rank={r}', f'--world-size={2 + r}']))
    expect([g[0] for g in got] == [2, 6] and all('process 1 is to be one of 3 processes' in g[2] for g in got), f'sizes: {got}')
    address = free_address()
    first = tools.plain(1, m, address=address, options=lambda r: ['--rank=0', '--world-size=2'])
    other = tools.plain(1, d, address=address, options=lambda r: ['--rank=1', '--world-size=2'])
    got = tools.finish_all(first + other)
    expect([g[0] for g in got] == [6, 6] and 'process 1 has another program' in got[0][2], f'another program: {got}')


@case
def coordinator_killed(tools):
    """A process that dies ends the others, by name; what strangers send does not matter."""
    m = spinning()
    for victim in (1, 0):
        address = free_address()
        started = tools.plain(1, '--platform=interpreter', m, address=address, options=lambda r: ['--rank=0', '--world-size=2'])
        host, port = address.split(':')
        for text in (b'', b'GET / HTTP/1.1\r\n\r\n', b'hlo-tcp1\xff\xff\xff\xff', b'hlo-tcp1\x03\0\0\0abc', os.urandom(5000)):
            def disturb():
                with socket.create_connection((host, int(port))) as s:
                    s.sendall(text)
                return True
            wait_for(lambda: quietly(disturb), 'somebody who listens')
        started += tools.plain(1, '--platform=interpreter', m, address=address, options=lambda r: ['--rank=1', '--world-size=2'])
        time.sleep(1.5)
        expect(all(p.poll() is None for p in started), f'they run: {[p.poll() for p in started]}')
        start = time.time()
        os.kill(started[victim].pid, signal.SIGKILL)
        code, out, err = tools.finish(started[1 - victim], seconds=15)
        tools.finish(started[victim])
        expect(code == 6 and f'process {victim} of 2 (host ' in err and 'has died' in err and time.time() - start < 6,
               f'{victim}: {code} after {time.time() - start:.1f} s\n{out}{err}')


@case
def launch_disagrees(tools):
    """What options say of ranks has to be what MPI says."""
    m = write('l.hlo', 'HloModule u, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }')
    for option, text in (('--rank=1', "rank 1 is asked for, OMPI_COMM_WORLD_RANK is '0'"),
                         ('--world-size=3', "world size 3 is asked for, OMPI_COMM_WORLD_SIZE is '2'")):
        code, out, err = tools.mpi(2, m, option)
        expect(code == 2 and errors(err).count('error:') == 1 and text in err, f'{option}: {code}\n{out}{err}')
    code, out, err = tools.mpi(2, m, '--world-size=2', '--launcher=mpi')
    expect(code == 0 and 'replica 1' in out, f'{code}\n{out}{err}')
