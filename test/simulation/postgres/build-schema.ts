import { compileExpression } from "./compile-expression.ts";
import { columnOf } from "./compiled.ts";
import type { ColumnDefinition, Definition, Constraint } from "./definitions.ts";
import { alter, columnsIn, type Draft, draftNamed, draftOf, drop } from "./draft.ts";
import type { Run } from "./run.ts";
import type { Column, Reference, RowExpression, Schema, TableSchema, Unique } from "./schema.ts";
import { type Compiler, Scope } from "./scope.ts";
import type { Expression, Query } from "./syntax.ts";
import { typeNamed } from "./types.ts";

/** Applies the definitions of all migrations in their order. */
export function buildSchema(definitions: readonly Definition[]): Schema {
  const drafts = new Map<string, Draft>();
  const views = new Map<string, Query>();
  const sequences: string[] = [];
  for (const definition of definitions) {
    switch (definition.kind) {
      case "view":
        views.set(definition.name, definition.query);
        break;
      case "sequence":
        sequences.push(definition.name);
        break;
      case "table":
        drafts.set(definition.name, draftOf(definition));
        break;
      case "drop":
        drop(definition, drafts, views);
        break;
      case "change":
        break;
      default:
        alter(draftNamed(drafts, definition.table), definition);
    }
  }
  const tables = new Map(Array.from(drafts, ([name, draft]) => [name, tableOf(name, draft, drafts)]));
  for (const { name, columns } of tables.values()) {
    for (const column of columns.values()) if (column.isIdentity) sequences.push(`${name}_${column.name}_seq`);
  }
  return { tables, views, sequences };
}

function tableOf(name: string, draft: Draft, drafts: ReadonlyMap<string, Draft>): TableSchema {
  const row = rowScope(draft);
  const named = draft.constraints;
  const uniques = [
    ...named.flatMap(({ constraint, name: own }) =>
      constraint.kind === "unique" ? [uniqueOf(own, constraint.columns.map(column), undefined, row)] : [],
    ),
    ...draft.indexes
      .filter(({ isUnique }) => isUnique)
      .map((index) => uniqueOf(index.name, index.on, index.where, row)),
  ];
  const leading = draft.indexes.flatMap(({ on: [first] }) => (first?.kind === "column" ? [first.name] : []));
  return {
    name,
    columns: new Map(Array.from(draft.columns.values(), (own) => [own.name, columnOfTable(own, draft, row)])),
    indexed: new Set([...leading, ...uniques.flatMap(({ foundBy }) => foundBy)]),
    uniques,
    checks: named.flatMap(({ constraint, name: own }) =>
      constraint.kind === "check"
        ? [{ name: own, condition: row(constraint.condition), dependsOn: columnsIn(constraint.condition) }]
        : [],
    ),
    references: named.flatMap(({ constraint, name: own }) =>
      constraint.kind === "references" ? [referenceOf(own, constraint, drafts)] : [],
    ),
    isAppendOnly: draft.isAppendOnly,
  };
}

function column(name: string): Expression {
  return { kind: "column", of: undefined, name };
}

function columnOfTable(own: ColumnDefinition, draft: Draft, row: (expression: Expression) => RowExpression): Column {
  const isKey = draft.constraints.some(
    ({ constraint }) => constraint.kind === "unique" && constraint.isPrimary && constraint.columns.includes(own.name),
  );
  return {
    name: own.name,
    type: typeNamed(own.type),
    isNullable: own.isNullable && !isKey,
    isIdentity: own.isIdentity,
    default: own.default && row(own.default),
    generated: own.generated && row(own.generated),
  };
}

function uniqueOf(
  name: string,
  on: readonly Expression[],
  where: Expression | undefined,
  row: (expression: Expression) => RowExpression,
): Unique {
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

function referenceOf(
  name: string,
  constraint: Extract<Constraint, { readonly kind: "references" }>,
  drafts: ReadonlyMap<string, Draft>,
): Reference {
  const primary = draftNamed(drafts, constraint.table).constraints.find(
    ({ constraint: other }) => other.kind === "unique" && other.isPrimary,
  )?.constraint;
  const targets = constraint.targets ?? (primary?.kind === "unique" ? primary.columns : []);
  return { ...constraint, name, targets };
}

/** Compiles expressions over one row of a table that is still being built. */
function rowScope({ columns }: Draft): (expression: Expression) => RowExpression {
  const compiler: Compiler = {
    schema: { tables: new Map(), views: new Map(), sequences: [] },
    query: () => assertNever("a query"),
    statement: () => assertNever("a statement"),
  };
  const scope = new Scope({ compiler, parent: undefined, common: new Map() });
  const slot = scope.takeSlot();
  const own = Array.from(columns.values(), ({ name, type }) => [name, columnOf(typeNamed(type), slot, name)] as const);
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
