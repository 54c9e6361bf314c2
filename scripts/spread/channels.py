"""Values between programs that different processes run, by the library: the program `channels`."""
import os, re, time

from spread.kit import ENVIRONMENT, Skipped, case, errors, expect, free_address


def program(tools):
    path = os.path.join(tools.folder, 'channels')
    if not os.path.exists(path):
        raise Skipped('channels is not built')
    return path


def lines(out):
    return sorted(line for line in out.splitlines() if line.startswith('device'))


def run(tools, count, *arguments):
    """Exit code, lines by device, and what is said beside them; `count`: of processes, 0: of threads."""
    command = [*(['mpirun', '-np', str(count)] if count else []), program(tools), *arguments]
    code, out, err = tools.finish(tools.start(command, env=ENVIRONMENT))
    return code, lines(out), errors(err)


def apart(tools, count, name, size='3'):
    """The same of processes that plain shells start, of each."""
    address = free_address()
    started = [tools.start([program(tools), name, size, address, str(r), str(count)], env=ENVIRONMENT) for r in range(count)]
    return [(code, lines(out), err) for code, out, err in tools.finish_all(started)]


def same_as_threads(tools, *arguments, counts=(2, 4)):
    wanted = run(tools, 0, *arguments)
    expect(wanted[0] == 0 and len(wanted[1]) == 4, f'{arguments}: {wanted}')
    for count in counts:
        got = run(tools, count, *arguments)
        expect(got == wanted, f'{arguments}, {count} processes: {got}\nexpected {wanted}')
    return '\n'.join(wanted[1])


@case
def channels_values(tools):
    """Small ones and large ones, tuples, of several senders; through programs on a device and through such on all."""
    for name, size in (('pipeline', '3'), ('pipeline', '60000'), ('tuples', '3000'), ('senders', '3'), ('replicas', '60000')):
        text = same_as_threads(tools, name, size)
        expect(not re.search(r'[A-Z]{4}', text), text)


@case
def channels_errors(tools):
    text = same_as_threads(tools, 'mismatch')
    expect('device 3: ABORTED: <text>:4:3: recv-done expects f32[30], the value sent is f32[3]' in text, text)
    for name, count in (('ring', 4), ('replicas_in_vain', 2)):
        text = same_as_threads(tools, name, counts=[count])
        expect(text.count('DEADLINE_EXCEEDED: <text>:4:3: time limit exceeded') == 4, f'{name}: {text}')


def in_vain(count):
    return (f'device 3: ABORTED: <text>:4:3: process 0 of {count} has ended, with exit code 0, and nobody has sent what is '
            'waited for')


@case
def channels_ended(tools):
    """Who waits for what nobody is left to send is told so, and ends."""
    code, said, err = run(tools, 4, 'nobody')
    expect(code == 0 and said[3:] == [in_vain(4)], f'{code}\n{said}{err}')


def died(process, count):
    return re.compile(rf'ABORTED: <text>:4:3: process {process} of {count} \(host \S+, pid \d+\) has died')


@case
def channels_killed(tools):
    """A process that dies ends those that wait, by its name."""
    for count, device in ((2, 3), (4, 0)):
        start = time.time()
        code, said, err = run(tools, count, 'dies', str(device))
        # mpirun may lose what they say last.
        expect(code != 0 and said and all(died(device * count // 4, count).search(line) for line in said),
               f'{count}, device {device}: {code}\n{said}\n{err}')
        expect(time.time() - start < 10, f'{time.time() - start:.1f} s')


@case
def coordinator_channels(tools):
    for name, size in (('pipeline', '60000'), ('replicas', '3')):
        code, wanted, _ = run(tools, 0, name, size)
        got = apart(tools, 2, name, size)
        expect(code == 0 and got == [(0, wanted[:2], ''), (0, wanted[2:], '')], f'{name}: {got}\nexpected {wanted}')
    got = apart(tools, 2, 'nobody')
    expect(got[1] == (0, ['device 2: nothing', in_vain(2)], ''), f'nobody: {got}')
    for device in (0, 3):
        start = time.time()
        got = apart(tools, 4, 'dies', str(device))
        dead = got.pop(device)
        expect(dead[0] == -9 and all(len(said) == 1 and died(device, 4).search(said[0]) for _, said, _ in got), f'{device}: {got}')
        expect(time.time() - start < 10, f'{time.time() - start:.1f} s')
