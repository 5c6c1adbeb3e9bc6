import type { ColumnDefinition, Definition, Constraint } from "./definitions.ts";
import type { Query } from "./syntax.ts";

type Kind<Name extends Definition["kind"]> = Extract<Definition, { readonly kind: Name }>;
/** A change of one table. */
type Alteration = Exclude<Definition, { readonly kind: "table" | "view" | "sequence" | "drop" | "change" }>;

export type NamedConstraint = { readonly name: string; readonly constraint: Constraint };

/** A table while migrations build it. */
export type Draft = {
  readonly columns: Map<string, ColumnDefinition>;
  constraints: NamedConstraint[];
  readonly indexes: Kind<"index">[];
  isAppendOnly: boolean;
};

export function draftOf({ name, columns, constraints }: Kind<"table">): Draft {
  return {
    columns: new Map(columns.map((column) => [column.name, column])),
    constraints: named(name, [], constraints),
    indexes: [],
    isAppendOnly: false,
  };
}

export function draftNamed(drafts: ReadonlyMap<string, Draft>, name: string): Draft {
  const draft = drafts.get(name);
  if (draft === undefined) throw new Error(`a migration names the unknown table ${name}`);
  return draft;
}

export function drop({ what, name }: Kind<"drop">, drafts: Map<string, Draft>, views: Map<string, Query>): void {
  if (what === "table") drafts.delete(name);
  if (what === "view") views.delete(name);
  if (what !== "index") return;
  for (const { indexes } of drafts.values()) {
    const at = indexes.findIndex((index) => index.name === name);
    if (at >= 0) indexes.splice(at, 1);
  }
}

export function alter(draft: Draft, definition: Alteration): void {
  const { columns } = draft;
  switch (definition.kind) {
    case "index":
      draft.indexes.push(definition);
      break;
    case "append only":
      draft.isAppendOnly = true;
      break;
    case "add column":
      columns.set(definition.column.name, definition.column);
      draft.constraints = named(definition.table, draft.constraints, definition.constraints);
      break;
    case "add constraint":
      draft.constraints = named(definition.table, draft.constraints, [definition.constraint]);
      break;
    case "drop constraint":
      draft.constraints = dropConstraint(draft.constraints, definition.name);
      break;
    case "drop column":
      columns.delete(definition.column);
      break;
    case "set nullable":
      columns.set(definition.column, { ...columns.get(definition.column)!, isNullable: definition.isNullable });
      break;
    case "set default":
      columns.set(definition.column, { ...columns.get(definition.column)!, default: definition.value });
  }
}

function dropConstraint(constraints: readonly NamedConstraint[], name: string): NamedConstraint[] {
  const rest = constraints.filter((constraint) => constraint.name !== name);
  if (rest.length === constraints.length) throw new Error(`a migration drops the unknown constraint ${name}`);
  return rest;
}

/** Adds the default names of Postgres to unnamed constraints. The names stay when another constraint is dropped. */
function named(table: string, before: readonly NamedConstraint[], fresh: readonly Constraint[]): NamedConstraint[] {
  const constraints = [...before];
  for (const constraint of fresh) {
    const plain = plainName(table, constraint);
    let name = constraint.name ?? plain;
    for (let times = 1; constraint.name === undefined && constraints.some((other) => other.name === name); times += 1) {
      name = `${plain}${times}`;
    }
    constraints.push({ name, constraint });
  }
  return constraints;
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
export function columnsIn(expression: unknown): readonly string[] {
  if (Array.isArray(expression)) return expression.flatMap(columnsIn);
  if (typeof expression !== "object" || expression === null) return [];
  if ("kind" in expression && expression.kind === "column") return [String((expression as { name?: unknown }).name)];
  return Object.values(expression).flatMap(columnsIn);
}
