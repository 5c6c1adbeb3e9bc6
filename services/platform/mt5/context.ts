import type { Log } from "#kernel/process/log.ts";
import type { BatchSupport } from "./batches.ts";
import type { Reader } from "./reader.ts";
import type { SessionPool } from "./session/session-pool.ts";
import type { TimeSource } from "./server-clock.ts";

/** The sessions, reader and server clock that the functions of this folder use. */
export type Mt5Context = {
  readonly pool: SessionPool;
  readonly read: Reader;
  readonly clock: TimeSource;
  readonly batches: BatchSupport;
  readonly log: Log;
};

/** The part of the context that reads use. */
export type Mt5ReadContext = Pick<Mt5Context, "read" | "clock" | "batches">;
