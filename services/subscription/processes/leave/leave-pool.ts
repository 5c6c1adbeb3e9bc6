import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { changeAccount, combine, type HoldingBuckets, move } from "../../domain/buckets.ts";
import { afterExit, afterWithdrawal, sumOfReserves } from "../../domain/leave-buckets.ts";
import type { UnitPool } from "../../domain/pool/unit-pool.ts";
import { type FlatOutflow, takeOutFlat } from "../../domain/take-out-flat.ts";
import { saveAccounts } from "../../store/books.ts";
import { saveHoldings } from "../../store/holdings.ts";
import { saveUnitPool } from "../../store/unit-pools.ts";
import { type Exited, recordExits } from "../exit/record-exits.ts";
import type { Leaving } from "./leaving.ts";

/** The pool of one Master, locked, with the decided leaves of its Investors. */
export type DecidedLeaves = { readonly pool: UnitPool; readonly leaving: readonly Leaving[]; readonly at: Date };

/** Takes the decided amounts out of a pool: what is taken stops trading at once, by one strike for all. */
export async function leavePool(tx: Transaction, deps: Deps, { pool, leaving, at }: DecidedLeaves): Promise<void> {
  const [first] = leaving;
  if (first === undefined) return;
  const exits = leaving.filter(({ leave }) => leave.kind === "EXIT").map(exit);
  const withdrawals = leaving.filter(({ leave }) => leave.kind === "WITHDRAWAL").map(reserve);
  const changes = [...exits, ...withdrawals];
  const after = takeOutFlat(
    withoutWaiting(pool, exits),
    changes.map(({ outflow }) => outflow),
  );
  const holdings = new Map(after.holdings.map((holding) => [holding.subscriptionId, holding]));
  await saveAccounts(
    tx,
    exits.map(({ account }) => account),
  );
  await saveUnitPool(tx, first.leave.masterLogin, pool, after);
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
 * is applied. External funds on the account become the Investor's own money.
 */
function exit(leaving: Leaving): Change & Exited {
  const { account, holding } = leaving.books;
  const { subscriptionId, masterLogin } = holding;
  const { amount, buckets } = afterExit(holding.buckets, leaving.decision);
  const gained = combine({ outside: amount }, move("quarantined", "outside", account.buckets.quarantined));
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
