import { column, execute, many, sql, type Statement, unnest } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type AccountBook, type Books, emptyOutcome, type ExternalCause, type PoolBook } from "../domain/books.ts";
import { importedFeeKey } from "./fees.ts";
import { loadOpenTransfers } from "./open-transfers.ts";
import { lockHoldings } from "./holdings.ts";
import { listOpenReserves, listReservesWithKey } from "./reserves.ts";

export type BooksQuery = {
  readonly investorLogins: readonly string[];
  readonly masterLogins: readonly string[];
  /** Investors whose movements may stop their Master. */
  readonly stoppingLogins?: readonly string[];
  /** Keys of debits of Investors, and of transfers of Masters; keys of other services match no row. */
  readonly reserveKeys?: readonly string[];
  readonly transferKeys?: readonly string[];
  /** Investors with an imported fee: it may be one for which a reserve is open. */
  readonly importedFeesOf?: readonly string[];
};

/**
 * Loads everything that filing these movements can change, locked until commit. All transactions lock in the same
 * order: pools, then accounts, then holdings, each by ascending key.
 */
export async function lockBooks(tx: Transaction, query: BooksQuery): Promise<Books> {
  const poolsToStop = await listPoolsOf(tx, query.stoppingLogins ?? []);
  const pools = await lockPools(tx, [...query.masterLogins, ...poolsToStop]);
  const accounts = await lockAccounts(tx, query.investorLogins);
  const ofImported = await listOpenReserves(tx, query.importedFeesOf ?? []);
  const reserves = [...(await listReservesWithKey(tx, query.reserveKeys ?? [])), ...ofImported];
  const transfers = await loadOpenTransfers(tx, query.transferKeys ?? []);
  const holdingIds = new Set<bigint>();
  for (const { pooledIn } of accounts) if (pooledIn !== undefined) holdingIds.add(pooledIn);
  for (const { subscriptionId } of reserves) holdingIds.add(subscriptionId);
  for (const { flows } of transfers) for (const { subscriptionId } of flows) holdingIds.add(subscriptionId);
  const holdings = await lockHoldings(tx, [...holdingIds]);
  return {
    accounts: new Map(accounts.map((account) => [account.login, account])),
    pools: new Map(pools.map((pool) => [pool.login, pool])),
    holdings: new Map(holdings.map((holding) => [holding.subscriptionId, holding])),
    reserves: new Map([
      ...reserves.map((reserve) => [reserve.key, reserve] as const),
      ...ofImported.map((reserve) => [importedFeeKey(reserve.key), reserve] as const),
    ]),
    transfers: new Map(transfers.map((transfer) => [transfer.key, transfer])),
    outcome: emptyOutcome(),
  };
}

/** Read without locks: filing is repeated if an Investor is in another pool when its account is locked. */
async function listPoolsOf(tx: Transaction, investorLogins: readonly string[]): Promise<string[]> {
  if (investorLogins.length === 0) return [];
  return await column<string>(
    tx,
    sql`select distinct holding.master_login as login
        from investor_account as account join holding on holding.subscription_id = account.pooled_subscription_id
        where account.login = any(${investorLogins}::text[])`,
  );
}

/** JSON has no bigint. */
type CauseRow = Omit<ExternalCause, "amount"> & { readonly amount: string };

function causeOf(row: CauseRow | null): ExternalCause | undefined {
  return row === null ? undefined : { ...row, amount: BigInt(row.amount) };
}

function causeText(cause: ExternalCause | undefined): string | undefined {
  return cause && JSON.stringify({ ...cause, amount: cause.amount.toString() } satisfies CauseRow);
}

type Locked<Book> = {
  readonly lock: (tx: Transaction, logins: readonly string[]) => Promise<Book[]>;
  readonly insert: (logins: readonly string[]) => Statement;
};

/** Locks rows. An unknown login gets one; its log is then filed from the opening. */
async function lockAll<Book>(tx: Transaction, logins: readonly string[], rows: Locked<Book>): Promise<Book[]> {
  if (logins.length === 0) return [];
  const sorted = [...new Set(logins)].sort();
  const known = await rows.lock(tx, sorted);
  if (known.length === sorted.length) return known;
  await execute(tx, rows.insert(sorted));
  return await rows.lock(tx, sorted);
}

type AccountRow = Pick<AccountBook, "login" | "filedNumber" | "movedNumber" | "toAdopt"> &
  AccountBook["buckets"] & {
    readonly cause: CauseRow | null;
    readonly postingNumber: bigint;
    readonly inFlight: bigint | null;
    readonly pooledIn: bigint | null;
  };

export async function lockAccounts(tx: Transaction, logins: readonly string[]): Promise<AccountBook[]> {
  return await lockAll(tx, logins, {
    lock: lockKnownAccounts,
    insert: (unknown) => sql`
      insert into investor_account (login) select login from unnest(${unknown}::text[]) as wanted (login) order by login on conflict do nothing`,
  });
}

