import assert from "node:assert/strict";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook } from "../../domain/books.ts";
import { inPart } from "../../domain/pool/others.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { saveAccounts } from "../../store/books.ts";
import { takeBackFlows } from "../../store/flows.ts";
import { lockMaster } from "../../store/masters.ts";
import { lockUnitPool, saveUnitPool } from "../../store/unit-pools.ts";
import { endSubscriptions } from "../exit/end-subscriptions.ts";
import type { Departing } from "./departing.ts";
import { type FlatOutflow, takeOutFlat } from "../../domain/pool/take-out.ts";
import { changeAccount, combine, type HoldingChange, move, sumOfReserves } from "../../domain/buckets.ts";

/** The pool of one Master, or a part of it, struck and saved, with the decided departures of its Investors. */
type DecidedDepartures = {
  readonly masterLogin: string;
  readonly pool: UnitPool;
  readonly departing: readonly Departing[];
  readonly at: Date;
};

/** Takes the decided amounts out of a pool: what is taken stops trading at once, by one strike for all. */
export async function takeOutOfPool(tx: Transaction, deps: Deps, decided: DecidedDepartures): Promise<void> {
  const { masterLogin, departing, at } = decided;
  const exits = departing.filter(({ departure }) => departure.kind === "EXIT");
  const outflows = departing.map(outflowOf);
  const taken = inPart(() => takeOutFlat(decided.pool, outflows));
  const pool = taken === undefined ? await lockWhole(tx, masterLogin) : decided.pool;
  const after = taken ?? takeOutFlat(pool, outflows);
  for (const { books } of exits) {
    const { subscriptionId, buckets } = books.holding;
    const { inbound } = buckets;
    assert.equal(await takeBackFlows(tx, subscriptionId, inbound), inbound, "only what waits for a deficit is inbound");
  }
  await saveAccounts(tx, exits.map(accountOutside));
  await saveUnitPool(tx, masterLogin, { before: pool, after, besides: departing.map(besideThePool) });
  await endSubscriptions(
    tx,
    deps,
    exits.map(({ departure }) => departure),
    at,
  );
}

async function lockWhole(tx: Transaction, masterLogin: string): Promise<UnitPool> {
  const master = await lockMaster(tx, masterLogin);
  assert(master !== undefined, "a pool belongs to a Master");
  return await lockUnitPool(tx, master);
}

/** Fees and payout are reserved: they stay on the Master until their debits show in the log. Of an exit the whole share leaves. */
function outflowOf({ departure, books, decision }: Departing): FlatOutflow {
  const { subscriptionId, buckets } = books.holding;
  const isLast = departure.kind === "EXIT";
  return { subscriptionId, amount: isLast ? buckets.pooled : sumOfReserves(decision), isLast };
}

/** What was pooled is reserved and, of an exit, outbound; inflows that wait for the end of a deficit go back. */
function besideThePool({ books: { holding }, buckets }: Departing): HoldingChange {
  const { subscriptionId, buckets: before } = holding;
  return {
    subscriptionId,
    inbound: buckets.inbound - before.inbound,
    reserved: buckets.reserved - before.reserved,
    outbound: buckets.outbound - before.outbound,
  };
}

/**
 * The account of an Investor that has left the pool. External funds on it, and inflows that wait for the end of a deficit, become the
 * Investor's own money.
 */
function accountOutside({ books: { account, holding }, decision }: Departing): AccountBook {
  const gained = combine(
    { outside: decision.numbers.effective },
    move("inbound", "outside", holding.buckets.inbound),
    move("quarantined", "outside", account.buckets.quarantined),
  );
  const buckets = changeAccount(account.buckets, gained);
  return { ...account, buckets, toAdopt: 0n, cause: undefined, pooledIn: undefined };
}
