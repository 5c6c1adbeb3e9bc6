import { type Change, combine } from "./buckets.ts";

/** Why a balance changed: the movement kinds of platform's log, and review_reversal. */
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
  /** A reversal that was approved in a review: it reverses a deal that was filed as external funds. */
  | "review_reversal"
  | "external"
  | "trade"
  /** Of an agent, on a Master: income from the trades of other customers. */
  | "agent_commission"
  | "amendment"
  | "correction";

/** Only these settle a reserve: the reversal of a fee has the same key as its debit. */
export function isDebit(kind: MovementKind): boolean {
  return kind === "withdrawal" || kind === "fee_debit";
}

/** On a Master, a transfer of the service. */
export function isTransfer(kind: MovementKind): boolean {
  return kind === "mirror" || kind === "exit";
}

/** A change of a balance, signed. */
export type Movement = { readonly kind: MovementKind; readonly amount: bigint };

export type ReservedAmount = {
  readonly amount: bigint;
  /** As of the reserve: the money is on the account of the Investor only. */
  readonly isOutside: boolean;
  readonly isPooled: boolean;
};

export type InvestorFacts = {
  /** The Investor's capital is in a pool. */
  readonly isPooled: boolean;
  /** The reserve under the key of the movement. Its subscription may have left the pool since. */
  readonly reserve: ReservedAmount | undefined;
};

export type InvestorEffect = {
  readonly change: Change;
  /** Signed change that the Master has to mirror; 0 when none. */
  readonly flow: bigint;
  /** Cents that have to leave the Master by a separate exit transfer. */
  readonly furtherExit: bigint;
  /** Cents taken from the pooled amount whose units are redeemed at the next strike. */
  readonly unredeemed: bigint;
};

/**
 * The effect of a movement on the buckets of its Investor. They change by exactly the amount of the movement, as the
 * balance of the account does.
 */
export function classifyInvestorMovement(movement: Movement, facts: InvestorFacts): InvestorEffect {
  const { kind, amount } = movement;
  switch (kind) {
    case "deposit":
      return amount > 0n ? credit(amount, facts) : external(amount, facts);
    case "withdrawal":
    case "fee_debit":
      return amount < 0n ? debit(-amount, facts) : external(amount, facts);
    case "reversal":
      // A reversed debit is credited like a deposit.
      return amount > 0n ? credit(amount, facts) : external(amount, facts);
    case "result":
      return only({ unposted: -amount });
    case "amendment":
      // An amendment moves no money now; an operator decides in manual review.
      return only({});
    case "opening":
    case "external":
    // An unmatched deal was filed as external funds, so its reversal is external too.
    case "review_reversal":
    // The balance difference of an amended or deleted deal was not caused by the service.
    case "correction":
    // These kinds are not expected on an Investor account: external until an operator decides.
    case "fee_credit":
    case "mirror":
    case "exit":
    case "trade":
    case "agent_commission":
      return external(amount, facts);
  }
}

function credit(amount: bigint, { isPooled }: InvestorFacts): InvestorEffect {
  return isPooled ? { ...only({ inbound: amount }), flow: amount } : only({ outside: amount });
}

function external(amount: bigint, { isPooled }: InvestorFacts): InvestorEffect {
  return only(isPooled ? { quarantined: amount } : { outside: amount });
}

function debit(taken: bigint, { isPooled, reserve }: InvestorFacts): InvestorEffect {
  if (reserve !== undefined) return debitReserve(taken, reserve);
  if (!isPooled) return only({ outside: -taken });
  return { ...only({ pooled: -taken, outbound: taken }), flow: -taken, unredeemed: taken };
}

/** Settles the reserve completely: an unused part is returned, and an amount above the reserve is a plain debit. */
function debitReserve(taken: bigint, { amount, isOutside, isPooled }: ReservedAmount): InvestorEffect {
  const covered = taken < amount ? taken : amount;
  const beyond = debit(taken - covered, { isPooled, reserve: undefined });
  const settled = isOutside ? { outside: -covered } : { reserved: -covered, outbound: covered };
  const unused = returnReserve({ amount: amount - covered, isOutside, isPooled });
  return {
    change: combine(settled, beyond.change, unused.change),
    flow: beyond.flow + unused.flow - (isOutside ? 0n : covered),
    furtherExit: unused.furtherExit,
    unredeemed: beyond.unredeemed,
  };
}

/**
 * Returns an unused reserve. The money never left the Master: in the pool it gets units again at the next strike; if
 * the Investor has left the pool, it leaves the Master by a separate exit transfer. Money that never was on the Master waits again for its
 * mirror, or stays outside the pool that the Investor has left.
 */
export function returnReserve({ amount, isOutside, isPooled }: ReservedAmount): InvestorEffect {
  if (isOutside) return isPooled ? { ...only({ outside: -amount, inbound: amount }), flow: amount } : only({});
  return isPooled
    ? only({ reserved: -amount, waiting: amount })
    : { ...only({ reserved: -amount, outside: amount, outbound: amount }), furtherExit: amount };
}

function only(change: Change): InvestorEffect {
  return { change, flow: 0n, furtherExit: 0n, unredeemed: 0n };
}
