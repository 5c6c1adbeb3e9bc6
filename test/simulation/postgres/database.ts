import { listMigrations } from "#kernel/postgres/apply-migration.ts";
import { CommitLog } from "./commit-log.ts";
import { buildSchema } from "./build-schema.ts";
import { compileDelete, compileInsert, compileUpdate } from "./compile-change.ts";
import { compileQuery } from "./compile-query.ts";
import { parseMigration } from "./parse-schema.ts";
import { parseStatement } from "./parse-statement.ts";
import type { Row, WrittenRow } from "./row.ts";
import type { DatabaseFacts, Sequence } from "./run.ts";
import type { Schema } from "./schema.ts";
import type { CompiledQuery, Compiler } from "./scope.ts";
import { TableRows } from "./table-rows.ts";
import { MustWait, Transaction } from "./transaction.ts";
import { toValue, toDriverValue, type Value, type Values } from "./types.ts";

/** Types whose values are returned as they are stored. */
const RETURNED_UNCHANGED = new Set(["text", "bool", "unknown"]);

/** The statements of one service, parsed and compiled once for all databases of the same schema. */
export type Statements = { readonly schema: Schema; readonly compiled: (sql: string) => CompiledQuery };

/** Reads the real migrations, so that a simulated database has the same constraints as a real one. */
export function readSchema(service: string): Statements {
  const folder = new URL(`../../../services/${service}/migrations/`, import.meta.url);
  return schemaOf(listMigrations(folder).map(({ text }) => text));
}

export function schemaOf(migrations: readonly string[]): Statements {
  const schema = buildSchema(migrations.flatMap(parseMigration));
  const known = new Map<string, CompiledQuery>();
  return {
    schema,
    compiled(sql) {
      let compiled = known.get(sql);
      if (compiled === undefined) {
        compiled = compilerOf(schema).statement(parseStatement(sql), new Map());
        known.set(sql, compiled);
      }
      return compiled;
    },
  };
}

function compilerOf(schema: Schema): Compiler {
  const compiler: Compiler = {
    schema,
    query: (query, parent, common) => compileQuery(compiler, query, parent, common),
    statement(statement, common) {
      switch (statement.kind) {
        case "query":
          return compileQuery(compiler, statement, undefined, common);
        case "insert":
          return compileInsert(compiler, statement, common);
        case "update":
          return compileUpdate(compiler, statement, common);
        case "delete":
          return compileDelete(compiler, statement, common);
      }
    },
  };
  return compiler;
}

export type Answer = { readonly rows: readonly Record<string, unknown>[]; readonly rowCount: number };

/** The beginning of a statement that may have to wait: it goes on seeing the commits before it. */
export type Snapshot = { readonly commits: number };

/** A standby was promoted, or a copy restored: its sequences may be ahead of what was used. */
export type Rewound = { readonly identity: string; readonly sequencesAhead: number };

/** More than any history draws. */
const RAISED_BY = 1_000_000n;

/** The data of one service in one history. A statement runs to its end before the next one; only a lock makes it wait. */
export class Database implements DatabaseFacts {
  readonly statements: Statements;
  readonly nowMs: () => number;
  /** Called after a commit. */
  onCommit: (written: readonly WrittenRow[]) => void = () => undefined;
  onRecheck: () => void = () => undefined;
  /** Called after each statement with the number of rows that it returned. */
  onAnswer: (rows: number) => void = () => undefined;
  readonly #tables: ReadonlyMap<string, TableRows>;
  readonly #sequences: ReadonlyMap<string, Sequence>;
  readonly #advisory = new Map<string, Transaction>();
  readonly #waiting = new Set<Snapshot>();
  readonly #withOlder = new Set<Row>();
  /** Names this run of the database. */
  identity = "1";
  #lastCommits: CommitLog | undefined;
  #transactions = 0;
  #commits = 0;

  constructor(statements: Statements, nowMs: () => number) {
    this.statements = statements;
    this.nowMs = nowMs;
    const { tables, sequences } = statements.schema;
    this.#tables = new Map(Array.from(tables.values(), (table) => [table.name, new TableRows(table)]));
    this.#sequences = new Map(sequences.map((name) => [name, { last: 1n, isUsed: false }]));
  }

