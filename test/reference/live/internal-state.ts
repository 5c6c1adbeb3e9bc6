import { readFileSync } from "node:fs";
import { join } from "node:path";
import { callContext } from "#kernel/contract/context.ts";
import { createLog } from "#kernel/log.ts";
import { connectNats } from "#kernel/nats/connect.ts";
import { natsClient } from "#kernel/nats/client.ts";
import { createPool } from "#kernel/postgres/pool.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
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

const TIMEOUT_MS = 20_000;
/** Of a floating result: 1e-8 USD scaled by 1e24. */
const PER_CENT = 10n ** 30n;

export async function openInternalState(system: TestSystem): Promise<InternalState> {
  const stack = new AsyncDisposableStack();
  const { natsUrl, natsCaFile, edgeDatabaseUrl } = readAnnouncement(system);
  const log = createLog({ service: "reference", level: "silent" });
  const broker = stack.use(
    await connectNats({ url: natsUrl, ca: readFileSync(natsCaFile, "utf8"), name: "edge", log }),
  );
  const subscription = natsClient(broker, {
    service: "subscription",
    contract: SubscriptionServiceService,
    caller: "reference",
  });
  const url = subscriptionUrl(edgeDatabaseUrl, system.stateDir);
  const pool = stack.use(createPool({ url, schema: "subscription", applicationName: "reference", max: 2 }));
  const hasRows = async (query: ReturnType<typeof sql>): Promise<boolean> => (await many(pool, query)).length > 0;
  return {
    async read(masterLogin) {
      const context = callContext({ caller: "reference", withinMs: TIMEOUT_MS });
      const { expectedMasterBalance, holdings } = await subscription.getPoolLedger({ masterLogin }, context);
      return {
        expectedBalance: expectedMasterBalance?.minorUnits ?? 0n,
        holdings: holdings.map((holding) => ({
          subscriptionId: holding.subscriptionId,
          pooled: holding.pooled?.minorUnits ?? 0n,
          waiting: holding.waiting?.minorUnits ?? 0n,
          unposted: holding.unposted?.minorUnits ?? 0n,
          inTransit: [holding.inbound, holding.reserved, holding.outbound].reduce(
            (sum, each) => sum + (each?.minorUnits ?? 0n),
            0n,
          ),
        })),
      };
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

type Announcement = { readonly natsUrl: string; readonly natsCaFile: string; readonly edgeDatabaseUrl: string };

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
