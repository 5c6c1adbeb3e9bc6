import { isHeldInflow } from "./flows.ts";
import { many, type Queryable, sql } from "#kernel/postgres/query.ts";
import { ARE_BOOKS_WHOLE } from "./settled-database.ts";

/** The log position up to which an Investor is filed, and its holding in a pool. */
export type InvestorState = {
  /** The database in which this was read. */
  readonly database: string;
  readonly filedNumber: bigint;
  /** Undefined outside a pool. */
  readonly holding:
    | {
        readonly subscriptionId: bigint;
        readonly masterLogin: string;
        readonly inbound: bigint;
        /** All of it waits on the account for the end of a deficit, or for an archived Master. */
        readonly isHeld: boolean;
        readonly isStopped: boolean;
      }
    | undefined;
};

/** Before the opening of the log. */
export const NOT_FILED: InvestorState = { database: "", filedNumber: -1n, holding: undefined };

type Row = {
  readonly database: string;
  readonly login: string;
  readonly filedNumber: bigint;
  readonly subscriptionId: bigint | null;
  readonly masterLogin: string | null;
  readonly inbound: bigint | null;
  readonly isHeld: boolean;
  readonly isStopped: boolean;
};

export async function findInvestorState(db: Queryable, investorLogin: string): Promise<InvestorState> {
  return (await listInvestorStates(db, [investorLogin])).get(investorLogin) ?? NOT_FILED;
}

/** By login; without those of which nothing is filed. */
export async function listInvestorStates(
  db: Queryable,
  investorLogins: readonly string[],
): Promise<Map<string, InvestorState>> {
  const rows = await many<Row>(
    db,
    sql`select (select database_identity()) as database, account.login, account.filed_number as "filedNumber", holding.subscription_id as "subscriptionId",
               holding.master_login as "masterLogin", holding.inbound_minor as inbound,
               case when holding.inbound_minor > 0 then holding.inbound_minor = (
                 select coalesce(sum(flow.amount_minor), 0)::bigint
                 from flow
                 where flow.subscription_id = holding.subscription_id and flow.mirror_id is null and ${isHeldInflow}
               ) else false end as "isHeld",
               (pool.stopped_reason is not null or not ${ARE_BOOKS_WHOLE}) as "isStopped"
        from investor_account as account
             left join holding on holding.subscription_id = account.pooled_subscription_id
             left join master_pool as pool on pool.login = holding.master_login
        where account.login = any(${investorLogins}::text[])`,
  );
  return new Map(rows.map((row) => [row.login, stateOf(row)]));
}

function stateOf({
  database,
  filedNumber,
  subscriptionId,
  masterLogin,
  inbound,
  isHeld,
  isStopped,
}: Row): InvestorState {
  if (subscriptionId === null || masterLogin === null || inbound === null) {
    return { database, filedNumber, holding: undefined };
  }
  return { database, filedNumber, holding: { subscriptionId, masterLogin, inbound, isHeld, isStopped } };
}
