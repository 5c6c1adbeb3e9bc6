import { execute, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { OpenPosition } from "../domain/open-positions.ts";

export async function listOpenPositions(db: Queryable, login: string): Promise<OpenPosition[]> {
  const rows = await many<{ position_id: bigint; symbol: string; volume: bigint }>(
    db,
    sql`select position_id, symbol, volume from open_position where login = ${login} order by position_id`,
  );
  return rows.map(({ position_id: positionId, symbol, volume }) => ({ positionId, symbol, volume }));
}

/** A volume of 0 closes the position. */
export async function saveOpenPositions(
  tx: Transaction,
  login: string,
  changed: readonly OpenPosition[],
): Promise<void> {
  const open = changed.filter(({ volume }) => volume !== 0n);
  await execute(
    tx,
    sql`delete from open_position
        where login = ${login} and position_id = any (${changed.map(({ positionId }) => positionId)}::bigint[])`,
  );
  await execute(
    tx,
    sql`insert into open_position (login, position_id, symbol, volume)
        select ${login}, position, symbol, volume
        from unnest(
          ${open.map(({ positionId }) => positionId)}::bigint[],
          ${open.map(({ symbol }) => symbol)}::text[],
          ${open.map(({ volume }) => volume)}::bigint[]
        ) as opened (position, symbol, volume)`,
  );
}
