import { type BatchQueue, batchQueue } from "#kernel/batch-queue.ts";
import { isTransient } from "#kernel/postgres/failure.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { type Draft, recordCashflows, type Result } from "./commands/record-cashflows.ts";
import { markPosted, type Posted } from "./store/cashflow-transitions.ts";
import { type DecidedTry, type HeldTry, markLeaving, markPaying } from "./store/withdrawals.ts";

/** Writes that concurrent requests share: what waits while one commit runs is in the next. */
export type CashflowQueues = {
  /** Rejects with the refusal of the operation. */
  readonly recording: BatchQueue<Draft, Attempt>;
  readonly leaving: BatchQueue<HeldTry, Moved>;
  readonly paying: BatchQueue<DecidedTry, Moved>;
  readonly posting: BatchQueue<Posted, undefined>;
};

type Attempt = { readonly result: Exclude<Result, Error> };

/** Whether the row was in the expected state; if not, another process has moved it on. */
type Moved = { readonly isMoved: boolean };

/** Rows in one commit: more would only lengthen it. */
const MAX_ROWS = 64;
/** Bounds the memory; a request that finds so many others before it is refused as busy. */
const MAX_WAITING = 2_000;
const LIMITS = { maxItems: MAX_ROWS, maxWaiting: MAX_WAITING };
/** A failure of the database may be the fault of no member, and every caller repeats its own request. */
const maySplit = (error: unknown): boolean => !isTransient(error);

export function cashflowQueues(pool: Pool): CashflowQueues {
  return {
    recording: batchQueue<Draft, Attempt>({
      name: "record cashflows",
      ...LIMITS,
      keyOf: ({ operationId }) => operationId,
      async run(drafts) {
        const results = await recordCashflows(pool, drafts);
        return results.map((result) => (result instanceof Error ? result : { result }));
      },
      maySplit,
    }),
    leaving: movingQueue<HeldTry>("mark leaving", (held) => markLeaving(pool, held)),
    paying: movingQueue<DecidedTry>("mark paying", (decided) => markPaying(pool, decided)),
    posting: batchQueue<Posted, undefined>({
      name: "post cashflows",
      ...LIMITS,
      keyOf: idOf,
      async run(posted) {
        await markPosted(pool, posted);
        return posted.map(() => undefined);
      },
    }),
  };
}

function movingQueue<Item extends { readonly id: bigint }>(
  name: string,
  move: (items: readonly Item[]) => Promise<bigint[]>,
): BatchQueue<Item, Moved> {
  return batchQueue<Item, Moved>({
    name,
    ...LIMITS,
    keyOf: idOf,
    async run(items) {
      const moved = new Set(await move(items));
      return items.map(({ id }) => ({ isMoved: moved.has(id) }));
    },
    maySplit,
  });
}

function idOf({ id }: { readonly id: bigint }): string {
  return String(id);
}
