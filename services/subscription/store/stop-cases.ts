import { matchesRow, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";

/** A break of a check. */
export type FoundBreak = {
  readonly check: string;
  readonly login: string;
  readonly dealIds: readonly bigint[];
  readonly openedAt: Date | undefined;
};

/**
 * Whether operators have decided a stop of the Master that was about the same: about the deal, which the log has before a check compares it,
 * or about the balance of an account that equalled its log after the break was opened.
 */
export async function isStopDecided(
  tx: Transaction,
  master: string,
  { check, login, dealIds, openedAt }: FoundBreak,
): Promise<boolean> {
  return await matchesRow(
    tx,
    sql`select id
        from review_case
        where login = ${master} and reason = 'stopped' and state = 'DECIDED'
          and (${check} = 'deal_matching' and deal_id = any (${dealIds}::bigint[])
               or ${check} = 'platform_balance' and ${login} in (login, evidence ->> 'account')
                  and confirmed_at > ${openedAt}::timestamptz)
        limit 1`,
  );
}
