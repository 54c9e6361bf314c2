"""Programs that cannot go on, by mistakes of theirs or because a process is gone."""
import os, re, signal, time

from spread.kit import ADD, DEADLOCK, ENVIRONMENT, case, children, errors, expect, same, spinning, wait_for, write


@case
def deadlock(tools):
    m = write('d.hlo', DEADLOCK.replace('OTHER', 'copy(x)'))
    code, _, err = same(tools, (2,), m)
    expect(code == 6 and '[runtime-deadlock]' in err, f'{code} {err}')
    n = write('n.hlo', DEADLOCK.replace('OTHER', 'all-reduce(x), replica_groups={{0,1}}, to_apply=add'))
    code, _, err = same(tools, (2,), n)
    expect(code == 6 and err.count('waits in') == 2, f'{code} {err}')
    # The next module runs.
    ok = write('ok.hlo', 'HloModule ok, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }')
    same(tools, (2,), m, ok, '-q')


@case
def timeout(tools):
    m = write('t.hlo', DEADLOCK.replace('OTHER', 'while(x), condition=cond, body=body'))
    code, _, err = same(tools, (2,), m, '--collective-timeout=500ms')
    expect(code == 6 and '[runtime-collective-timeout]' in err, f'{code} {err}')
    code, out, err = tools.mpi(2, m, '--timeout=1s', '--platform=interpreter')
    expect(code == 8 and errors(err).count('error:') == err.count('[limit-timeout]') == 1, f'{code}\n{out}{err}')


@case
def mismatch(tools):
    m = write('mm.hlo', '''HloModule m, num_partitions=2
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
one { x = f32[2] parameter(0)  ROOT r = f32[2] all-reduce(x), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, to_apply=add }
two {
  x = f32[2] parameter(0)
  y = f32[4] concatenate(x, x), dimensions={0}
  z = f32[4] all-reduce(y), replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true, to_apply=add
  ROOT r = f32[2] slice(z), slice={[0:2]}
}
ENTRY e {
  x = f32[2] parameter(0)
  k = u32[] partition-id()
  i = s32[] convert(k)
  ROOT r = f32[2] conditional(i, x, x), branch_computations={one, two}
}''')
    code, out, err = tools.mpi(2, m)
    expect(code == 6 and '[runtime-collective-mismatch]' in err and
           re.search(r'device \d brings all-reduce of f32\[\d\] where device \d brings all-reduce of f32\[\d\]', err),
           f'{code}\n{out}{err}')
    expect(errors(err).count('error:') == 1, f'said once:\n{err}')


@case
def usage(tools):
    m = write('u.hlo', 'HloModule u, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }')
    for arguments, code, text in (
            (['--run-device=1'], 2, "option '--run-device': not of several processes"),
            (['--bisect-passes'], 2, "option '--bisect-passes': not of several processes"),
            (['--reduce-to=x.hlo'], 2, "option '--reduce-to': not of several processes"),
            (['--sead=1'], 2, "unknown option '--sead'"),
            (['--platform=gpu'], 7, '[unavailable-gpu]'),
            (['missing.hlo'], 3, 'missing.hlo: error: cannot open')):
        got, out, err = tools.mpi(2, m, *arguments)
        expect(got == code and errors(err).count(text) == 1 and errors(err).count('error:') == 1,
               f'{arguments}: {got}\n{out}{err}')


@case
def unavailable(tools):
    m = write('x.hlo', 'HloModule u, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }')
    for plugin, text in (('none', "no MPI: HLO_MPI is 'none'"), ('/nowhere.so', "no MPI: '/nowhere.so' cannot be loaded"),
                         (m, 'cannot be loaded'),
                         ('libm.so.6', "no MPI: 'libm.so.6' is not the plugin of this program")):
        process = tools.start([tools.run, '--launcher=mpi', m], env=dict(ENVIRONMENT, HLO_MPI=plugin))
        code, out, err = tools.finish(process)
        expect(code == 7 and text in err and '[unavailable-mpi]' in err, f'{plugin}: {code}\n{out}{err}')
        got = tools.mpi(2, m, environment={'HLO_MPI': plugin}, options=['-x', 'HLO_MPI'])
        said = errors(got[2])
        # mpirun may end the other one before it says so.
        expect(got[0] == 7 and 1 <= said.count(text) <= 2 and said.count(text) - said.count('process 1: error') <= 1,
               f'{plugin}: {got}')
        process = tools.start([tools.run, '--launcher=mpi', '--skip-unavailable', m], env=dict(ENVIRONMENT, HLO_MPI=plugin))
        expect(tools.finish(process)[0] == 77, 'skipped')


