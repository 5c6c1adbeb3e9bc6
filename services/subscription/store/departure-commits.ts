import { batchQueue, type BatchQueue } from "#kernel/batches/batch-queue.ts";
import type { Clock } from "#kernel/values/clock.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { type Departure, type Ended, insertDepartures, markEnded, type NewDeparture } from "./departures.ts";

/** The rows of departures that begin and end at the same time share their commits. */
export type DepartureCommits = {
  /** Undefined as of `insertDepartures`. */
  readonly begin: BatchQueue<NewDeparture, Departure | undefined>;
  readonly end: BatchQueue<Ended, undefined>;
};

/** Departures of one commit: more would only lengthen it. */
const MAX_DEPARTURES = 64;
/** Bounds the memory; a departure that finds so many others before it is refused as busy. */
const MAX_WAITING = 2_000;

export function departureCommits(pool: Pool, now: Clock): DepartureCommits {
  const limits = { maxItems: MAX_DEPARTURES, maxWaiting: MAX_WAITING };
  return {
    begin: batchQueue({
      ...limits,
      name: "begin departures",
      keyOf: ({ investorLogin }) => investorLogin,
      async run(fresh) {
        const begun = new Map((await insertDepartures(pool, fresh)).map((each) => [each.operationId, each]));
        return fresh.map(({ operationId }) => begun.get(operationId));
      },
    }),
    end: batchQueue({
      ...limits,
      name: "end departures",
      async run(ended) {
        await markEnded(pool, ended, now());
        return ended.map(() => undefined);
      },
    }),
  };
}
