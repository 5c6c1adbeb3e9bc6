/** What must never be, and was. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: Invariant;

  constructor(invariant: Invariant, message: string) {
    super(message);
    this.invariant = invariant;
  }
}

/** The invariants of the money protocol, as far as they are watched here. */
export const INVARIANTS = {
  P1: "a command leaves only under a committed permit of its sender, once, while the permit lasts",
  I1: "at most one deal an attempt, and at most one an operation within the bounds of the protocol",
  I2: "who is told that it is applied is told of a deal that was really made for it",
  I3: "who is told that nothing happens never finds a deal",
  I4: "legs and logs add up",
  I5: "a Master's log is in the order of its history",
  I6: "at most one operation of a login is under way, and an account lock lets only its own saga pass",
  I7: "a credit only after its debit, a reversal only after a refused credit",
  I9: "whatever the broker does, the books of others end the same",
  I10: "every operation ends, or a person has it for a reason",
  I11: "a fee is taken once for each run and Investor, and only of profit above the mark",
  I12: "nobody is in a pool and out of it",
  deal_matching: "each applied operation has its deal, and each deal of ours its operation or a finding",
  T4: "a deal that the platform forgot after it was booked is noticed",
  R4: "what a key was answered once is answered for ever",
} as const;

export type Invariant = keyof typeof INVARIANTS;