  begin(): Transaction {
    this.#transactions += 1;
    return new Transaction(this.#transactions);
  }

  /** Taken when a statement begins. */
  snapshot(): Snapshot {
    return { commits: this.#commits };
  }

  /** The statement waits: what it sees is kept until `release`. */
  keep(snapshot: Snapshot): void {
    this.#waiting.add(snapshot);
  }

  release(snapshot: Snapshot): void {
    if (!this.#waiting.delete(snapshot) || this.#waiting.size > 0) return;
    for (const row of this.#withOlder) row.forgetOlder();
    this.#withOlder.clear();
  }

  /** Throws MustWait, without any change, when another transaction holds a lock; any other error is that of Postgres. */
  execute(tx: Transaction, sql: string, values: readonly unknown[], { commits: snapshot } = this.snapshot()): Answer {
    const compiled = this.statements.compiled(sql);
    tx.begin();
    try {
      const run = { params: values.map(toValue), tx, database: this, snapshot, memo: new Map() };
      const rows = compiled.run(undefined, run);
      this.onAnswer(rows.length);
      const returned = compiled.isSilent === true ? [] : rows;
      return { rows: returned.map((row) => answered(compiled.columns, row)), rowCount: rows.length };
    } catch (error) {
      tx.undoStatement();
      throw error;
    }
  }

  commit(tx: Transaction): void {
    this.#commits += 1;
    const keepsOlder = this.#waiting.size > 0;
    this.#lastCommits?.add(tx.changed());
    const changed = tx.commit({ commit: this.#commits, keepsOlder }) as readonly Row[];
    if (keepsOlder) for (const row of changed) this.#withOlder.add(row);
    this.onCommit(changed.flatMap(({ table, committed }) => (committed === undefined ? [] : [{ table, committed }])));
  }

  /** From now on `rewind` is possible. */
  keepCommits(): void {
    this.#lastCommits = new CommitLog(this.#sequences, this.nowMs);
  }

  /** Loses all commits since an instant. All connections have ended. */
  rewind(toMs: number, { identity, sequencesAhead }: Rewound): void {
    if (this.#lastCommits === undefined) throw new Error("the commits of this database were not kept");
    this.#lastCommits.undo(toMs, BigInt(sequencesAhead));
    this.#raiseIds();
    this.identity = identity;
  }

  /** What the kernel does in the first connection to another database (`raiseIds`). */
  #raiseIds(): void {
    for (const [table, { columns }] of this.statements.schema.tables) {
      for (const { name, isIdentity } of columns.values()) {
        if (isIdentity) this.sequence(`${table}_${name}_seq`).last += RAISED_BY;
      }
    }
  }

  rows(table: string): TableRows {
    const rows = this.#tables.get(table);
    if (rows === undefined) throw new Error(`the simulation has no table ${table}`);
    return rows;
  }

  get tables(): Iterable<string> {
    return this.#tables.keys();
  }

  has(table: string): boolean {
    return this.#tables.has(table);
  }

  /** The committed rows, for the checks. */
  *committed(table: string): Iterable<Values> {
    for (const { committed } of this.rows(table).all()) if (committed !== undefined) yield committed;
  }

  sequence(name: string): Sequence {
    const sequence = this.#sequences.get(name);
    if (sequence === undefined) throw new Error(`the simulation has no sequence ${name}`);
    return sequence;
  }

  lockAdvisory(key: string, tx: Transaction): void {
    const holder = this.#advisory.get(key);
    if (holder !== undefined && holder !== tx) throw new MustWait(holder);
    if (holder === tx) return;
    this.#advisory.set(key, tx);
    tx.whenOver(() => this.#advisory.delete(key));
  }
}

function answered(columns: CompiledQuery["columns"], row: readonly Value[]): Record<string, unknown> {
  const answer: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index += 1) {
    const { name, type } = columns[index]!;
    const value = row[index]!;
    answer[name] = value === null || RETURNED_UNCHANGED.has(type) ? value : toDriverValue(value, type);
  }
  return answer;
}
