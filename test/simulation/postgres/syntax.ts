/** Parsed SQL: only what the services' statements and migrations use. */
export type Expression =
  | { readonly kind: "literal"; readonly value: string | bigint | number | boolean | null; readonly type: string }
  | { readonly kind: "param"; readonly index: number }
  | { readonly kind: "column"; readonly of: string | undefined; readonly name: string }
  | { readonly kind: "not"; readonly inner: Expression }
  | { readonly kind: "negative"; readonly inner: Expression }
  | { readonly kind: "binary"; readonly operator: string; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "is"; readonly inner: Expression; readonly what: boolean | null; readonly negated: boolean }
  | { readonly kind: "in"; readonly inner: Expression; readonly among: readonly Expression[] | Query }
  | {
      readonly kind: "quantified";
      readonly quantifier: "any" | "all";
      readonly operator: string;
      readonly inner: Expression;
      readonly among: Expression | Query;
    }
  | { readonly kind: "case"; readonly branches: readonly Branch[]; readonly otherwise: Expression | undefined }
  | { readonly kind: "cast"; readonly inner: Expression; readonly type: string }
  | { readonly kind: "exists"; readonly query: Query }
  | { readonly kind: "scalar"; readonly query: Query }
  | { readonly kind: "array"; readonly items: readonly Expression[] }
  | { readonly kind: "row"; readonly items: readonly Expression[] }
  | Call;

export type Branch = { readonly when: Expression; readonly result: Expression };

export type Call = {
  readonly kind: "call";
  readonly name: string;
  readonly args: readonly Expression[];
  readonly isDistinct: boolean;
  readonly orderBy: readonly Order[];
  readonly filter: Expression | undefined;
  readonly over: { readonly partitionBy: readonly Expression[]; readonly orderBy: readonly Order[] } | undefined;
};

export type Order = { readonly by: Expression; readonly isDescending: boolean; readonly nullsFirst: boolean };

/** A star has no expression. */
export type Output =
  | { readonly kind: "star"; readonly of: string | undefined }
  | { readonly kind: "value"; readonly value: Expression; readonly as: string | undefined };

export type Query = {
  readonly kind: "query";
  readonly with: readonly CommonTable[];
  readonly body: Body;
  readonly orderBy: readonly Order[];
  readonly limit: Expression | undefined;
  readonly locking: Locking | undefined;
};

export type CommonTable = { readonly name: string; readonly statement: Statement };

export type Body =
  | { readonly kind: "select"; readonly select: Select }
  | { readonly kind: "union"; readonly isAll: boolean; readonly left: Body; readonly right: Body }
  | { readonly kind: "values"; readonly rows: readonly (readonly Expression[])[] };

export type Select = {
  readonly distinct: "no" | "all" | readonly Expression[];
  readonly outputs: readonly Output[];
  readonly from: readonly From[];
  readonly where: Expression | undefined;
  readonly groupBy: readonly Expression[];
  readonly having: Expression | undefined;
};

export type From = {
  readonly item: FromItem;
  readonly as: string | undefined;
  readonly columns: readonly string[] | undefined;
  /** How it is joined to the sources before it; the first of a list is "inner" without a condition. */
  readonly join: "inner" | "left";
  readonly on: Expression | undefined;
  readonly using: readonly string[];
};

export type FromItem =
  | { readonly kind: "table"; readonly name: string }
  | { readonly kind: "query"; readonly query: Query }
  | { readonly kind: "function"; readonly call: Call; readonly withOrdinality: boolean };

export type Locking = {
  readonly mode: "share" | "update";
  readonly of: readonly string[];
  readonly skipLocked: boolean;
};

export type Insert = {
  readonly kind: "insert";
  readonly with: readonly CommonTable[];
  readonly table: string;
  readonly columns: readonly string[] | undefined;
  /** Undefined: one row of defaults. */
  readonly source: Query | undefined;
  readonly conflict: Conflict | undefined;
  readonly returning: readonly Output[];
};

export type Conflict = {
  readonly columns: readonly string[] | undefined;
  readonly update: { readonly set: readonly Assignment[]; readonly where: Expression | undefined } | undefined;
};

export type Assignment = { readonly column: string; readonly value: Expression };

export type Update = {
  readonly kind: "update";
  readonly with: readonly CommonTable[];
  readonly table: string;
  readonly as: string;
  readonly set: readonly Assignment[];
  readonly from: readonly From[];
  readonly where: Expression | undefined;
  readonly returning: readonly Output[];
};

export type Delete = {
  readonly kind: "delete";
  readonly with: readonly CommonTable[];
  readonly table: string;
  readonly as: string;
  readonly from: readonly From[];
  readonly where: Expression | undefined;
  readonly returning: readonly Output[];
};

export type Statement = Query | Insert | Update | Delete;
