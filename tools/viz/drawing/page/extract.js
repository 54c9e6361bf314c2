// Copies instructions as a module of their own (what `hlo-opt --extract` does).

/** A line without references into tables that the copy does not have. */
const withoutFrames = line => line.replace(/"(?:\\[^]|[^"\\])*"|\s?\bstack_frame_id=\d+/g, part => part[0] === '"' ? part : '');

/** The chosen ones with what cannot be cut off them: starts of what ends, constants, elements of chosen tuples. */
function withNecessary(chosen, ends) {
  const kept = new Set(chosen);
  const stack = [...chosen];
  while (stack.length) {
    const inst = stack.pop();
    for (const operand of inst.operands) {
      if (kept.has(operand)) continue;
      const isElement = operand.opcode === 'get-tuple-element' && kept.has(operand.operands[0]);
      const isShort = operand.opcode === 'constant' && !operand.argumentText.includes('{...}');
      if (isElement || isShort || ends.has(inst.opcode)) { kept.add(operand); stack.push(operand); }
    }
  }
  return kept;
}

/** The line of an instruction in the copy: control dependencies on what is not there are dropped. */
function keptLine(inst, kept) {
  let line = inst.line;
  if (inst.control.length) {
    const left = inst.control.filter(c => kept.has(c)).map(c => '%' + c.name);
    line = line.replace(/, control-predecessors=\{[^}]*\}/, left.length ? `, control-predecessors={${left.join(', ')}}` : '');
  }
  return withoutFrames(line);
}

/** Called computations, callees before callers. */
function calleesOf(instructions) {
  const order = [], seen = new Set();
  const visit = computation => {
    if (seen.has(computation)) return;
    seen.add(computation);
    for (const i of computation.instructions) i.called.forEach(visit);
    order.push(computation);
  };
  for (const inst of instructions) inst.called.forEach(visit);
  return order;
}

/**
 * HLO text of some instructions of one computation; those of others are left out. Operands that are cut off
 * become parameters; what has no users inside is the result, as a tuple if there are several.
 */
function extractText(instructions, ends = new Set()) {
  const computation = instructions[0].computation;
  const module = computation.module;
  const kept = withNecessary(instructions.filter(i => i.computation === computation), ends);
  const body = [...kept].sort((a, b) => a.id - b.id);
  const inputs = new Set(body.filter(i => i.opcode === 'parameter'));
  for (const inst of body) for (const operand of inst.operands) if (!kept.has(operand)) inputs.add(operand);
  const lines = [...inputs].map((inst, n) => {
    const sharding = inst.opcode === 'parameter' && attributeValue(inst, 'sharding');
    return `%${inst.name} = ${inst.shape} parameter(${n})` + (sharding ? `, sharding=${sharding}` : '');
  });
  const results = body.filter(i => !i.users.some(u => kept.has(u)));
  for (const inst of body) if (inst.opcode !== 'parameter') lines.push((results.length === 1 && inst === results[0] ? 'ROOT ' : '') + keptLine(inst, kept));
  if (results.length === 1 && results[0].opcode === 'parameter')
    lines[[...inputs].indexOf(results[0])] = 'ROOT ' + lines[[...inputs].indexOf(results[0])];
  if (results.length > 1) {
    let name = 'results';
    while (computation.instructions.some(i => i.name === name)) name += '.1';
    lines.push(`ROOT %${name} = (${results.map(i => i.shape).join(', ')}) tuple(${results.map(i => '%' + i.name).join(', ')})`);
  }
  const counts = [...module.header.join(' ').matchAll(/, ((?:replica_count|num_partitions)=\d+)/g)].map(m => ', ' + m[1]);
  const callees = calleesOf(body).map(c => withoutFrames(c.text.replace(/^ENTRY /, '')) + '\n\n');
  return `HloModule ${module.name}${counts.join('')}\n\n${callees.join('')}ENTRY %${computation.name} {\n  ${lines.join('\n  ')}\n}\n`;
}
