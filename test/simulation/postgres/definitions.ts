import type { Expression, Query } from "./syntax.ts";

/** One definition of a migration. Statements that do not affect rows, such as grants, are left out. */
export type Definition =
  | {
      readonly kind: "table";
      readonly name: string;
      readonly columns: readonly ColumnDefinition[];
      readonly constraints: readonly Constraint[];
    }
  | {
      readonly kind: "index";
      readonly isUnique: boolean;
      readonly name: string;
      readonly table: string;
      readonly on: readonly Expression[];
      readonly where: Expression | undefined;
    }
  | { readonly kind: "view"; readonly name: string; readonly query: Query }
  | { readonly kind: "sequence"; readonly name: string }
  | { readonly kind: "append only"; readonly table: string };

export type ColumnDefinition = {
  readonly name: string;
  readonly type: string;
  readonly isNullable: boolean;
  readonly default: Expression | undefined;
  readonly isIdentity: boolean;
  /** Computed from the other columns. */
  readonly generated: Expression | undefined;
};

/** Postgres names a constraint without a name. */
export type Constraint =
  | {
      readonly kind: "unique";
      readonly name: string | undefined;
      readonly isPrimary: boolean;
      readonly columns: readonly string[];
    }
  | { readonly kind: "check"; readonly name: string | undefined; readonly condition: Expression }
  | {
      readonly kind: "references";
      readonly name: string | undefined;
      readonly columns: readonly string[];
      readonly table: string;
      readonly targets: readonly string[] | undefined;
      readonly isDeferred: boolean;
    };
