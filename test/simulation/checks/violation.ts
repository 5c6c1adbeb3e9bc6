/** A broken invariant. */
export class Violation extends Error {
  override readonly name = "Violation";
  readonly invariant: Invariant;

  constructor(invariant: Invariant, message: string) {
    super(message);
    this.invariant = invariant;
  }
}

/** The invariants that the simulation checks. I8 (no secret in a log) is checked by other tests. */
export const INVARIANTS = {
  I1: "at most one deal for an attempt, and at most one for a leg within the bounds of the protocol",
  I2: "a transfer answered or recorded as applied has a deal that was made for it",
  I3: "a transfer answered or recorded as refused never gets a deal",
  I4: "legs, logs, pools and fees have the expected sums",
  I5: "a Master's log is in the order of its history",
  I6: "at most one leg of a login is in progress, and under an account lock only legs of its owner are sent",
  I7: "a credit only after its debit, a reversal only after a refused credit",
  I9: "faults of the broker do not change what the consumers have stored",
  I10: "every leg and every fee ends, or is in manual review for a valid reason",
  I11: "a fee is taken once for each run and Investor, and only of profit above the high-water mark",
  I12: "an Investor that left a pool has nothing in it",
  I13: "a command is sent only under a committed permit of its sender, once, before the permit expires",
  I14: "each applied leg has its deal, and each deal with a reference of the service has its leg or a review",
  I15: "the final answer to a key never changes",
  I17: "no request moves money twice, and no deal is without its leg, also when the database has lost commits",
  I18: "no money joins or leaves a pool at the price of a market that has closed",
  I19: "no command takes what the open positions of a Master need as margin",
  I20: "an Investor that follows a Master may not trade, and may again as before when it has left",
  I16: "a deal that the platform lost after it was booked is detected",
} as const;

export type Invariant = keyof typeof INVARIANTS;
