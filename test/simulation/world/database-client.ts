import { DatabaseError } from "pg";
import {
  connectionLost,
  connectionRefused,
  idleInTransaction,
  lockTimeout,
  terminated,
  transactionIsAborted,
} from "../postgres/failure.ts";
import type { Answer, Database, Snapshot } from "../postgres/database.ts";
import { MustWait, type Transaction } from "../postgres/transaction.ts";
import type { DatabaseServer } from "./database-server.ts";
import type { Faults } from "./faults.ts";
import { waitForEnd } from "./lock-wait.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

export type DatabaseOptions = {
  readonly database: Database;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly faults: Faults;
  /** Called when a fault ends a connection. */
  readonly onFailure: (name: string) => void;
};

/** The time-outs of kernel/postgres/pool.ts. */
const LOCK_TIMEOUT_MS = 500;
const IDLE_IN_TRANSACTION_MS = 5_000;
/** Of kernel/postgres/snapshot.ts. */
const BEGIN_SNAPSHOT = "begin isolation level repeatable read";
const USUAL_MS = 1.2;
const SLOW_MS = 40;
/** The probability of a slow statement; a commit waits for the disk. */
const SLOW_PROBABILITY = { commit: 0.15, other: 0.02 };
const DEAD_CLIENT_DETECTED_MS = 3;

export type Query = string | { readonly text: string; readonly values: readonly unknown[] };
export type Result = Answer & { readonly command: string };

/** One connection of a process to its database: the counterpart of `pg.Client`. */
export class DatabaseClient {
  readonly #options: DatabaseOptions;
  readonly #server: DatabaseServer;
  readonly #process: SimulatedProcess;
  #transaction: Transaction | undefined;
  /** What a transaction sees that reads one snapshot. */
  #view: Snapshot | undefined;
  #usedAtMs = 0;
  #isLost = false;
  #onError: (error: Error) => void = () => undefined;
  #ends: readonly Disposable[] = [];

  constructor(options: DatabaseOptions, server: DatabaseServer, process: SimulatedProcess) {
    this.#options = options;
    this.#server = server;
    this.#process = process;
  }

  on(_event: "error", listener: (error: Error) => void): void {
    this.#onError = listener;
  }

  off(): void {
    this.#onError = () => undefined;
  }

