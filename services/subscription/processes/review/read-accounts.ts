import type { CallContext } from "#kernel/contract/contract.ts";
import { formatAmount, usd } from "#kernel/values/money.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { Deps } from "../../deps.ts";
import { type MasterReading, readMaster } from "../allocate/read-master.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";

/** Accounts by login, read before the transaction of a decision; no service is called inside it. */
export type Readings = ReadonlyMap<string, MasterReading>;

export async function readAccounts(deps: Deps, logins: readonly string[], context: CallContext): Promise<Readings> {
  const readings = new Map<string, MasterReading>();
  for (const login of new Set(logins)) readings.set(login, await readMaster(deps, login, context));
  return readings;
}

/** Throws actionNotPossible when an account is in another currency. Answered from tables of platform. */
export async function expectDollars(
  { platform }: Pick<Deps, "platform">,
  logins: readonly string[],
  context: CallContext,
): Promise<void> {
  if (logins.length === 0) return;
  const positions = [...new Set(logins)].map((login) => ({ login, number: 0n }));
  const { balances } = await platform.readLogBalances({ positions }, context);
  const foreign = balances.find(({ otherCurrency }) => otherCurrency);
  if (foreign === undefined) return;
  throw actionNotPossible(`Account ${foreign.login} is not in USD with two digits on the trading platform.`);
}

/** Throws actionNotPossible unless each account equals its log. */
export function expectComplete(readings: Readings): void {
  for (const [login, { isComplete, difference }] of readings) {
    if (isComplete) continue;
    throw actionNotPossible(
      difference === 0n
        ? `The open positions of ${login} differ from those in its log.`
        : `The balance of ${login} differs by ${formatAmount(usd(difference))} from its log.`,
    );
  }
}

/** What operators vote about: the ticket that the vote names, and the accounts as they were read. */
export type Decision = {
  readonly reviewCase: ReviewCase;
  readonly dealId: bigint;
  readonly at: Date;
  readonly readings: Readings;
};

/** One action that operators may decide. */
export type Effect = {
  /** Logins of the accounts to read before. */
  readonly readsOf?: (reviewCase: ReviewCase) => readonly string[];
  /** Logins of accounts that have to be in dollars and cents, though they may differ from their logs. */
  readonly inDollars?: (reviewCase: ReviewCase) => readonly string[];
  /** Throws actionNotPossible when the action may not be proposed, or confirmed. */
  readonly examine?: (tx: Transaction, decision: Decision) => Promise<void> | void;
  /** Runs in the transaction of the decision; throws actionNotPossible when the books do not allow it now. */
  readonly carryOut: (tx: Transaction, deps: Deps, decision: Decision) => Promise<void>;
};
