// Both modules of a comparison as one: once what both have, beside it what only one has.

/** Reads like the instruction of the new module, or like that of the old one where that is all there is. */
class MergedInstruction extends Instruction {
  constructor(computation, left, right) {
    const shown = right ?? left;
    super(-1, computation, shown.name, shown.shape, shown.opcode, shown.line);
    this.left = left;
    this.right = right;
    this.isRoot = shown.isRoot;
    this.argumentsAt = shown.argumentsAt;
    this.argumentsEnd = shown.argumentsEnd;
    this.sides = [];                 // of operands: 'both', 'old', 'new'
    this.values = new Set();         // operands, for questions
    this.region = shown.region;
    this.layer = shown.layer;
    this.repeats = shown.repeats ?? 1;
  }
  /** An added and a removed instruction may share a name. */
  get key() { return super.key + (this.right ? '' : kOldKey); }
  get origin() { return this.right ?? this.left; }
}
const kOldKey = ' (old)';

class MergedComputation extends Computation {
  constructor(module, left, right) {
    super(module, right?.name ?? left.name + kOldKey, (right ?? left).head);
    this.left = left;
    this.right = right;
  }
  get writtenNames() { return [this.left, this.right].filter(Boolean).map(c => c.name); }
}

/**
 * `counterpart(instruction)` is the instruction of the other module, `pairs` the names of computations that
 * correspond: [left, right], one of them empty where there is no other; pairs of one name go unsaid.
 */
class MergedModule extends Module {
  constructor(left, right, counterpart, pairs) {
    super('');
    this.left = left;
    this.right = right;
    this.name = right.name;
    this.header = right.header;
    this.isScheduled = false;        // of two schedules there is no one order
    this.mergedOf = new Map();       // instruction of either -> MergedInstruction
    this.pairComputations(pairs);
    for (const c of this.computations) if (c.right) for (const inst of c.right.instructions) this.put(c, counterpart(inst), inst);
    for (const c of this.computations) if (c.left) this.putRemoved(c);
    this.computations = this.computations.filter(c => c.instructions.length);
    for (const c of this.computations) this.number(c);
    for (const c of this.computations) for (const inst of c.instructions) this.linkCalls(inst);
    for (const inst of this.instructions) this.linkOperands(inst);
    for (const inst of this.instructions) this.linkOldOperands(inst);
    for (const inst of this.instructions) for (const value of inst.values) value.users.push(inst);
  }
  frames(inst) { return inst.origin.computation.module.frames(inst.origin); }

  pairComputations(pairs) {
    const leftOf = new Map(), matched = new Set();
    for (const [left, right] of pairs) { if (left) matched.add(left); leftOf.set(right, left); }
    this.placeOf = new Map();        // computation of either -> MergedComputation
    const add = (left, right) => {
      const made = new MergedComputation(this, left, right);
      for (const side of [left, right]) if (side) this.placeOf.set(side, made);
      this.computations.push(made);
    };
    for (const right of this.right.computations) {
      const name = leftOf.get(right.name) ?? (matched.has(right.name) ? '' : right.name);
      add(this.left.computationOf.get(name) ?? null, right);
    }
    for (const left of this.left.computations) if (!this.placeOf.has(left)) add(left, null);
    this.entry = this.placeOf.get(this.right.entry);
  }

  put(computation, left, right) {
    const made = new MergedInstruction(computation, left, right);
    for (const side of [left, right]) if (side) this.mergedOf.set(side, made);
    computation.instructions.push(made);
  }

  /** What only the old module has stands behind what it stood behind there. */
  putRemoved(computation) {
    const behind = new Map();
    let before = null;
    for (const inst of computation.left.instructions) {
      const merged = this.mergedOf.get(inst);
      if (merged) {
        if (merged.computation === computation) before = merged;
        continue;
      }
      const made = new MergedInstruction(computation, inst, null);
      this.mergedOf.set(inst, made);
      if (behind.has(before)) behind.get(before).push(made); else behind.set(before, [made]);
    }
    if (behind.size)
      computation.instructions = [...behind.get(null) ?? [], ...computation.instructions.flatMap(i => [i, ...behind.get(i) ?? []])];
  }

  number(computation) {
    this.computationOf.set(computation.name, computation);
    for (const inst of computation.instructions) {
      inst.id = this.instructions.length;
      this.instructions.push(inst);
      computation.instructionOf.set(inst.name + (inst.right ? '' : kOldKey), inst);
    }
    const root = this.mergedOf.get((computation.right ?? computation.left).root);
    computation.root = root?.computation === computation ? root : null;
  }

  linkCalls(inst) {
    for (const side of [inst.right, inst.left])
      for (const c of side?.called ?? []) {
        const callee = this.placeOf.get(c);
        if (!callee.instructions.length || inst.called.includes(callee)) continue;
        inst.called = [...inst.called, callee];
        callee.callers.push(inst);
      }
  }

  linkOperands(inst) {
    const {left, right} = inst;
    const old = new Set(left?.operands.map(o => this.mergedOf.get(o)));
    for (const o of right?.operands ?? []) {
      const value = this.mergedOf.get(o);
      this.addOperand(inst, value, old.has(value) ? 'both' : 'new');
    }
    const control = [...right?.control ?? [], ...left?.control ?? []].map(c => this.mergedOf.get(c)).filter(c => c.computation === inst.computation);
    if (control.length) inst.control = [...new Set(control)];
  }

  /** Values that went into a computation, or came out of one, are used by its caller. */
  linkOldOperands(inst) {
    for (const o of inst.left?.operands ?? []) {
      const [value, user] = meetingEnds(this.mergedOf.get(o), inst) ?? [];
      if (value && value !== user && !((inst.right || user !== inst) && user.values.has(value))) this.addOperand(user, value, 'old');
    }
  }
  addOperand(user, value, side) {
    user.operands.push(value);
    user.sides.push(side);
    user.values.add(value);
  }
}

/** The instructions that stand for a value and its user in the innermost computation around both; null if none is. */
function meetingEnds(value, user) {
  if (value.computation === user.computation) return [value, user];
  const above = inst => {
    const chain = new Map();
    for (let at = inst; at && !chain.has(at.computation); [at] = at.computation.callers) chain.set(at.computation, at);
    return chain;
  };
  const users = above(user);
  for (const [computation, at] of above(value)) if (users.has(computation)) return [at, users.get(computation)];
  return null;
}

/** Instruction.region: 0 where nothing is known, this number for what is drawn one by one, then regions. */
const kDrawnAlone = 1;

