import { compileExpression } from "./compile-expression.ts";
import { columnOf } from "./compiled.ts";
import type { ColumnDefinition, Constraint, Definition } from "./definitions.ts";
import type { Run } from "./run.ts";
import type { Column, Reference, RowExpression, Schema, TableSchema, Unique } from "./schema.ts";
import { type Compiler, Scope } from "./scope.ts";
import type { Expression } from "./syntax.ts";
import { typeNamed } from "./types.ts";

type Kind<Name extends Definition["kind"]> = Extract<Definition, { readonly kind: Name }>;
type ConstraintKind<Name extends Constraint["kind"]> = Extract<Constraint, { readonly kind: Name }>;
type Named<C extends Constraint> = C & { readonly name: string };

/** Compiles an expression over one row of a table. */
type CompileRow = (expression: Expression) => RowExpression;

/** The schema that all migrations together define. */
export function buildSchema(definitions: readonly Definition[]): Schema {
  const all = <Name extends Definition["kind"]>(kind: Name) =>
    definitions.filter((definition): definition is Kind<Name> => definition.kind === kind);
  const appendOnly = new Set(all("append only").map(({ table }) => table));
  const [defined, indexes] = [all("table"), all("index")];
  const primaryKeys = new Map(defined.map(({ name, constraints }) => [name, primaryKeyIn(constraints)]));
  const tables = defined.map((table) => {
    const own = indexes.filter((index) => index.table === table.name);
    return tableOf(table, { indexes: own, primaryKeys, isAppendOnly: appendOnly.has(table.name) });
  });
  const identities = tables.flatMap(({ name, columns }) =>
    Array.from(columns.values()).flatMap((own) => (own.isIdentity ? [`${name}_${own.name}_seq`] : [])),
  );
  return {
    tables: new Map(tables.map((table) => [table.name, table])),
    views: new Map(all("view").map(({ name, query }) => [name, query])),
    sequences: [...all("sequence").map(({ name }) => name), ...identities],
  };
}

type Surroundings = {
  readonly indexes: readonly Kind<"index">[];
  /** The columns of the primary key of each table. */
  readonly primaryKeys: ReadonlyMap<string, readonly string[]>;
  readonly isAppendOnly: boolean;
};

function tableOf(definition: Kind<"table">, { indexes, primaryKeys, isAppendOnly }: Surroundings): TableSchema {
  const { name, columns } = definition;
  const row = compileRowOf(columns);
  const constraints = named(definition);
  const all = <Name extends Constraint["kind"]>(kind: Name) =>
    constraints.filter((constraint): constraint is Named<ConstraintKind<Name>> => constraint.kind === kind);
  const uniques = [
    ...all("unique").map((unique) => uniqueOf(unique.name, unique.columns.map(column), undefined, row)),
    ...indexes.filter(({ isUnique }) => isUnique).map((index) => uniqueOf(index.name, index.on, index.where, row)),
  ];
  const leading = indexes.flatMap(({ on: [first] }) => (first?.kind === "column" ? [first.name] : []));
  const key = primaryKeys.get(name) ?? [];
  return {
    name,
    columns: new Map(columns.map((own) => [own.name, columnOfTable(own, key.includes(own.name), row)])),
    indexed: new Set([...leading, ...uniques.flatMap(({ foundBy }) => foundBy)]),
    uniques,
    checks: all("check").map(({ name: own, condition }) => {
      return { name: own, condition: row(condition), dependsOn: columnsIn(condition) };
    }),
    references: all("references").map((reference): Reference => {
      return { ...reference, targets: reference.targets ?? primaryKeys.get(reference.table) ?? [] };
    }),
    isAppendOnly,
  };
}

function primaryKeyIn(constraints: readonly Constraint[]): readonly string[] {
  return constraints.flatMap((constraint) =>
    constraint.kind === "unique" && constraint.isPrimary ? constraint.columns : [],
  );
}

function column(name: string): Expression {
  return { kind: "column", of: undefined, name };
}

function columnOfTable(own: ColumnDefinition, isKey: boolean, row: CompileRow): Column {
  return {
    name: own.name,
    type: typeNamed(own.type),
    isNullable: own.isNullable && !isKey,
    isIdentity: own.isIdentity,
    default: own.default && row(own.default),
    generated: own.generated && row(own.generated),
  };
}

function uniqueOf(name: string, on: readonly Expression[], where: Expression | undefined, row: CompileRow): Unique {
  const plain = on.flatMap((part) => (part.kind === "column" ? [part.name] : []));
  return {
    name,
    columns: plain.length === on.length ? plain : undefined,
    parts: on.map(row),
    foundBy: plain,
    dependsOn: [...columnsIn(on), ...columnsIn(where)],
    where: where && row(where),
  };
}

/** The constraints of a table with their names, by default those of Postgres. */
function named({ name: table, constraints }: Kind<"table">): readonly Named<Constraint>[] {
  const taken = new Set<string>();
  return constraints.map((constraint) => {
    const plain = plainName(table, constraint);
    let name = constraint.name ?? plain;
    for (let times = 1; constraint.name === undefined && taken.has(name); times += 1) name = `${plain}${times}`;
    taken.add(name);
    return { ...constraint, name };
  });
}

function plainName(table: string, constraint: Constraint): string {
  switch (constraint.kind) {
    case "unique":
      return constraint.isPrimary ? `${table}_pkey` : `${table}_${constraint.columns.join("_")}_key`;
    case "references":
      return `${table}_${constraint.columns.join("_")}_fkey`;
    case "check": {
      const [only, ...more] = [...new Set(columnsIn(constraint.condition))];
      return only !== undefined && more.length === 0 ? `${table}_${only}_check` : `${table}_check`;
    }
  }
}

/** The columns that an expression uses. */
function columnsIn(expression: unknown): readonly string[] {
  if (Array.isArray(expression)) return expression.flatMap(columnsIn);
  if (typeof expression !== "object" || expression === null) return [];
  if ("kind" in expression && expression.kind === "column") return [String((expression as { name?: unknown }).name)];
  return Object.values(expression).flatMap(columnsIn);
}

function compileRowOf(columns: readonly ColumnDefinition[]): CompileRow {
  const compiler: Compiler = {
    schema: { tables: new Map(), views: new Map(), sequences: [] },
    query: () => assertNever("a query"),
    statement: () => assertNever("a statement"),
  };
  const scope = new Scope({ compiler, parent: undefined, common: new Map() });
  const slot = scope.takeSlot();
  const own = columns.map(({ name, type }) => [name, columnOf(typeNamed(type), slot, name)] as const);
  scope.sources.push({ alias: "", columns: new Map(own) });
  return (expression) => {
    const compiled = compileExpression(expression, scope);
    return (values, database) => {
      const run = { params: [], memo: new Map(), database } as unknown as Run;
      return compiled.eval({ rows: [values], bases: [], parent: undefined, run, aggregates: [], windows: [] });
    };
  };
}

function assertNever(what: string): never {
  throw new Error(`the simulation cannot read ${what} in the definition of a table`);
}
