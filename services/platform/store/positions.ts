import { type Money, usd } from "#kernel/money.ts";
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

/** What the log of a login amounts to. */
export type LogEnd = {
  readonly number: bigint;
  readonly entryId: bigint;
  readonly balance: Money;
  readonly undecidedFrom: Date | null;
  readonly isArchived: boolean;
  readonly registration: bigint | null;
  readonly positions: readonly Pick<OpenPosition, "positionId" | "volume">[];
};

type LogEndRow = Omit<LogEnd, "balance" | "positions"> & {
  login: string;
  balanceMinor: bigint;
  positionId: bigint | null;
  volume: bigint | null;
};

/** By login; without those that are not managed. */
export async function listLogEnds(db: Queryable, logins: readonly string[]): Promise<ReadonlyMap<string, LogEnd>> {
  const rows = await many<LogEndRow>(
    db,
    sql`select account.login, log_number as number, log_entry_id as "entryId", log_minor as "balanceMinor",
               undecided_from as "undecidedFrom",
               archived_at is not null as "isArchived", registration, position_id as "positionId", volume
        from account
        left join open_position on open_position.login = account.login
        where account.login = any (${logins}::text[])`,
  );
  return new Map(
    [...Map.groupBy(rows, ({ login }) => login)].flatMap(([login, own]) => {
      const [first] = own;
      return first === undefined ? [] : [[login, logEndOf(first, own)] as const];
    }),
  );
}

function logEndOf(
  { number, entryId, balanceMinor, undecidedFrom, isArchived, registration }: LogEndRow,
  rows: readonly LogEndRow[],
): LogEnd {
  const positions = rows.flatMap(({ positionId, volume }) =>
    positionId === null || volume === null ? [] : [{ positionId, volume }],
  );
  return { number, entryId, balance: usd(balanceMinor), undecidedFrom, isArchived, registration, positions };
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
