import { type Change, combine } from "./buckets.ts";

/** Why a balance changed, in the words of platform's log. */
export type MovementKind =
  | "opening"
  | "deposit"
  | "withdrawal"
  | "fee_debit"
  | "fee_credit"
  | "result"
  | "mirror"
  | "exit"
  | "reversal"
  /** A reversal that people have ordered by a review: it takes back what came as external funds. */
  | "taken_back"
  | "external"
  | "trade"
  | "amendment"
  | "correction";

/** A change of a balance, signed. */
export type Movement = { readonly kind: MovementKind; readonly amount: bigint };

export type InvestorStanding = {
  /** The Investor's capital is in a pool. */
  readonly isPooled: boolean;
  /** What was set apart under the key of the movement. Its subscription may have left the pool since. */
  readonly reserve: { readonly amount: bigint; readonly isPooled: boolean } | undefined;
};

export type InvestorEffect = {
  readonly change: Change;
  /** Signed change that the Master has to mirror; 0 when none. */
  readonly flow: bigint;
  /** What has to leave the Master by an exit transfer of its own. */
  readonly furtherExit: bigint;
  /** What has left the pool at once and whose units follow at the next strike. */
  readonly unredeemed: bigint;
};

/** What a movement on an Investor account does to the places of that Investor. Always adds exactly its amount to them. */
export function classifyInvestorMovement(movement: Movement, standing: InvestorStanding): InvestorEffect {
  const { kind, amount } = movement;
  switch (kind) {
    case "deposit":
      return amount > 0n ? credit(amount, standing) : external(amount, standing);
    case "withdrawal":
    case "fee_debit":
      return amount < 0n ? debit(-amount, standing) : external(amount, standing);
    case "reversal":
      // Money that comes back is like a deposit.
      return amount > 0n ? credit(amount, standing) : external(amount, standing);
    case "result":
      return only({ unposted: -amount });
    case "amendment":
      // A past that was changed moves nothing now; what follows from it is for manual review to say.
      return only({});
    case "opening":
    case "external":
    // A surplus entered as external funds, so it goes as such.
    case "taken_back":
    // What a changed past has added or taken is nobody's doing of ours.
    case "correction":
    // What has no business on an Investor account belongs to nobody until a person decides.
    case "fee_credit":
    case "mirror":
    case "exit":
    case "trade":
      return external(amount, standing);
  }
}

function credit(amount: bigint, { isPooled }: InvestorStanding): InvestorEffect {
  return isPooled ? { ...only({ inbound: amount }), flow: amount } : only({ outside: amount });
}

function external(amount: bigint, { isPooled }: InvestorStanding): InvestorEffect {
  return only(isPooled ? { quarantined: amount } : { outside: amount });
}

function debit(taken: bigint, { isPooled, reserve }: InvestorStanding): InvestorEffect {
  if (reserve !== undefined) return debitReserve(taken, reserve);
  if (!isPooled) return only({ outside: -taken });
  return { ...only({ pooled: -taken, outbound: taken }), flow: -taken, unredeemed: taken };
}

/** The reserve is settled whole: what the debit did not take is given back, what it took beyond it is a plain debit. */
function debitReserve(taken: bigint, { amount, isPooled }: { amount: bigint; isPooled: boolean }): InvestorEffect {
  const covered = taken < amount ? taken : amount;
  const beyond = debit(taken - covered, { isPooled, reserve: undefined });
  const settled = { reserved: -covered, outbound: covered };
  const unused = returnReserve(amount - covered, isPooled);
  return {
    change: combine(settled, beyond.change, unused.change),
    flow: beyond.flow - covered,
    furtherExit: unused.furtherExit,
    unredeemed: beyond.unredeemed,
  };
}

/**
 * A reserve that was not needed. It never left the Master: in the pool it waits for its units again, after the pool was
 * left it follows by an exit transfer of its own.
 */
export function returnReserve(amount: bigint, isPooled: boolean): InvestorEffect {
  return isPooled
    ? only({ reserved: -amount, waiting: amount })
    : { ...only({ reserved: -amount, outside: amount, outbound: amount }), furtherExit: amount };
}

function only(change: Change): InvestorEffect {
  return { change, flow: 0n, furtherExit: 0n, unredeemed: 0n };
}

/** What a movement on a Master account is. */
export type MasterEffect =
  /** Belongs to no Investor. */
  | "external"
  /** A trading result, to be split. */
  | "result"
  /** One of our own transfers has arrived. */
  | "transfer"
  /** Carries the key of one of our transfers but not its amount: nothing may be guessed. */
  | "unfitting"
  /** The past of the account was changed. */
  | "irregular";

export function classifyMasterMovement(
  { kind, amount }: Movement,
  /** Our transfer under the key of the movement, and what it should have moved. */
  expected: { readonly amount: bigint } | undefined,
): MasterEffect {
  if (kind === "trade") return "result";
  if (kind === "amendment") return "irregular";
  if (expected === undefined || (kind !== "mirror" && kind !== "exit")) return "external";
  return expected.amount === amount ? "transfer" : "unfitting";
}
