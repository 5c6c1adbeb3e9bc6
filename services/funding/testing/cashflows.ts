import type { Pool } from "#kernel/postgres/pool.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { NewCashflow } from "../domain/cashflow.ts";
import { INVESTOR } from "./funding.ts";

export function aNewWithdrawal(overrides: Partial<NewCashflow> = {}): NewCashflow {
  return {
    operationId: "op-1",
    action: "withdraw",
    login: INVESTOR,
    amount: 40_00n,
    comment: "",
    deadline: new Date(),
    at: new Date(),
    duplicates: undefined,
    clientKey: undefined,
    asked: { masterMinimum: undefined },
    ...overrides,
  };
}

/** The minimum deposit that a first deposit of each Investor is decided with now; those of which not everything is known are left out. */
export async function minimumsOf(pool: Pool, logins: readonly string[]): Promise<Map<string, bigint | null>> {
  const rows = await many<{ login: string; minimum: bigint | null }>(
    pool,
    sql`select known_investor.login, min_deposit_minor as minimum
        from known_investor left join known_master on known_master.login = master_login
        where known_investor.login = any(${logins}::text[]) and (master_login is null or known_master.login is not null)
        order by 1`,
  );
  return new Map(rows.map(({ login, minimum }) => [login, minimum]));
}
