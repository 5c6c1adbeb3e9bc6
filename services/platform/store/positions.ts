import { type Money, usd } from "#kernel/values/money.ts";
import { execute, fragment, many, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { OpenPosition } from "../domain/open-positions.ts";
import { isOtherCurrency } from "./account-stops.ts";

export async function listOpenPositions(db: Queryable, login: string): Promise<OpenPosition[]> {
  return await many<OpenPosition>(
    db,
    sql`select position_id as "positionId", symbol, volume from open_position where login = ${login} order by position_id`,
  );
}

/** What the log of a login amounts to. */
export type LogEnd = {
  readonly number: bigint;
  readonly entryId: bigint;
  readonly balance: Money;
  readonly undecidedFrom: Date | null;
  readonly isArchived: boolean;
  readonly registration: bigint | null;
  /** The latest time of a deal in it. */
  readonly lastDealAt: Date | null;
  /** The amounts of the account are not dollars and cents. */
  readonly isOtherCurrency: boolean;
  readonly positions: readonly Pick<OpenPosition, "positionId" | "volume">[];
};

type LogEndRow = Omit<LogEnd, "balance" | "positions"> & {
  login: string;
  balanceMinor: bigint;
  positionId: bigint | null;
  volume: bigint | null;
};

const ACCOUNT_LOGIN = fragment`account.login`;
/** Deals that are found late have an earlier time than those before them in the log. */
const MOST_FOUND_LATE = 100;

/** By login; without those that are not managed. */
export async function listLogEnds(db: Queryable, logins: readonly string[]): Promise<ReadonlyMap<string, LogEnd>> {
  const rows = await many<LogEndRow>(
    db,
    sql`select account.login, log_number as number, log_entry_id as "entryId", log_minor as "balanceMinor",
               undecided_from as "undecidedFrom",
               archived_at is not null as "isArchived", registration, newest."lastDealAt",
               ${isOtherCurrency(ACCOUNT_LOGIN)} as "isOtherCurrency", position_id as "positionId", volume
        from account
        cross join lateral (
          select max(deal_at) as "lastDealAt"
          from (
            select deal_at
            from log_entry
            where log_entry.login = account.login and number <= account.log_number and deal_id is not null
            order by number desc
            limit ${MOST_FOUND_LATE}
          ) as latest
        ) as newest
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
  { login: _login, balanceMinor, positionId: _position, volume: _volume, ...end }: LogEndRow,
  rows: readonly LogEndRow[],
): LogEnd {
  const positions = rows.flatMap(({ positionId, volume }) =>
    positionId === null || volume === null ? [] : [{ positionId, volume }],
  );
  return { ...end, balance: usd(balanceMinor), positions };
}

/** A volume of 0 closes the position. */
export async function saveOpenPositions(
  tx: Transaction,
  login: string,
  changed: readonly OpenPosition[],
): Promise<void> {
  await execute(
    tx,
    sql`delete from open_position
        where login = ${login} and position_id = any (${changed.map(({ positionId }) => positionId)}::bigint[])`,
  );
  const open = changed.filter(({ volume }) => volume !== 0n);
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

/** The log has these positions from now on, and no other. */
export async function replaceOpenPositions(
  tx: Transaction,
  login: string,
  positions: readonly OpenPosition[],
): Promise<void> {
  const closed = (await listOpenPositions(tx, login)).map((position) => ({ ...position, volume: 0n }));
  await saveOpenPositions(tx, login, [...closed, ...positions]);
}
