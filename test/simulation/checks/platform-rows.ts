import type { Database } from "../postgres/database.ts";
import type { WrittenRow } from "../postgres/row.ts";
import { textOf, type Values } from "../postgres/types.ts";

export type LegRow = {
  readonly number: bigint;
  readonly transferId: bigint;
  readonly ordinal: number;
  readonly login: string;
  readonly kind: string;
  readonly amountMinor: bigint;
  readonly isExclusive: boolean;
  readonly state: string;
  readonly cameFrom: string | null;
  readonly review: string | null;
  readonly refusal: string | null;
  readonly attempt: number;
  readonly dealId: bigint | null;
};

export type AttemptRow = {
  readonly session: string;
  readonly expiresAtMs: number;
};

/** The committed rows of the platform service, as the checks read them. */
export class PlatformRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  leg(number: bigint): LegRow | undefined {
    const values = this.#one("leg", "number", number);
    return values && legOf(values);
  }

  legs(): readonly LegRow[] {
    return Array.from(this.#database.committed("leg"), legOf);
  }

  legsOfLogin(login: string): readonly LegRow[] {
    return this.#many("leg", "login", login).map(legOf);
  }

  legsOf(transferId: bigint): readonly LegRow[] {
    return this.#many("leg", "transfer_id", transferId).map(legOf);
  }

  keyOf(transferId: bigint): string {
    return textOf(this.#one("transfer", "id", transferId)?.["key"] ?? "");
  }

  /** The keys of the legs that a commit has written. */
  movedIn(written: readonly WrittenRow[]): readonly { readonly key: string; readonly login: string }[] {
    return written.flatMap(({ table, committed }) => {
      if (table !== "leg") return [];
      const { transferId, login } = legOf(committed);
      return [{ key: this.keyOf(transferId), login }];
    });
  }

  lockOwnerOf(transferId: bigint): string {
    return textOf(this.#one("transfer", "id", transferId)?.["lock_owner"] ?? "");
  }

  transferIdOf(key: string): bigint | undefined {
    return this.#one("transfer", "key", key)?.["id"] as bigint | undefined;
  }

  attempt(leg: bigint, number: number): AttemptRow | undefined {
    const row = this.#many("attempt", "leg_number", leg).find((values) => values["number"] === number);
    return row && { session: textOf(row["session"] ?? ""), expiresAtMs: row["permit_expires_at"] as number };
  }

  account(login: string): Values | undefined {
    return this.#one("account", "login", login);
  }

  log(login: string): readonly Values[] {
    const entries = this.#many("log_entry", "login", login);
    return entries.toSorted((left, right) => Number((left["number"] as bigint) - (right["number"] as bigint)));
  }

  /** The deals of a login that the service has reported as changed or deleted. */
  changedDeals(login: string): ReadonlySet<unknown> {
    return new Set(this.log(login).flatMap((entry) => ((entry["shown_as"] ?? null) === null ? [] : entry["deal_id"])));
  }

  entries(): Iterable<Values> {
    return this.#database.committed("log_entry");
  }

  /** Whether permits are granted in the database as it is now. */
  isGateOpen(): boolean {
    const [gate] = this.#database.committed("permit_gate");
    return gate?.["database"] === this.#database.identity && (gate["stopped_at"] ?? null) === null;
  }

  /** Of the permits. */
  generation(): bigint {
    const [gate] = this.#database.committed("permit_gate");
    return gate?.["generation"] as bigint;
  }

  isUnlogged(leg: bigint): boolean {
    return this.#one("unlogged_leg", "leg_number", leg) !== undefined;
  }

  /** Rows of the table `finding`: what the service reports for manual review. */
  findings(): readonly Values[] {
    return [...this.#database.committed("finding")];
  }

  #one(table: string, column: string, value: bigint | string): Values | undefined {
    return this.#many(table, column, value)[0];
  }

  #many(table: string, column: string, value: bigint | string): readonly Values[] {
    const rows = [...this.#database.rows(table).withValue(column, value)];
    return rows.flatMap(({ committed }) => (committed?.[column] === value ? [committed] : []));
  }
}

export function legOf(values: Values): LegRow {
  return {
    number: values["number"] as bigint,
    transferId: values["transfer_id"] as bigint,
    ordinal: values["ordinal"] as number,
    login: values["login"] as string,
    kind: values["kind"] as string,
    amountMinor: values["amount_minor"] as bigint,
    // Computed and not read from the column `is_exclusive`: the check must not depend on what the service wrote.
    isExclusive: values["kind"] !== "fee_credit",
    state: values["state"] as string,
    cameFrom: values["came_from"] as string | null,
    review: values["review"] as string | null,
    refusal: values["refusal"] as string | null,
    attempt: values["attempt"] as number,
    dealId: values["deal_id"] as bigint | null,
  };
}

/** Whether a command of the leg may be in progress at the platform. */
export function isUnderWay({ state, cameFrom }: LegRow): boolean {
  const from = state === "REVIEW" ? cameFrom : state;
  return from === "SENDING" || from === "UNKNOWN";
}

export function isOpen({ state }: LegRow): boolean {
  return state === "INTENT" || state === "SENDING" || state === "UNKNOWN";
}
