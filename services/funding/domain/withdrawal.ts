import type { Money } from "#kernel/money.ts";
import type { Cashflow } from "./cashflow.ts";

/** Balance and log position at the acquisition of the account lock, read together. */
export type HeldFacts = { readonly balance: Money; readonly logNumber: bigint };

/** The amounts of a withdrawal, decided once by the pool and stored before money moves. */
export type WithdrawalDecision = {
  readonly balanceBefore: Money;
  readonly pendingFee: Money;
  readonly availableAfterFee: Money;
  readonly effective: Money;
  readonly openPositionsChecked: boolean;
};

/** The current try of a withdrawal, its account lock and its decision. */
export type Withdrawal = {
  readonly try: number;
  readonly isReleased: boolean;
  readonly held: HeldFacts | undefined;
  readonly decision: WithdrawalDecision | undefined;
};

export type Saga = { readonly cashflow: Cashflow; readonly withdrawal: Withdrawal };

/** The saga of a withdrawal that has just been recorded. */
export function begunSaga(cashflow: Cashflow): Saga {
  return { cashflow, withdrawal: { try: 1, isReleased: false, held: undefined, decision: undefined } };
}
