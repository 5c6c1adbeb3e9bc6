/** What has been decided about the fees of some Investors of a Master. */
export type Decision = {
  /** The pool that was decided about; outside a pool the Master of the first debt, empty without one. */
  readonly masterLogin: string;
  /** Of a withdrawal or exit; undefined for a week. */
  readonly key: string | undefined;
  readonly periodStart: Date;
  /** The cut-off of a week, or the instant of the decision. */
  readonly periodEnd: Date;
  /** Of a week: no further Investors remain to be decided. */
  readonly isLast: boolean;
  /** The Investors are distinct. */
  readonly investors: readonly DecidedInvestor[];
};

export type DecidedInvestor = {
  readonly investorLogin: string;
  /** In the sequence of collection. */
  readonly due: readonly DecidedFee[];
  /** Keys of the open weekly fees that a withdrawal or exit collects first. */
  readonly openWeeklyKeys: readonly string[];
};

/** Something that an Investor has to pay. */
export type DecidedFee = {
  /** Key of its transfer at platform. */
  readonly key: string;
  readonly kind: "PF" | "PF_DEBT";
  /** W, WD<operation id>, UA<subscription id> or DEBT. */
  readonly suffix: string;
  /** To whom it is owed. */
  readonly masterLogin: string;
  /** Cents, positive. */
  readonly amount: bigint;
  readonly since: Date;
  /** JSON; empty for a debt. */
  readonly explanation: string;
};

/** All Masters that fees of a decision go to, and that of its run. */
export function mastersOf({ masterLogin, investors }: Decision): string[] {
  const owed = investors.flatMap(({ due }) => due.map((fee) => fee.masterLogin));
  return [...new Set([masterLogin, ...owed])].filter((login) => login !== "");
}
