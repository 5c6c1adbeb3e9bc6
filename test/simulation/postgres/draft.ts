import type { ColumnDefinition, Definition, Rule } from "./definitions.ts";
import type { Query } from "./syntax.ts";

type Kind<Name extends Definition["kind"]> = Extract<Definition, { readonly kind: Name }>;
/** A change of one table. */
type Alteration = Exclude<Definition, { readonly kind: "table" | "view" | "sequence" | "drop" | "change" }>;

/** A table while migrations put it together. */
export type Draft = {
  readonly columns: Map<string, ColumnDefinition>;
  rules: Rule[];
  readonly indexes: Kind<"index">[];
  isWrittenOnce: boolean;
};

export function draftOf({ columns, rules }: Kind<"table">): Draft {
  return {
    columns: new Map(columns.map((column) => [column.name, column])),
    rules: [...rules],
    indexes: [],
    isWrittenOnce: false,
  };
}

export function draftNamed(drafts: ReadonlyMap<string, Draft>, name: string): Draft {
  const draft = drafts.get(name);
  if (draft === undefined) throw new Error(`a migration speaks of the table ${name}, which is not there`);
  return draft;
}

export function drop({ what, name }: Kind<"drop">, drafts: Map<string, Draft>, views: Map<string, Query>): void {
  if (what === "table") drafts.delete(name);
  if (what === "view") views.delete(name);
  if (what !== "index") return;
  for (const { indexes } of drafts.values()) {
    const place = indexes.findIndex((index) => index.name === name);
    if (place >= 0) indexes.splice(place, 1);
  }
}

export function alter(draft: Draft, definition: Alteration): void {
  const { columns } = draft;
  switch (definition.kind) {
    case "index":
      draft.indexes.push(definition);
      break;
    case "written once":
      draft.isWrittenOnce = true;
      break;
    case "add column":
      columns.set(definition.column.name, definition.column);
      draft.rules.push(...definition.rules);
      break;
    case "add rule":
      draft.rules.push(definition.rule);
      break;
    case "drop rule":
      draft.rules = dropRule(definition.table, draft.rules, definition.name);
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

function dropRule(table: string, rules: readonly Rule[], name: string): Rule[] {
  const names = ruleNames(table, rules);
  const place = names.indexOf(name);
  if (place < 0) throw new Error(`a migration drops the constraint ${name}, which is not there`);
  return rules.filter((_, index) => index !== place);
}

/** The names that Postgres gives to what was given none. */
export function ruleNames(table: string, rules: readonly Rule[]): readonly string[] {
  const taken = new Map<string, number>();
  return rules.map((rule) => {
    if (rule.name !== undefined) return rule.name;
    const name = plainName(table, rule);
    const times = taken.get(name) ?? 0;
    taken.set(name, times + 1);
    return times === 0 ? name : `${name}${times}`;
  });
}

function plainName(table: string, rule: Rule): string {
  switch (rule.kind) {
    case "unique":
      return rule.isPrimary ? `${table}_pkey` : `${table}_${rule.columns.join("_")}_key`;
    case "references":
      return `${table}_${rule.columns.join("_")}_fkey`;
    case "check": {
      const [only, ...more] = [...new Set(columnsIn(rule.condition))];
      return only !== undefined && more.length === 0 ? `${table}_${only}_check` : `${table}_check`;
    }
  }
}

function columnsIn(expression: unknown): readonly string[] {
  if (Array.isArray(expression)) return expression.flatMap(columnsIn);
  if (typeof expression !== "object" || expression === null) return [];
  if ("kind" in expression && expression.kind === "column") return [String((expression as { name?: unknown }).name)];
  return Object.values(expression).flatMap(columnsIn);
}