  query(query: Query): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    if (!this.#process.isRunning) return promise;
    const sql = typeof query === "string" ? query : query.text;
    if (sql === "begin" || sql.startsWith(BEGIN_SNAPSHOT)) return this.#begin(sql !== "begin");
    if (sql === "rollback") return this.#rollback();
    const values = typeof query === "string" ? [] : query.values;
    const statement: Statement = { sql, values, resolve, reject, sinceMs: this.#options.scheduler.nowMs };
    const isCommit = sql === "commit";
    this.#after(this.#latencyMs(isCommit), sql, () => (isCommit ? this.#commit(statement) : this.#execute(statement)));
    return promise;
  }

  release(): void {
    if (this.#transaction !== undefined) this.#lose();
  }

  #begin(isSnapshot: boolean): Promise<Result> {
    if (!this.#server.isUp) return Promise.reject(connectionRefused());
    const { database } = this.#options;
    this.#transaction = database.begin();
    this.#view = isSnapshot ? database.snapshot() : undefined;
    if (this.#view !== undefined) database.keep(this.#view);
    this.#transaction.expireIfIdle = () => void this.#isIdleTooLong();
    this.#usedAtMs = this.#options.scheduler.nowMs;
    this.#ends = [this.#server.connect(() => this.#lose()), this.#process.whenCrashed(() => this.#loseSoon())];
    return Promise.resolve(resultOf("BEGIN"));
  }

  /** The server detects the crash of a client a moment later; statements that it received before are still executed. */
  #loseSoon(): void {
    this.#after(DEAD_CLIENT_DETECTED_MS, "a connection ends", () => this.#lose());
  }

  #end(): void {
    this.#transaction = undefined;
    if (this.#view !== undefined) this.#options.database.release(this.#view);
    this.#view = undefined;
    for (const end of this.#ends) end[Symbol.dispose]();
    this.#ends = [];
  }

  #rollback(): Promise<Result> {
    if (this.#isLost) return Promise.reject(connectionLost());
    this.#transaction?.rollback();
    this.#end();
    return Promise.resolve(resultOf("ROLLBACK"));
  }

  #execute(statement: Statement): void {
    const { database, faults, onFailure } = this.#options;
    const own = this.#transaction;
    const problem = this.#problem() ?? problemOf(statement.started);
    if (problem !== undefined) return this.#answer(statement, problem);
    if (own !== undefined && faults.losesConnection()) {
      onFailure("lost connection");
      this.#lose();
      return this.#answer(statement, connectionLost());
    }
    statement.started ??= { tx: own ?? database.begin(), snapshot: this.#view ?? database.snapshot() };
    const { tx, snapshot } = statement.started;
    try {
      const answer = database.execute(tx, statement.sql, statement.values, snapshot);
      if (own === undefined) database.commit(tx);
      this.#answer(statement, { ...answer, command: "" });
    } catch (error) {
      if (error instanceof MustWait) {
        database.keep(snapshot);
        error.blocker.expireIfIdle();
        return error.blocker.state === "over" ? this.#execute(statement) : this.#wait(statement, error.blocker, own);
      }
      // A statement that the simulated database cannot read is a defect of the simulation, not an answer.
      if (!(error instanceof DatabaseError)) throw error;
      if (own === undefined) tx.rollback();
      else own.state = "failed";
      this.#answer(statement, error);
    }
  }

  /** Runs the statement again when the other transaction has ended, or fails when that takes too long. */
  #wait(statement: Statement, blocker: Transaction, own: Transaction | undefined): void {
    const { scheduler, random } = this.#options;
    const { tx } = statement.started!;
    const forMs = statement.sinceMs + LOCK_TIMEOUT_MS - scheduler.nowMs;
    const ended = own === undefined ? this.#server.connect(() => tx.rollback()) : undefined;
    const retry = (): void => {
      ended?.[Symbol.dispose]();
      this.#execute(statement);
    };
    waitForEnd({ scheduler, random, blocker, forMs }, retry, () => {
      ended?.[Symbol.dispose]();
      if (own?.state === "active") own.state = "failed";
      if (own === undefined) tx.rollback();
      this.#answer(statement, lockTimeout());
    });
  }

  #commit(statement: Statement): void {
    const { database, faults, onFailure } = this.#options;
    const tx = this.#transaction;
    const problem = this.#problem();
    if (problem !== undefined || tx === undefined) return this.#answer(statement, problem ?? connectionLost());
    if (tx.state === "failed") {
      tx.rollback();
      this.#end();
      return this.#answer(statement, resultOf("ROLLBACK"));
    }
    const lost = faults.commitFault(this.#process);
    if (lost !== undefined) onFailure(lost.isApplied ? "commit lost after it" : "commit lost before it");
    if (lost?.isApplied === false) {
      this.#lose();
      return this.#answer(statement, connectionLost());
    }
    try {
      database.commit(tx);
      this.#end();
      this.#answer(statement, lost === undefined ? resultOf("COMMIT") : connectionLost());
    } catch (error) {
      tx.rollback();
      this.#end();
      this.#answer(statement, error);
    }
  }

  /** The error of an unusable connection. A process that was paused inside a transaction finds it ended. */
  #problem(): Error | undefined {
    const { scheduler } = this.#options;
    if (!this.#server.isUp) return this.#transaction === undefined ? connectionRefused() : terminated();
    if (this.#isLost) return connectionLost();
    if (this.#transaction?.state === "failed") return transactionIsAborted();
    const isIdle = this.#isIdleTooLong();
    this.#usedAtMs = scheduler.nowMs;
    return isIdle ? idleInTransaction() : undefined;
  }

  #isIdleTooLong(): boolean {
    const idleMs = this.#options.scheduler.nowMs - this.#usedAtMs;
    const isIdle = this.#transaction !== undefined && idleMs > IDLE_IN_TRANSACTION_MS;
    if (isIdle) this.#lose();
    return isIdle;
  }

  #lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    if (this.#transaction?.state !== "over") this.#transaction?.rollback();
    this.#end();
    this.#process.deliver(undefined, "connection lost", () => this.#onError(connectionLost()));
  }

  #answer({ sql, resolve, reject, started }: Statement, answer: unknown): void {
    if (started !== undefined && started.snapshot !== this.#view) this.#options.database.release(started.snapshot);
    this.#usedAtMs = this.#options.scheduler.nowMs;
    const isCommit = sql === "commit";
    const step = isCommit ? "commit" : this.#transaction === undefined ? undefined : "statement";
    this.#process.deliver(step, isCommit ? "commit" : sql, () => {
      if (answer instanceof Error) reject(answer);
      else resolve(answer as Result);
    });
  }

  #after(ms: number, sql: string, run: () => void): void {
    this.#options.scheduler.after(ms, sql.slice(0, 24), run);
  }

  #latencyMs(isCommit: boolean): number {
    const { random } = this.#options;
    return random.chance(isCommit ? SLOW_PROBABILITY.commit : SLOW_PROBABILITY.other)
      ? random.next() * SLOW_MS
      : 0.1 + random.next() * USUAL_MS;
  }
}

type Statement = {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
  readonly sinceMs: number;
  /** Set when it begins to run; it keeps both while it waits for a lock. */
  started?: { readonly tx: Transaction; readonly snapshot: Snapshot };
};

/** The server has ended the connection of a statement that waited. */
function problemOf(started: Statement["started"]): Error | undefined {
  return started?.tx.state === "over" ? terminated() : undefined;
}

function resultOf(command: string): Result {
  return { rows: [], rowCount: 0, command };
}
