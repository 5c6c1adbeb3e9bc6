import type { Mt5Context } from "./context.ts";
import { readBatch } from "./batches.ts";
import { badAnswer } from "./errors.ts";
import { batchesOf, fieldsOf, loginOf, requireLogin, ticketOf, volumeOf } from "./fields.ts";
import type { JsonValue } from "./http/json.ts";
import { readList } from "./lists.ts";

export type Position = {
  readonly ticket: bigint;
  readonly login: string;
  readonly symbol: string;
  /** Lots in units of 1e-8. */
  readonly volume: bigint;
  /** Floating profit in the account's currency, without swap. */
  readonly profitMinor: bigint;
  readonly swapMinor: bigint;
};

/** Fewer than any server is known to cut a list at. */
const MAX_ROWS = 1_000;

/** All open positions of a login, whole or an error: the result decides how much an Investor may withdraw. */
export async function readPositions(mt5: Mt5Context, login: string): Promise<readonly Position[]> {
  const toRows = async (rows: readonly JsonValue[]) => rows.map((row) => readPosition(row, login));
  return await readList(mt5, { what: "positions", path: "position", query: { login }, toRows });
}

/**
 * Positions of several logins with one request. A position that is not returned may be open: the platform documents no limit of
 * rows and does not mark a list that it cut. Undefined for a long list, and when the server does not answer such a request: "not found"
 * for several logins may mean that one of them does not exist.
 */
export async function findPositions(
  mt5: Mt5Context,
  logins: readonly string[],
): Promise<ReadonlyMap<string, readonly Position[]> | undefined> {
  const found = new Map<string, Position[]>(logins.map((login) => [login, []]));
  for (const batch of batchesOf(logins)) {
    const answered = await readBatch(mt5, "position/get_batch", { login: batch.join(",") });
    if (answered.kind !== "rows" || answered.rows.length >= MAX_ROWS) return undefined;
    for (const row of answered.rows) {
      const position = readPosition(row);
      const own = found.get(position.login);
      if (own === undefined) throw badAnswer("the platform answers about another login");
      own.push(position);
    }
  }
  return found;
}

function readPosition(row: JsonValue, login?: string): Position {
  const fields = fieldsOf(row);
  if (login !== undefined) requireLogin(fields, login);
  return {
    ticket: ticketOf(fields, "Position"),
    login: loginOf(fields),
    symbol: fields.text("Symbol"),
    volume: volumeOf(fields, "Volume"),
    profitMinor: fields.shownMinor("Profit"),
    swapMinor: fields.shownMinor("Storage", 0n),
  };
}
