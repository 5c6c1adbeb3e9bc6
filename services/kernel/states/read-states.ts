import { BROKER_CALLER } from "#catalogue/services.ts";
import type { Permissions } from "../contract/contract.ts";
import type { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { type FeedReader, feedReader } from "../feed/read.ts";
import type { Pool } from "../postgres/pool.ts";
import { StateChanged } from "#proto/pamm/common/v1/state.ts";
import { usdToProto } from "../contract/money.ts";
import { publishAll } from "../feed/publish.ts";
import { execute, many, maybeOne, sql } from "../postgres/query.ts";
import { inTransaction, type Transaction } from "../postgres/transaction.ts";

/** The edge reads states over the broker, and no other feed. */
export const STATE_READERS: Permissions<typeof FeedServiceService> = { read: [BROKER_CALLER] };

/** Serves the feed of states. Each read first moves there what was noted before it, so no job has to look for it. */
export function stateReader(pool: Pool, feed: string): FeedReader {
  const reader = feedReader(pool, [feed]);
  return {
    async read(request) {
      if (request.feed === feed) await publishStateChanges(pool, feed);
      return await reader.read(request);
    },
  };
}

/** Rows that one transaction moves into the feed. */
const MAX_MOVED = 500;
/** More are left to the next read. */
const MAX_BATCHES = 20;

type NotedChange = Omit<StateChanged, "amount"> & {
  readonly id: bigint;
  readonly amountMinor: bigint | null;
  /** The transaction that noted it. */
  readonly notedBy: string;
};

/** Moves what triggers have noted (state-changes.sql) into the feed, which numbers it. A crash leaves it noted. */
async function publishStateChanges(pool: Pool, feed: string): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    const noted = await maybeOne(pool, sql`select id from state_change order by id limit 1`);
    if (noted === undefined) return;
    const count = await inTransaction(pool, (tx) => moveChanges(tx, feed));
    if (count < MAX_MOVED) return;
  }
}

/**
 * In the order of the ids. Of two changes of one row the second was noted after the first was committed, so a snapshot with the second one
 * has both. The lock keeps the order between processes.
 */
async function moveChanges(tx: Transaction, feed: string): Promise<number> {
  await execute(tx, sql`select pg_advisory_xact_lock(hashtextextended(${feed}, 0))`);
  const changes = await many<NotedChange>(
    tx,
    sql`with taken as (select id from state_change order by id limit ${MAX_MOVED})
        delete from state_change as change
        using taken
        where change.id = taken.id
        returning change.id, kind, state, subject, noted_at as "notedAt", login, master_login as "masterLogin",
                  operation_id as "operationId", amount_minor as "amountMinor", deal_id as "dealId", reason,
                  change.xmin::text as "notedBy"`,
  );
  const inOrder = changes.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  publishAll(
    tx,
    visible(inOrder).map((change) => ({ feed, event: StateChanged, message: messageOf(change) })),
  );
  return changes.length;
}

/** Without states that were left again in the transaction that reached them: no caller could see them. */
function visible(changes: readonly NotedChange[]): NotedChange[] {
  const subjectOf = ({ kind, subject, notedBy }: NotedChange): string => JSON.stringify([kind, subject, notedBy]);
  const last = new Map(changes.map((change) => [subjectOf(change), change]));
  return changes.filter((change) => last.get(subjectOf(change)) === change);
}

function messageOf({ id: _id, notedBy: _notedBy, amountMinor, ...change }: NotedChange): StateChanged {
  return { ...change, amount: amountMinor === null ? undefined : usdToProto(amountMinor) };
}
