import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { formatAmount, usd } from "#kernel/money.ts";
import { actionNotPossible } from "#kernel/review/refusals.ts";
import type { Deps } from "../../deps.ts";
import { catchUp } from "../filing/catch-up.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { ReviewCase } from "#kernel/review/case-row.ts";

/** An account at a log position; its log is filed up to there. Amounts in cents. */
export type AccountReading = {
  /** The time just before the request. */
  readonly requestedAt: Date;
  readonly logNumber: bigint;
  readonly balance: bigint;
  readonly logBalance: bigint;
  readonly openPositions: number;
  /** Balance and open positions equal those computed from the log. */
  readonly isComplete: boolean;
};

/** Accounts by login, read before the transaction of a decision; no service is called inside it. */
export type Readings = ReadonlyMap<string, AccountReading>;

export async function readAccounts(deps: Deps, logins: readonly string[], context: CallContext): Promise<Readings> {
  const readings = new Map<string, AccountReading>();
  for (const login of new Set(logins)) {
    const requestedAt = deps.now();
    const read = await deps.platform.readAccount({ login }, context);
    await catchUp(deps, { login, upTo: read.logNumber }, context);
    readings.set(login, {
      requestedAt,
      logNumber: read.logNumber,
      balance: moneyFromProto(read.balance, "balance").minor,
      logBalance: moneyFromProto(read.logBalance, "log_balance").minor,
      openPositions: read.positions.length,
      isComplete: read.complete,
    });
  }
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
  for (const [login, { isComplete, balance, logBalance }] of readings) {
    if (isComplete) continue;
    const difference = formatAmount(usd(balance - logBalance));
    throw actionNotPossible(
      balance === logBalance
        ? `The open positions of ${login} differ from those in its log.`
        : `The balance of ${login} differs by ${difference} from its log.`,
    );
  }
}

/** The deal that the vote names, and the time of the decision. */
export type Wanted = { readonly dealId: bigint; readonly at: Date };

/** One action that operators may decide. */
export type Effect = {
  /** Logins of the accounts to read before. */
  readonly readsOf: (reviewCase: ReviewCase) => readonly string[];
  /** Logins of accounts that have to be in dollars and cents, though they may differ from their logs. */
  readonly inDollars?: (reviewCase: ReviewCase) => readonly string[];
  /** Throws actionNotPossible when the action may not be proposed. */
  readonly examine: (reviewCase: ReviewCase, wanted: Wanted, readings: Readings) => void;
  /** What of a proposal only the books can say; throws actionNotPossible. */
  readonly propose?: (
    tx: Transaction,
    proposal: { readonly reviewCase: ReviewCase; readonly wanted: Pick<Wanted, "dealId"> },
  ) => Promise<void>;
  /** Runs in the transaction of the decision; throws actionNotPossible when the books do not allow it now. */
  readonly carryOut: (
    tx: Transaction,
    deps: Deps,
    saga: { readonly reviewCase: ReviewCase; readonly wanted: Wanted; readonly readings: Readings },
  ) => Promise<void>;
};