async function lockKnownAccounts(tx: Transaction, logins: readonly string[]): Promise<AccountBook[]> {
  const rows = await many<AccountRow>(
    tx,
    sql`select login, filed_number as "filedNumber", moved_number as "movedNumber",
               to_adopt_minor as "toAdopt", cause, outside_minor as outside, quarantined_minor as quarantined, unposted_minor as unposted,
               posting_number as "postingNumber", posting_minor as "inFlight", pooled_subscription_id as "pooledIn"
        from investor_account
        where login = any(${logins}::text[])
        order by login
        for no key update`,
  );
  return rows.map(({ outside, quarantined, unposted, postingNumber, inFlight, pooledIn, cause, ...row }) => ({
    ...row,
    cause: causeOf(cause),
    buckets: { outside, quarantined, unposted },
    postings: { number: postingNumber, inFlight: inFlight ?? undefined },
    pooledIn: pooledIn ?? undefined,
  }));
}

type PoolRow = Omit<PoolBook, "stoppedReason" | "own" | "acknowledged" | "cause"> &
  PoolBook["own"] & {
    readonly cause: CauseRow | null;
    readonly stoppedReason: string | null;
    readonly acknowledged: bigint | null;
  };

export async function lockPools(tx: Transaction, logins: readonly string[]): Promise<PoolBook[]> {
  return await lockAll(tx, logins, {
    lock: lockKnownPools,
    insert: (unknown) => sql`
      insert into master_pool (login) select login from unnest(${unknown}::text[]) as wanted (login) order by login on conflict do nothing`,
  });
}

async function lockKnownPools(tx: Transaction, logins: readonly string[]): Promise<PoolBook[]> {
  const rows = await many<PoolRow>(
    tx,
    sql`select login, filed_number as "filedNumber", external_minor as "external", external_acknowledged_minor as acknowledged, external_since as "externalSince", external_number as "externalNumber", external_deal_id as "externalDealId", own_waiting_minor as waiting, own_pooled_minor as pooled, own_unredeemed_minor as unredeemed,
               cause, imported_mirrors_minor as "importedMirrors", imported_exits_minor as "importedExits", unallocated_minor as unallocated, filed_deal_id as "filedDealId", stopped_reason as "stoppedReason",
               are_positions_known as "arePositionsKnown"
        from master_pool
        where login = any(${logins}::text[])
        order by login
        for no key update`,
  );
  return rows.map(({ waiting, pooled, unredeemed, cause, ...row }) => ({
    ...row,
    cause: causeOf(cause),
    own: { waiting, pooled, unredeemed },
    acknowledged: row.acknowledged ?? undefined,
    stoppedReason: row.stoppedReason ?? undefined,
  }));
}

/** The posting in flight is among what it saves, so that its end and the entry that ended it are one row. Then the next one may be made at once. */
export async function saveAccounts(tx: Transaction, accounts: readonly AccountBook[]): Promise<void> {
  if (accounts.length === 0) return;
  const rows = accounts.map(({ cause, buckets, postings, ...book }) => {
    return { ...book, ...buckets, ...postings, cause: causeText(cause) };
  });
  await execute(
    tx,
    sql`update investor_account
        set filed_number = book.filed_number, moved_number = book.moved_number, to_adopt_minor = book.to_adopt, cause = book.cause, outside_minor = book.outside, quarantined_minor = book.quarantined, unposted_minor = book.unposted, pooled_subscription_id = book.pooled_in,
            posting_number = book.number, posting_minor = book.in_flight,
            posting_generation = case when book.in_flight is not null then posting_generation end,
            posting_reason = case when posting_minor is null or book.in_flight is not null then posting_reason end,
            posting_next_at = case when posting_minor is not null and book.in_flight is null then '-infinity' else posting_next_at end
        from ${unnest(rows)} as book (login text, filed_number bigint, moved_number bigint, to_adopt bigint,
                     cause jsonb, outside bigint, quarantined bigint, unposted bigint, pooled_in bigint, number bigint, in_flight bigint)
        where investor_account.login = book.login`,
  );
}

export async function savePools(tx: Transaction, pools: readonly PoolBook[]): Promise<void> {
  if (pools.length === 0) return;
  const rows = pools.map(({ cause, own, ...book }) => ({ ...book, ...own, cause: causeText(cause) }));
  await execute(
    tx,
    sql`update master_pool
        set filed_number = book.filed_number, external_minor = book.external, external_acknowledged_minor = book.acknowledged, external_since = book.external_since, external_number = book.external_number, external_deal_id = book.external_deal_id, cause = book.cause, own_waiting_minor = book.waiting, own_pooled_minor = book.pooled, own_unredeemed_minor = book.unredeemed, imported_mirrors_minor = book.imported_mirrors, imported_exits_minor = book.imported_exits, unallocated_minor = book.unallocated, filed_deal_id = book.filed_deal_id,
            stopped_reason = book.stopped_reason, are_positions_known = book.are_positions_known
        from ${unnest(rows)} as book (login text, filed_number bigint, external bigint, acknowledged bigint,
                     external_since bigint, external_number bigint, external_deal_id bigint, cause jsonb, waiting bigint, pooled bigint,
                     unredeemed bigint, imported_mirrors bigint, imported_exits bigint, unallocated bigint, filed_deal_id bigint,
                     stopped_reason text, are_positions_known boolean)
        where master_pool.login = book.login`,
  );
}
