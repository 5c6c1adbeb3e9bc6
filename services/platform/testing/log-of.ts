import { formatMinor } from "#kernel/values/money.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { type AccountMoved, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { aCall, eventually, type Instance } from "./world.ts";

/** The entries of the log after its opening, once there are `atLeast` of them. */
export async function logOf({ service }: Instance, login: string, atLeast: number): Promise<AccountMoved[]> {
  const { entries } = await eventually(
    () => service.readLog({ login, afterNumber: 0n, limit: 100 }, aCall()),
    (log) => log.entries.length >= atLeast,
  );
  return entries;
}

/** For example "TRADE 5.00". */
export function summaryOf({ kind, amount }: AccountMoved): string {
  const name = Object.entries(MovementKind).find(([, number]) => number === kind)?.[0] ?? "";
  return `${name} ${formatMinor(amount?.minorUnits ?? 0n)}`;
}

/** What became of recorded deals, in the order in which it was reported. */
export async function amendmentsOf({ service }: Instance, login: string): Promise<string[]> {
  const { entries } = await service.readLog({ login, afterNumber: 0n, limit: 100 }, aCall());
  return entries.flatMap(({ kind, reason }) => (kind === MovementKind.AMENDMENT ? reason : []));
}

export async function findingsOf({ deps }: Instance, login: string): Promise<string[]> {
  const rows = await many<{ reason: string }>(
    deps.pool,
    sql`select reason from finding where login = ${login} order by id`,
  );
  return rows.map(({ reason }) => reason);
}
