import { type BatchQueue, batchQueue } from "#kernel/batches/batch-queue.ts";
import { isTransient } from "#kernel/postgres/failure.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { recordCashflows, type Result } from "./commands/record-cashflows.ts";
import type { NewCashflow } from "./domain/cashflow.ts";
import { markPosted, type Posted } from "./store/cashflow-transitions.ts";

/** Writes that concurrent requests share: what waits while one commit runs is in the next. */
export type CashflowQueues = {
  /** Rejects with the refusal of the operation. */
  readonly recording: BatchQueue<NewCashflow, Attempt>;
  readonly posting: BatchQueue<Posted, undefined>;
};

type Attempt = { readonly result: Exclude<Result, Error> };

/** Rows in one commit: more would only lengthen it. */
const MAX_ROWS = 64;
/** Bounds the memory; a request that finds so many others before it is refused as busy. */
const MAX_WAITING = 2_000;
const LIMITS = { maxItems: MAX_ROWS, maxWaiting: MAX_WAITING };
/** A failure of the database may be the fault of no member, and every caller repeats its own request. */
const maySplit = (error: unknown): boolean => !isTransient(error);

export function cashflowQueues(pool: Pool): CashflowQueues {
  return {
    recording: batchQueue<NewCashflow, Attempt>({
      name: "record cashflows",
      ...LIMITS,
      keyOf: ({ operationId }) => operationId,
      async run(drafts) {
        const results = await recordCashflows(pool, drafts);
        return results.map((result) => (result instanceof Error ? result : { result }));
      },
      maySplit,
    }),
    posting: batchQueue<Posted, undefined>({
      name: "post cashflows",
      ...LIMITS,
      keyOf: ({ id }) => String(id),
      async run(posted) {
        await markPosted(pool, posted);
        return posted.map(() => undefined);
      },
    }),
  };
}
