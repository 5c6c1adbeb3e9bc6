import { formatDecimal, usd } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { correctTrades } from "../domain/log-positions.ts";
import type { Deal } from "../mt5/deals.ts";
import type { Account } from "../store/accounts.ts";
import { listLogPositions } from "../store/positions.ts";
import type { Facts } from "../protocol/history/read-facts.ts";
import { dealDifference, type DealDifference } from "./deal-difference.ts";
import { findRecordedDeal, type RecordedDeal } from "./recorded-deal.ts";

/** The account, and every deal of it whose past is another one and was not corrected, as the platform shows them now. */
export type CorrectionSight = {
  readonly server: string;
  readonly facts: Facts;
  readonly shown: ReadonlyMap<bigint, Deal | undefined>;
};

export type Correction = { readonly told: RecordedDeal | undefined; readonly difference: DealDifference };

/** What each of the deals would be corrected to. */
export async function planCorrections(
  tx: Transaction,
  login: string,
  { server, shown }: CorrectionSight,
): Promise<ReadonlyMap<bigint, Correction>> {
  const plans = new Map<bigint, Correction>();
  for (const [ticket, deal] of shown) {
    const told = await findRecordedDeal(tx, server, login, ticket);
    plans.set(ticket, { told, difference: dealDifference({ login, ticket }, told?.deal, deal) });
  }
  return plans;
}

/** Why the account would still not be what its log says after these corrections; undefined when it would. */
export async function findMisfit(
  tx: Transaction,
  account: Account,
  facts: Facts,
  all: readonly Correction[],
): Promise<string | undefined> {
  const { login, undecidedFrom, logBalance } = account;
  if (undecidedFrom !== undefined) return `A deal of ${login} is not decided yet. Retry shortly.`;
  const corrected = all.reduce((sum, each) => sum + netOf(each), logBalance.minor);
  if (corrected !== facts.balanceMinor) {
    const differs = `The trading platform shows ${text(facts.balanceMinor)} on ${login}, but its history sums to ${text(corrected)}`;
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
  const before = await listLogPositions(tx, login);
  const corrected = correctTrades(
    before,
    all.map(({ difference }) => difference),
  );
  const volumes = new Map([...before, ...corrected].map(({ positionId, volume }) => [positionId, volume]));
  for (const { ticket, volume } of positions) volumes.set(ticket, (volumes.get(ticket) ?? 0n) - volume);
  return [...volumes.values()].every((volume) => volume === 0n);
}

/** What a correction adds to the sum of the log. */
function netOf({ told, difference: { amountMinor } }: Correction): bigint {
  return amountMinor + (told?.lacking?.amount.minor ?? 0n);
}

function text(minor: bigint): string {
  return formatDecimal(usd(minor));
}
