import assert from "node:assert/strict";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { changeAccount, changeHolding, combine, type HoldingBuckets, move } from "../../domain/buckets.ts";
import { afterExit, afterWithdrawal, sumOfReserves } from "../../domain/departure-buckets.ts";
import { inPart } from "../../domain/pool/others.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { type FlatOutflow, takeOutFlat } from "../../domain/take-out-flat.ts";
import { saveAccounts } from "../../store/books.ts";
import { takeBackFlows } from "../../store/flows.ts";
import { saveHoldings } from "../../store/holdings.ts";
import type { Master } from "../../store/masters.ts";
import { lockUnitPool, saveUnitPool } from "../../store/unit-pools.ts";
import { type Exited, recordExits } from "../exit/record-exits.ts";
import type { Leaving } from "./departing.ts";

/** The pool of one Master, or a part of it, locked, with the decided leaves of its Investors. */
export type DecidedDepartures = {
  readonly master: Master;
  readonly pool: UnitPool;
  readonly leaving: readonly Leaving[];
  readonly at: Date;
};

/** Takes the decided amounts out of a pool: what is taken stops trading at once, by one strike for all. */
export async function takeOutOfPool(tx: Transaction, deps: Deps, decided: DecidedDepartures): Promise<void> {
  const { master, leaving, at } = decided;
  if (leaving.length === 0) return;
  const exits = leaving.filter(({ leave }) => leave.kind === "EXIT").map(exit);
  const withdrawals = leaving.filter(({ leave }) => leave.kind === "WITHDRAWAL").map(reserve);
  const changes = [...exits, ...withdrawals];
  const outflows = changes.map(({ outflow }) => outflow);
  const takeOut = (pool: UnitPool): UnitPool => takeOutFlat(withoutWaiting(pool, exits), outflows);
  const taken = inPart(() => takeOut(decided.pool));
  const pool = taken === undefined ? await lockUnitPool(tx, master) : decided.pool;
  const after = taken ?? takeOut(pool);
  const holdings = new Map(after.holdings.map((holding) => [holding.subscriptionId, holding]));
  for (const { subscriptionId, leaving: left } of exits) {
    const { inbound } = left.books.holding.buckets;
    assert.equal(await takeBackFlows(tx, subscriptionId, inbound), inbound, "only what waits for a deficit is inbound");
  }
  await saveAccounts(
    tx,
    exits.map(({ account }) => account),
  );
  await saveUnitPool(tx, master.login, pool, after);
  await saveHoldings(
    tx,
    changes.map(({ leaving: { books }, buckets }) => {
      const unredeemed = holdings.get(books.holding.subscriptionId)?.unredeemed ?? 0n;
      return { ...books.holding, buckets, unredeemed };
    }),
  );
  await recordExits(tx, deps, exits, at);
}

type Change = { readonly leaving: Leaving; readonly buckets: HoldingBuckets; readonly outflow: FlatOutflow };

/** Reserves fees and payout: they stay on the Master until their debits show in the log. */
function reserve(leaving: Leaving): Change {
  const { subscriptionId, buckets } = leaving.books.holding;
  return {
    leaving,
    buckets: afterWithdrawal(buckets, leaving.decision),
    outflow: { subscriptionId, amount: sumOfReserves(leaving.decision), isLast: false },
  };
}

/**
 * Takes an Investor out of the pool: its fees are reserved, the rest of its share stays on the Master until the exit transfer
 * is applied. External funds on the account, and inflows that wait for the end of a deficit, become the Investor's own money.
 */
function exit(leaving: Leaving): Change & Exited {
  const { account, holding } = leaving.books;
  const { subscriptionId, masterLogin } = holding;
  const returned = move("inbound", "outside", holding.buckets.inbound);
  const { amount, buckets } = afterExit(changeHolding(holding.buckets, returned), leaving.decision);
  const gained = combine({ outside: amount }, returned, move("quarantined", "outside", account.buckets.quarantined));
  return {
    leaving,
    subscriptionId,
    masterLogin,
    amount,
    buckets,
    account: {
      ...account,
      buckets: changeAccount(account.buckets, gained),
      toAdopt: 0n,
      cause: undefined,
      pooledIn: undefined,
    },
    outflow: { subscriptionId, amount: holding.buckets.pooled, isLast: true },
  };
}

function withoutWaiting(pool: UnitPool, exits: readonly Exited[]): UnitPool {
  const left = new Set(exits.map(({ subscriptionId }) => subscriptionId));
  const holdings = pool.holdings.map((holding) =>
    left.has(holding.subscriptionId) ? { ...holding, waiting: 0n } : holding,
  );
  return { ...pool, holdings };
}
