import type { Query } from "./syntax.ts";
import type { Value, Values } from "./types.ts";

/** The tables, views and sequences of one service, for any number of databases. */
export type Schema = {
  readonly tables: ReadonlyMap<string, TableSchema>;
  readonly views: ReadonlyMap<string, Query>;
  readonly sequences: readonly string[];
};

export type TableSchema = {
  readonly name: string;
  readonly columns: ReadonlyMap<string, Column>;
  /** Columns by which rows are found without a scan. */
  readonly indexed: ReadonlySet<string>;
  readonly uniques: readonly Unique[];
  readonly checks: readonly Check[];
  readonly references: readonly Reference[];
  readonly isAppendOnly: boolean;
};

export type Column = {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly isIdentity: boolean;
  /** The default value. */
  readonly default: RowExpression | undefined;
  readonly generated: RowExpression | undefined;
};

/** The parts of a database that an expression over one row uses. */
export type RowFacts = {
  readonly nowMs: () => number;
  /** Names this run of the database; a failover, a restart or a restore gives another one. */
  readonly identity: string;
};

/** An expression over one row of the table. */
export type RowExpression = (values: Values, database: RowFacts) => Value;

export type Unique = {
  readonly name: string;
  /** Undefined for an index on expressions, which no ON CONFLICT names. */
  readonly columns: readonly string[] | undefined;
  readonly parts: readonly RowExpression[];
  /** The plain columns among the parts, by which rows are found. */
  readonly foundBy: readonly string[];
  /** All columns that the constraint depends on. */
  readonly dependsOn: readonly string[];
  readonly where: RowExpression | undefined;
};

export type Check = {
  readonly name: string;
  readonly condition: RowExpression;
  readonly dependsOn: readonly string[];
};

export type Reference = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly table: string;
  readonly targets: readonly string[];
  readonly isDeferred: boolean;
};
