import { formatMinor } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { correctTrades } from "../domain/open-positions.ts";
import type { Deal } from "../mt5/deals.ts";
import type { Account } from "../store/accounts.ts";
import { listOpenPositions } from "../store/positions.ts";
import type { Facts } from "../protocol/history/read-facts.ts";
import { dealDifference, type DealDifference } from "./deal-difference.ts";
import { findRecordedDeal, type RecordedDeal } from "./recorded-deal.ts";

/**
 * The deals of one account that are examined together; each is one request to the platform. When more were amended, the
 * operator corrects the history of the platform instead.
 */
export const MAX_AMENDED_DEALS = 100;

/** An account and its uncorrected amended deals, as the platform shows them now. */
export type CorrectionView = {
  readonly server: string;
  readonly facts: Facts;
  readonly shown: ReadonlyMap<bigint, Deal | undefined>;
};

export type Correction = { readonly recorded: RecordedDeal | undefined; readonly difference: DealDifference };

/** The correction of each deal, by ticket. */
export async function planCorrections(
  tx: Transaction,
  login: string,
  { server, shown }: CorrectionView,
): Promise<ReadonlyMap<bigint, Correction>> {
  const plans = new Map<bigint, Correction>();
  for (const [ticket, deal] of shown) {
    const recorded = await findRecordedDeal(tx, server, login, ticket);
    plans.set(ticket, { recorded, difference: dealDifference({ login, ticket }, recorded?.deal, deal) });
  }
  return plans;
}

/** Why the log would still differ from the account after these corrections; undefined when both would be equal. */
export async function findMisfit(
  tx: Transaction,
  account: Account,
  facts: Facts,
  all: readonly Correction[],
): Promise<string | undefined> {
  const { login, undecidedFrom, logBalance } = account;
  if (undecidedFrom !== undefined) {
    return `A deal of ${login} is not classified yet, which takes seconds. Nothing was changed. Propose it again in a second.`;
  }
  const corrected = all.reduce((sum, each) => sum + netOf(each), logBalance.minor);
  if (corrected !== facts.balanceMinor) {
    const differs = `The trading platform shows ${formatMinor(facts.balanceMinor)} on ${login}, but its history sums to ${formatMinor(corrected)}`;
    return `${differs}. Correct the balance on the trading platform first.`;
  }
  if (await arePositionsShown(tx, login, facts, all)) return undefined;
  const differ = `The open positions of ${login} differ from its history`;
  return `${differ}. Correct the positions on the trading platform first.`;
}

async function arePositionsShown(
  tx: Transaction,
  login: string,
  { positions }: Facts,
  all: readonly Correction[],
): Promise<boolean> {
  const before = await listOpenPositions(tx, login);
  const corrected = correctTrades(
    before,
    all.map(({ difference }) => difference),
  );
  const volumes = new Map([...before, ...corrected].map(({ positionId, volume }) => [positionId, volume]));
  for (const { ticket, volume } of positions) volumes.set(ticket, (volumes.get(ticket) ?? 0n) - volume);
  return [...volumes.values()].every((volume) => volume === 0n);
}

/** What a correction adds to the sum of the log. */
function netOf({ recorded, difference: { amountMinor } }: Correction): bigint {
  return amountMinor + (recorded?.lacking?.amount.minor ?? 0n);
}
