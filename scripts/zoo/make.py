"""Makes modules of models; one process for many.

Each line of the input is JSON: {"model", "small", "variant", "path", "optimised"}. Each line of the output is JSON too:
{"status": "made" | "failed", "why"}. Needs a Python with the packages of table.KITS.
"""
import importlib
import json
import os
import sys
import traceback

os.environ.setdefault('JAX_PLATFORMS', 'cpu')
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import table

def made(job, rows):
    import programs
    row = rows[job['model']]
    kit = importlib.import_module(table.KITS[row.kit][0])
    mode, batch, dtype = job['variant'].split()
    options, sizes = row.chosen(job['small'])
    program = kit.program(row, options, sizes, mode, int(batch), dtype)
    programs.write(program, kit.NAMES, job['path'], job['optimised'])
    return {'status': 'made', 'why': ''}

def main():
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # what libraries print is no answer
    rows = {row.name: row for row in table.models()}
    for line in sys.stdin:
        try: answer = made(json.loads(line), rows)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            answer = {'status': 'failed', 'why': f'{type(error).__name__}: {error} ({os.path.basename(where.filename)}:{where.lineno})'[:600]}
        print(json.dumps(answer), file=answers, flush=True)

if __name__ == '__main__': main()
