import type { Reader } from "./reader.ts";
import type { SessionPool } from "./session/session-pool.ts";
import type { TimeSource } from "./server-clock.ts";

/** What the functions of this folder work on. */
export type Mt5Context = {
  readonly pool: SessionPool;
  readonly read: Reader;
  readonly clock: TimeSource;
};

/** What reads need: a reader, and the server's clock to convert times. */
export type Mt5Questions = Pick<Mt5Context, "read" | "clock">;