@case
def first_ends_early(tools):
    """The first process alone finds that it cannot write: the others end, too, or go on with the next module."""
    a, b = (write(f'{name}.hlo', f'HloModule {name}, replica_count=2\nENTRY e {{ ROOT r = u32[] replica-id() }}')
            for name in 'ab')
    for files in ([a], [a, b]):
        code, out, err = tools.mpi(2, '--output=@/dev/full', *files)
        said = errors(err)
        expect(code == 6 and said.count('No space left on device') == len(files) and 'ended early' not in said,
               f'{files}: {code}\n{out}{err}')
    code, out, err = tools.mpi(2, f'--result-json={a}', a)
    expect(code != 0 and 'is an input of the same run' in err, f'{code}\n{out}{err}')
    command = ['mpirun', '-np', '1', tools.run, a, ':', '-np', '1', tools.run, a, b]
    code, out, err = tools.finish(tools.start(command, env=ENVIRONMENT))
    expect(code == 6 and err.count('process 0 of 2 has ended early') == 1, f'{code}\n{out}{err}')
    command = ['mpirun', '-np', '1', tools.run, a, ':', '-np', '1', '-x', 'HLO_MPI=none', tools.run, a]
    code, out, err = tools.finish(tools.start(command, env=ENVIRONMENT))
    expect(code == 7 and "process 1: error: no MPI: HLO_MPI is 'none'" in err, f'{code}\n{out}{err}')


@case
def dynamic_sizes(tools):
    """Members have other sizes of one bound; one of them all."""
    m = write('dynamic.hlo', ADD + '''ENTRY e {
  p = f32[20000] parameter(0)
  k = u32[] replica-id()
  i = s32[] convert(k)
  c = s32[] constant(10000)
  m = s32[] multiply(i, c)
  n = s32[] constant(20000)
  z = s32[] subtract(n, m)
  d = f32[<=20000] set-dimension-size(p, z), dimensions={0}
  ROOT r = f32[<=20000] all-reduce(d), replica_groups={{0,1}}, to_apply=add
}''')
    same(tools, (2,), m, '--num-replicas=2', '--output-devices=all', '--print=summary')


@case
def others_move(tools):
    """Who waits for longer than --collective-timeout while others meet waits on, as in one process."""
    m = write('others.hlo', '''HloModule others, replica_count=4
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
lt { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
body {
  s = (s32[], f32[4000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4000] get-tuple-element(s), index=1
  y = f32[4000] sort(x), dimensions={0}, to_apply=lt
  z = f32[4000] all-reduce(y), replica_groups={{0,1},{2,3}}, to_apply=add
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], f32[4000]) tuple(j, z)
}
cond {
  s = (s32[], f32[4000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  k = u32[] replica-id()
  two = u32[] constant(2)
  first = pred[] compare(k, two), direction=LT
  n = s32[] constant(3000)
  z = s32[] constant(0)
  m = s32[] select(first, n, z)
  ROOT c = pred[] compare(i, m), direction=LT
}
ENTRY e {
  x = f32[4000] parameter(0)
  z = s32[] constant(0)
  s = (s32[], f32[4000]) tuple(z, x)
  w = (s32[], f32[4000]) while(s), condition=cond, body=body
  y = f32[4000] get-tuple-element(w), index=1
  ROOT q = f32[4000] all-reduce(y), replica_groups={{0,1,2,3}}, to_apply=add
}''')
    same(tools, (2,), m, '--collective-timeout=300ms', '--print=summary')


@case
def after_a_failure(tools):
    """What a run that has failed has left on its way is not taken for what comes later."""
    dead = write('dead.hlo', '''HloModule dead, replica_count=2
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
meets { x = s32[1000] parameter(0)  ROOT r = s32[1000] all-reduce(x), replica_groups={{0,1}}, to_apply=add }
other { x = s32[1000] parameter(0)  ROOT r = s32[1000] copy(x) }
ENTRY e {
  x = s32[1000] parameter(0)
  k = u32[] replica-id()
  i = s32[] convert(k)
  ROOT r = s32[1000] conditional(i, x, x), branch_computations={meets, other}
}''')
    loop = write('loop.hlo', '''HloModule loop, replica_count=2
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
body {
  s = (s32[], s32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = s32[1000] get-tuple-element(s), index=1
  w = s32[1000] broadcast(i), dimensions={}
  z = s32[1000] all-reduce(w), replica_groups={{0,1}}, to_apply=add
  y = s32[1000] add(x, z)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], s32[1000]) tuple(j, y)
}
cond {
  s = (s32[], s32[1000]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(33000)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = s32[1000] parameter(0)
  z = s32[] constant(0)
  s = (s32[], s32[1000]) tuple(z, x)
  w = (s32[], s32[1000]) while(s), condition=cond, body=body
  ROOT y = s32[1000] get-tuple-element(w), index=1
}''')
    arguments = ['--output-devices=all', '--input=ones', '--print=summary', dead, loop]
    _, threads, _ = tools.threads(*arguments)
    code, out, err = tools.mpi(2, *arguments)
    wanted = re.findall(r'output s32.*', threads)
    expect(code == 6 and len(wanted) == 2 and re.findall(r'output s32.*', out) == wanted, f'{code}\n{out}{err}')


