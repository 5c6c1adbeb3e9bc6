import assert from "node:assert/strict";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { AccountBook, HoldingBook } from "../../domain/books.ts";
import { inPart } from "../../domain/pool/others.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { deleteArrivalsOf } from "../../store/arrivals.ts";
import { saveAccounts } from "../../store/books.ts";
import { insertExitTransfers } from "../../store/exit-transfers.ts";
import { takeBackFlows } from "../../store/flows.ts";
import { endWeeksIfEmpty, lockMaster } from "../../store/masters.ts";
import { cancelEmptied, moveSubscriptions } from "../../store/subscriptions.ts";
import { publishExitRequested, publishExitsCompleted, publishFollowing } from "../../messages/capital-events.ts";
import { lockUnitPool, saveUnitPool } from "../../store/unit-pools.ts";
import type { Leaver, Leaving } from "./carry-out.ts";
import { type FlatOutflow, takeOutFlat } from "../../domain/pool/take-out.ts";
import { changeAccount, combine, move, sumOfReserves } from "../../domain/buckets.ts";

/** The pool of one Master, or a part of it, struck and saved, with the decided departures of its Investors. */
type DecidedDepartures = {
  readonly masterLogin: string;
  readonly pool: UnitPool;
  readonly leaving: readonly Leaving<Leaver & { readonly holding: HoldingBook }>[];
  readonly at: Date;
};

/** Takes the decided amounts out of a pool: what is taken stops trading at once, by one strike for all. */
export async function takeOutOfPool(tx: Transaction, deps: Deps, decided: DecidedDepartures): Promise<void> {
  const { masterLogin, leaving, at } = decided;
  const exits = leaving.filter(({ departure }) => departure.kind === "EXIT");
  // Fees and payout are reserved: they stay on the Master until their debits show in the log. Of an exit the whole share leaves.
  const outflows = leaving.map(
    ({ departure: { kind }, holding: { subscriptionId, buckets }, decision }): FlatOutflow => {
      const isLast = kind === "EXIT";
      return { subscriptionId, amount: isLast ? buckets.pooled : sumOfReserves(decision), isLast };
    },
  );
  const taken = inPart(() => takeOutFlat(decided.pool, outflows));
  const pool = taken === undefined ? await lockWhole(tx, masterLogin) : decided.pool;
  const after = taken ?? takeOutFlat(pool, outflows);
  for (const { holding } of exits) {
    const { inbound } = holding.buckets;
    const isTaken = (await takeBackFlows(tx, holding.subscriptionId, inbound)) === inbound;
    assert(isTaken, "only what waits for a deficit is inbound");
  }
  await saveAccounts(tx, exits.map(accountOutside));
  const besides = leaving.map(({ holding: { subscriptionId }, change }) => ({ ...change, pooled: 0n, subscriptionId }));
  await saveUnitPool(tx, masterLogin, { before: pool, after, besides });
  await endSubscriptions(tx, deps, exits, at);
}

async function lockWhole(tx: Transaction, masterLogin: string): Promise<UnitPool> {
  const master = await lockMaster(tx, masterLogin);
  assert(master !== undefined, "a pool belongs to a Master");
  return await lockUnitPool(tx, master);
}

/**
 * The account of an Investor that has left the pool. External funds on it, and inflows that wait for the end of a deficit, become the
 * Investor's own money.
 */
function accountOutside({ account, holding, decision }: DecidedDepartures["leaving"][number]): AccountBook {
  const gained = combine(
    { outside: decision.numbers.effective },
    move("inbound", "outside", holding.buckets.inbound),
    move("quarantined", "outside", account.buckets.quarantined),
  );
  const buckets = changeAccount(account.buckets, gained);
  return { ...account, buckets, toAdopt: 0n, cause: undefined, pooledIn: undefined };
}

/** Ends the subscriptions of those who have left the pool. */
async function endSubscriptions(
  tx: Transaction,
  { wakeSignals }: Deps,
  exits: DecidedDepartures["leaving"],
  at: Date,
): Promise<void> {
  const left = exits.map(({ departure: { investorLogin, requestId }, holding, decision }) => {
    const { subscriptionId, masterLogin } = holding;
    return { subscriptionId, masterLogin, investorLogin, requestId, amount: decision.numbers.effective };
  });
  const [first] = left;
  if (first === undefined) return;
  const ids = left.map(({ subscriptionId }) => subscriptionId);
  await deleteArrivalsOf(tx, ids);
  assert(await moveSubscriptions(tx, ids, { from: "ACTIVE", to: "PAUSED" }), "only an active subscription can be left");
  for (const { investorLogin } of left) publishFollowing(tx, { investorLogin, masterLogin: "" });
  await endWeeksIfEmpty(tx, first.masterLogin);
  const transfers = await insertExitTransfers(tx, left, at);
  for (const exit of left) {
    const exitTransferId = transfers.find(({ subscriptionId }) => subscriptionId === exit.subscriptionId)?.id;
    publishExitRequested(tx, { ...exit, exitTransferId, at });
  }
  publishExitsCompleted(tx, await cancelEmptied(tx, ids, at));
  if (transfers.length > 0) afterCommit(tx, wakeSignals.exits.notify);
}
