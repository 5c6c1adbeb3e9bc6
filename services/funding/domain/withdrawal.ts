import type { Money } from "#kernel/money.ts";

/** What Hold answered: balance and place in the log, one fact. */
export type HeldFacts = { readonly balance: Money; readonly logNumber: bigint };

/** The numbers of a withdrawal, decided once by the pool and stored before anything moves. */
export type WithdrawalDecision = {
  readonly balanceBefore: Money;
  readonly pendingFee: Money;
  readonly availableAfterFee: Money;
  readonly effective: Money;
  readonly openPositionsChecked: boolean;
};

/** What the account lock of a withdrawal has come to. */
export type Withdrawal = {
  readonly try: number;
  readonly isReleased: boolean;
  readonly held: HeldFacts | undefined;
  readonly decision: WithdrawalDecision | undefined;
};