@case
def slurm(tools):
    """Variables of srun; in a job's script they say nothing of this process."""
    m = write('s.hlo', 'HloModule u, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }')
    step = dict(ENVIRONMENT, SLURM_PROCID='0', SLURM_NTASKS='2')
    code, out, err = tools.finish(tools.start([tools.run, m], env=step))
    expect(code == 0 and 'replica 1' in out, f'script: {code}\n{out}{err}')
    # As srun sets them without --mpi=pmix, where MPI may end the process itself.
    plain = dict(step, SLURM_STEP_ID='0', SLURM_STEPID='0', SLURM_JOB_ID='7', SLURM_JOBID='7', SLURM_LOCALID='0',
                 SLURM_NODEID='0', SLURM_NPROCS='2', SLURM_STEP_NUM_TASKS='2', SLURM_STEP_NUM_NODES='1')
    code, out, err = tools.finish(tools.start([tools.run, m], env=plain))
    expect(code == 7 and err.strip() == 'error: no MPI: Slurm has started 2 processes and told MPI nothing of them; start them '
           'with srun --mpi=pmix, or give --coordinator [unavailable-mpi]', f'step: {code}\n{out}{err}')
    # All of them in one process.
    code, out, err = tools.finish(tools.start([tools.run, '--launcher=threads', m], env=plain))
    expect(code == 0 and 'replica 1' in out, f'threads: {code}\n{out}{err}')
    # What Slurm says and what MPI does need not be the same.
    code, out, err = tools.finish(tools.start([tools.run, m], env=dict(step, SLURM_STEP_ID='0', PMI_FD='-1')))
    expect(code == 7 and 'Slurm knows of 2 processes, the MPI of the plugin of 1' in err, f'other: {code}\n{out}{err}')
    code, out, err = tools.finish(tools.start([tools.run, m], env=dict(step, SLURM_STEP_ID='0', SLURM_PROCID='2')))
    expect(code == 2 and "SLURM_PROCID is '2' and SLURM_NTASKS '2', expected a number below another one" in err,
           f'numbers: {code}\n{out}{err}')
    # What srun would set beside what mpirun does.
    got = tools.mpi(2, m, environment={'SLURM_PROCID': '0', 'SLURM_NTASKS': '2'}, options=['-x', 'SLURM_NTASKS'])
    expect(got[0] == 0 and 'replica 1' in got[1], f'{got}')


@case
def one_fails(tools):
    """A file that one process does not have, and a module that is another one."""
    m = 'HloModule u, replica_count=2\nENTRY e { ROOT r = u32[] replica-id() }'
    os.makedirs('zero', exist_ok=True), os.makedirs('one', exist_ok=True)
    write('zero/f.hlo', m)
    command = ['mpirun', '-np', '1', '-wdir', os.path.abspath('zero'), tools.run, 'f.hlo', ':',
               '-np', '1', '-wdir', os.path.abspath('one'), tools.run, 'f.hlo']
    code, out, err = tools.finish(tools.start(command, env=ENVIRONMENT))
    expect(code == 6 and 'process 1: f.hlo: error: cannot open' in err and 'process 1 of 2 cannot run the module' in err
           or code == 6 and 'process 1: f.hlo: error: cannot open' in err and 'process 1 of 2 has ended early' in err,
           f'missing: {code}\n{out}{err}')
    write('one/f.hlo', m.replace('replica-id', 'partition-id'))
    code, out, err = tools.finish(tools.start(command, env=ENVIRONMENT))
    expect(code == 6 and 'process 1 has another program' in err, f'another: {code}\n{out}{err}')


@case
def killed(tools):
    """A process that dies ends the others, by name, and they say where they were."""
    m = spinning()
    for victim in (1, 0):
        process = tools.start(['mpirun', '-np', '2', tools.run, '--platform=interpreter', m], env=ENVIRONMENT)
        pids = wait_for(lambda: (lambda p: p if len(p) == 2 else None)(children(process.pid, 'hlo-run')), 'two processes')
        time.sleep(2)
        start = time.time()
        os.kill(pids[victim], signal.SIGKILL)
        code, out, err = tools.finish(process, seconds=15)
        took = time.time() - start
        expect(code != 0 and f'process {victim} of 2 (host ' in err and 'has died' in err and
               err.count('[runtime-collective-timeout]') == 1, f'{victim}: {code} after {took:.1f} s\n{out}{err}')
        expect(victim == 0 or 'device 0 waits in %r' in err, f'where:\n{err}')
        expect(took < 6, f'{took:.1f} s')


@case
def interrupted(tools):
    process = tools.start(['mpirun', '-np', '2', tools.run, '--platform=interpreter', spinning()], env=ENVIRONMENT)
    pids = wait_for(lambda: (lambda p: p if len(p) == 2 else None)(children(process.pid, 'hlo-run')), 'two processes')
    time.sleep(1.5)
    start = time.time()
    process.send_signal(signal.SIGINT)
    code, out, err = tools.finish(process, seconds=20)
    expect(code != 0 and time.time() - start < 8, f'{code}\n{out}{err}')
    wait_for(lambda: not [p for p in pids if os.path.exists(f'/proc/{p}')], 'all processes have ended', 5)
