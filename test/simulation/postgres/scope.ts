import type { Run } from "./run.ts";
import type { Row } from "./row.ts";
import type { Schema } from "./schema.ts";
import type { Query, Statement } from "./syntax.ts";
import type { Value, Values } from "./types.ts";

/** The rows on which an expression is evaluated: one of each source, and those of the outer query. */
export type Env = {
  readonly rows: Values[];
  /** The table rows from which they come, to be locked or changed. */
  readonly bases: (Row | undefined)[];
  readonly parent: Env | undefined;
  readonly run: Run;
  aggregates: readonly Value[];
  windows: readonly Value[];
};

export type Compiled = {
  readonly type: string;
  readonly eval: (env: Env) => Value;
  /** The slots of its own query that it reads, one bit each. */
  readonly uses: number;
  /** Set when it is a plain column of a slot. */
  readonly column?: { readonly slot: number; readonly name: string };
};

/** The slots of one query, which the views in it share. */
export type Frame = {
  slots: number;
  usesParent: number;
  isCorrelated: boolean;
  /** Its columns that subqueries in it read: `slot.name`, or `slot.*` for an expression of a view. */
  readonly outerReads: Set<string>;
};

export type Source = { readonly alias: string; readonly columns: ReadonlyMap<string, Compiled> };

/** The names that an expression may use. */
export class Scope {
  readonly compiler: Compiler;
  readonly frame: Frame;
  readonly parent: Scope | undefined;
  readonly common: ReadonlyMap<string, CompiledQuery>;
  readonly sources: Source[] = [];
  /** Filled while the outputs of a query are compiled, when it groups or has windows. */
  collect: Collector | undefined;

  constructor(options: {
    readonly compiler: Compiler;
    readonly parent: Scope | undefined;
    readonly common: ReadonlyMap<string, CompiledQuery>;
    readonly frame?: Frame;
  }) {
    this.compiler = options.compiler;
    this.parent = options.parent;
    this.common = options.common;
    this.frame = options.frame ?? { slots: 0, usesParent: 0, isCorrelated: false, outerReads: new Set() };
  }

  takeSlot(): number {
    this.frame.slots += 1;
    return this.frame.slots - 1;
  }

  find(of: string | undefined, name: string): Compiled {
    const found = this.#find(of, name);
    if (found === undefined) {
      throw new Error(`the simulation finds no column ${of === undefined ? "" : `${of}.`}${name}`);
    }
    return found;
  }

  has(of: string | undefined, name: string): boolean {
    return this.#find(of, name) !== undefined;
  }

  /** A subquery reads this column. */
  noteRead({ column, uses }: Compiled): void {
    if (column !== undefined) this.frame.outerReads.add(`${column.slot}.${column.name}`);
    else slotsIn(uses).forEach((slot) => this.frame.outerReads.add(`${slot}.*`));
  }

  #find(of: string | undefined, name: string): Compiled | undefined {
    for (const { alias, columns } of this.sources) {
      if (of !== undefined && of !== alias) continue;
      const column = columns.get(name);
      if (column !== undefined) return column;
    }
    const outer = this.parent === undefined ? undefined : this.parent.#find(of, name);
    if (outer === undefined) return undefined;
    this.frame.isCorrelated = true;
    this.frame.usesParent |= outer.uses;
    this.parent?.noteRead(outer);
    return { type: outer.type, eval: (env) => outer.eval(env.parent!), uses: 0 };
  }
}

function slotsIn(uses: number): readonly number[] {
  return Array.from({ length: 32 }, (_, slot) => slot).filter((slot) => (uses & (1 << slot)) !== 0);
}

export type Collector = {
  readonly aggregate: (compiled: AggregateCall) => number;
  readonly window: (compiled: WindowCall) => number;
};

export type AggregateCall = {
  readonly name: string;
  readonly args: readonly Compiled[];
  readonly isDistinct: boolean;
  readonly filter: Compiled | undefined;
  readonly orderBy: readonly CompiledOrder[];
};

export type WindowCall = AggregateCall & { readonly partitionBy: readonly Compiled[] };

export type CompiledOrder = { readonly by: Compiled; readonly isDescending: boolean; readonly nullsFirst: boolean };

export type ResultColumn = { readonly name: string; readonly type: string };

export type CompiledQuery = {
  readonly columns: readonly ResultColumn[];
  /** A change without RETURNING. */
  readonly isSilent?: boolean;
  readonly isCorrelated: boolean;
  /** The slots of the outer query that it reads. */
  readonly usesParent: number;
  readonly run: (parent: Env | undefined, run: Run) => readonly (readonly Value[])[];
};

/** Queries contain expressions, and expressions contain queries: the parts of the compiler call each other through this type. */
export type Compiler = {
  readonly schema: Schema;
  readonly query: (query: Query, parent: Scope | undefined, common: Scope["common"]) => CompiledQuery;
  readonly statement: (statement: Statement, common: Scope["common"]) => CompiledQuery;
};
