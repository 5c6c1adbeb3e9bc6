import { isRestartOf } from "#kernel/postgres/database-identity.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { lostAfterMs, PERMIT_MS } from "../domain/permit.ts";
import { beginGeneration, findReadDatabase, openPermitGate } from "../store/permit-gate.ts";

/** Opens the gate of permits when a reader has caught up, and a quiet period after its process began to watch the database if it is another one. */
export class GateOpener {
  readonly #deps: Deps;
  #opens: "at_once" | "after_quiet_period" | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** True when the history was read last in this database, which then lacks no commit. */
  async start(): Promise<boolean> {
    const { pool, sender } = this.#deps;
    const { database } = sender;
    // Not the state of the gate: a reader that has ended may have stopped permits before it had read everything.
    const last = await findReadDatabase(pool);
    if (last !== database) {
      this.#opens = last === undefined || isRestartOf(last, database) ? "at_once" : "after_quiet_period";
    }
    return last === database;
  }

  /**
   * All deals are filed, so those that the database does not know have stopped permits already; an account whose deals could not all be filed
   * gets no permit until they are. Each process learns of it by its heartbeat. `begunAtMs`: when that reading began.
   */
  async noteCaughtUp(begunAtMs: number): Promise<void> {
    const { pool, sender, settings } = this.#deps;
    if (this.#opens === undefined) return;
    // The last permit that the database has lost was granted before this process began to watch it.
    const quietFromMs =
      lostAfterMs(sender.clock.steadySinceMs + PERMIT_MS, settings.commandTimeoutMs) + settings.quietPeriodMs;
    if (this.#opens === "after_quiet_period" && begunAtMs < quietFromMs) return;
    const mayLackCommits = this.#opens === "after_quiet_period";
    await inTransaction(pool, async (tx) => {
      await openPermitGate(tx, sender.database);
      if (mayLackCommits) await beginGeneration(tx);
    });
    this.#opens = undefined;
  }
}
