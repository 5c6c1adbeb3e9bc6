import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createPool } from "#kernel/postgres/pool.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { TestSystem } from "../../journey/support/system.ts";

/** The ledger of a Master, in cents. */
export type PoolLedger = {
  readonly expectedBalance: bigint;
  readonly holdings: readonly HoldingLedger[];
};

export type HoldingLedger = {
  readonly subscriptionId: bigint;
  readonly pooled: bigint;
  readonly waiting: bigint;
  readonly unposted: bigint;
  /** Money in transit to or from the Master. */
  readonly inTransit: bigint;
};

/** State of the subscription service that the API does not show. A test waits for it before the next step. */
export type InternalState = AsyncDisposable & {
  readonly read: (masterLogin: string) => Promise<PoolLedger>;
  /** Whether an inflow or outflow has no units yet. */
  readonly isStrikeDue: (masterLogin: string) => Promise<boolean>;
  /** The floating result of each open position at the last valuation of the pool, in cents. */
  readonly valuedFloating: (masterLogin: string) => Promise<ReadonlyMap<bigint, bigint>>;
  readonly isClosedThrough: (masterLogin: string, cutOff: number) => Promise<boolean>;
};

/** Of a floating result: 1e-8 USD scaled by 1e24. */
const PER_CENT = 10n ** 30n;

export async function openInternalState(system: TestSystem): Promise<InternalState> {
  const stack = new AsyncDisposableStack();
  const { edgeDatabaseUrl } = readAnnouncement(system);
  const url = subscriptionUrl(edgeDatabaseUrl, system.stateDir);
  const pool = stack.use(createPool({ url, schema: "subscription", applicationName: "reference", max: 2 }));
  const hasRows = async (query: ReturnType<typeof sql>): Promise<boolean> => (await many(pool, query)).length > 0;
  return {
    async read(masterLogin) {
      const [{ expected = 0n } = {}] = await many<{ expected: bigint }>(
        pool,
        sql`select (own_waiting_minor + own_pooled_minor + imported_mirrors_minor + imported_exits_minor + unallocated_minor
                    + (select coalesce(sum(waiting_minor + pooled_minor + reserved_minor + outbound_minor), 0)
                       from holding where master_login = login))::bigint as expected
            from master_pool
            where login = ${masterLogin}`,
      );
      const holdings = await many<HoldingLedger>(
        pool,
        sql`select subscription_id as "subscriptionId", pooled_minor as pooled, waiting_minor as waiting,
                   unposted_minor as unposted, inbound_minor + reserved_minor + outbound_minor as "inTransit"
            from holding join subscription on subscription.id = subscription_id
                 join investor_account as account on account.login = holding.investor_login
            where holding.master_login = ${masterLogin} and (status in ('ACTIVE', 'PAUSED') or outbound_minor <> 0)
            order by subscription_id`,
      );
      return { expectedBalance: expected, holdings };
    },
    isStrikeDue: (login) =>
      hasRows(
        sql`select 1 from holding where master_login = ${login} and (waiting_minor <> 0 or unredeemed_minor <> 0)
            union all
            select 1 from master_pool where login = ${login} and (own_waiting_minor <> 0 or own_unredeemed_minor <> 0)`,
      ),
    async valuedFloating(login) {
      const positions = await many<{ id: bigint; valued: string }>(
        pool,
        sql`select position_id as id, valued::text from pool_position where master_login = ${login}`,
      );
      return new Map(positions.map(({ id, valued }) => [id, BigInt(valued) / PER_CENT]));
    },
    isClosedThrough: (login, cutOff) =>
      hasRows(sql`select 1 from master_pool
               where login = ${login} and coalesce(weeks_closed_through, 'infinity') >= ${new Date(cutOff)}`),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

type Announcement = { readonly edgeDatabaseUrl: string };

function readAnnouncement({ stateDir }: TestSystem): Announcement {
  return JSON.parse(readFileSync(join(stateDir, "run/system.json"), "utf8")) as Announcement;
}

/** Each service has a role and a password of its own. */
function subscriptionUrl(edgeUrl: string, stateDir: string): string {
  const url = new URL(edgeUrl);
  url.username = url.username.replace("edge", "subscription");
  url.password = readFileSync(join(stateDir, "secret/postgres-password-subscription"), "utf8").trim();
  return url.href;
}
