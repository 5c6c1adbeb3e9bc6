export type LegKind = "deposit" | "withdrawal" | "fee_debit" | "fee_credit" | "result" | "mirror" | "exit" | "reversal";

export type LegPolicy = {
  /** Second character of the reference. */
  readonly letter: string;
  /** An external leg (requested by a customer) is sent at most once; an internal one may be attempted again. */
  readonly origin: "external" | "internal";
  readonly sign: "credit" | "debit" | "either";
  /** Whether the platform is to refuse a debit above the free margin. */
  readonly checkMargin: boolean;
  /** Text of the service at the end of the platform's comment, at most 5 characters; undefined where the caller's comment is used. */
  readonly comment: string | undefined;
  /** Occupies its login until its outcome is known. Credits of payment accounts do not: the reference identifies them. */
  readonly exclusive: boolean;
  /**
   * What follows when no attempt is left. "refuse": the key ends REFUSED, and its service requests the movement anew. "review": the
   * debit was applied already, so the leg is attempted for days and then goes to manual review.
   */
  readonly whenExhausted: "refuse" | "review";
};

/** One row per kind. No other code of the protocol branches on the kind of a leg. */
export const LEG_KINDS: Readonly<Record<LegKind, LegPolicy>> = {
  deposit: external({ letter: "D", sign: "credit" }),
  withdrawal: external({ letter: "W", sign: "debit" }),
  fee_debit: internal({ letter: "F", sign: "debit", comment: "Fee", checkMargin: true }),
  fee_credit: internal({
    letter: "C",
    sign: "credit",
    comment: "Fee",
    exclusive: false,
    whenExhausted: "review",
  }),
  result: internal({ letter: "T", sign: "either", comment: "Trade" }),
  mirror: internal({ letter: "M", sign: "either", comment: "PAMM", checkMargin: true }),
  exit: internal({ letter: "X", sign: "debit", comment: "Exit", checkMargin: true }),
  reversal: internal({
    letter: "R",
    sign: "either",
    comment: "Rev.",
    checkMargin: true,
    whenExhausted: "review",
  }),
};

/** Whether a leg of this kind may change a balance by this signed amount. */
export function allowsAmount(kind: LegKind, amountMinor: bigint): boolean {
  const { sign } = LEG_KINDS[kind];
  if (amountMinor === 0n) return false;
  return sign === "either" || (sign === "credit") === amountMinor > 0n;
}

function external(own: Pick<LegPolicy, "letter" | "sign">): LegPolicy {
  return {
    ...own,
    origin: "external",
    checkMargin: true,
    comment: undefined,
    exclusive: true,
    whenExhausted: "refuse",
  };
}

/**
 * Without margin check by default: the books have moved this money already and would be wrong after a refusal. A Master's money is checked all the
 * same, because its positions would be closed for want of margin; a refused amount waits.
 */
function internal(own: Pick<LegPolicy, "letter" | "sign" | "comment"> & Partial<LegPolicy>): LegPolicy {
  return { origin: "internal", checkMargin: false, exclusive: true, whenExhausted: "refuse", ...own };
}
