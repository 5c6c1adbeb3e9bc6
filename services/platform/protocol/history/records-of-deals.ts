import type { Transaction } from "#kernel/postgres/transaction.ts";
import { readReference } from "../../domain/reference.ts";
import { type Deal, isBalanceOperation } from "../../mt5/deals.ts";
import { listLegsOfDeals } from "../../store/legs.ts";
import type { DealRecords } from "./explain-deal.ts";

/** A trade is explained without records. */
const NO_RECORDS: DealRecords = { byTicket: undefined, reference: undefined, byReference: undefined, underWay: [] };

/** What is recorded about the deals of one commit: read for all of them together, and for each alone after a leg has changed. */
export class RecordsOfDeals {
  readonly #tx: Transaction;
  readonly #server: string;
  readonly #records: ReadonlyMap<Deal, DealRecords>;
  #hasChanged = false;

  private constructor(tx: Transaction, server: string, records: ReadonlyMap<Deal, DealRecords>) {
    this.#tx = tx;
    this.#server = server;
    this.#records = records;
  }

  static async read(tx: Transaction, server: string, deals: readonly Deal[]): Promise<RecordsOfDeals> {
    return new RecordsOfDeals(tx, server, await readRecords(tx, server, deals));
  }

  async of(deal: Deal): Promise<DealRecords> {
    const records = this.#hasChanged ? await readRecords(this.#tx, this.#server, [deal]) : this.#records;
    return records.get(deal) ?? NO_RECORDS;
  }

  /** This commit changes a leg: the records that were read before may be outdated. */
  noteChangedLeg(): void {
    this.#hasChanged = true;
  }
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
