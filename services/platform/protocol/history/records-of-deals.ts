import type { Transaction } from "#kernel/postgres/transaction.ts";
import { readReference } from "../../domain/reference.ts";
import { type Deal, isBalanceOperation } from "../../mt5/deals.ts";
import { listLegsOfDeals } from "../../store/legs.ts";
import type { DealRecords } from "./explain-deal.ts";

/** A trade is explained without records. */
const NO_RECORDS: DealRecords = { byTicket: undefined, reference: undefined, byReference: undefined, underWay: [] };

export type RecordsOfDeals = Awaited<ReturnType<typeof recordsOfDeals>>;

/** What is recorded about the deals of one commit: read for all of them together, and for each alone after a leg has changed. */
export async function recordsOfDeals(tx: Transaction, server: string, deals: readonly Deal[]) {
  const all = await readRecords(tx, server, deals);
  let hasChanged = false;
  return {
    of: async (deal: Deal): Promise<DealRecords> =>
      (hasChanged ? await readRecords(tx, server, [deal]) : all).get(deal) ?? NO_RECORDS,
    /** This commit changes a leg: the records that were read before may be outdated. */
    noteChangedLeg: (): void => void (hasChanged = true),
  };
}

async function readRecords(
  tx: Transaction,
  server: string,
  deals: readonly Deal[],
): Promise<ReadonlyMap<Deal, DealRecords>> {
  const explained = deals.filter(isBalanceOperation).map((deal) => ({ deal, reference: readReference(deal.comment) }));
  const legs = await listLegsOfDeals(
    tx,
    server,
    explained.map(({ deal: { ticket, login }, reference }) => ({ ticket, login, number: reference?.number })),
  );
  return new Map(
    explained.map(({ deal, reference }, index) => {
      const { byTicket, byNumber, underWay = [] } = legs[index] ?? {};
      return [deal, { byTicket, reference, byReference: byNumber, underWay }];
    }),
  );
}
