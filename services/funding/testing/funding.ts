import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { createWakeSignal } from "#kernel/jobs/wake-signal.ts";
import { createLog } from "#kernel/process/log.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { testDatabase } from "#test/support/database.ts";
import { cashflowQueues } from "../cashflow-queues.ts";
import type { Deps } from "../deps.ts";
import { type SubscriptionFake, subscriptionFake } from "./subscription-fake.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { openAccount } from "#test/support/platform-fake/ledger.ts";
import { platformFake, type PlatformFake } from "#test/support/platform-fake/platform-fake.ts";

export const INVESTOR = "9001";
export const MASTER = "5001";

export type World = Deps & {
  readonly platform: PlatformFake & Deps["platform"];
  readonly subscriptions: SubscriptionFake;
};

type WorldOptions = {
  readonly platform?: PlatformFake;
  /** Minimum deposit, in cents, of the Master that the Investor follows; undefined: it follows none. */
  readonly masterMinimum?: bigint;
  readonly pendingFee?: bigint;
};

/** The funding service with a real database; other services are fakes in memory. */
export async function world({
  platform = platformFake(),
  masterMinimum,
  pendingFee = 0n,
}: WorldOptions = {}): Promise<World> {
  const { pool } = await testDatabase("funding");
  if (!platform.ledger.accounts.has(INVESTOR)) openAccount(platform.ledger, INVESTOR, AccountRole.INVESTOR);
  const master = masterMinimum === undefined ? undefined : MASTER;
  return {
    pool,
    platform: { ...platform.client, ...platform },
    subscriptions: subscriptionFake({ platform, investor: INVESTOR, master, pendingFee }),
    queues: cashflowQueues(pool),
    settleWake: createWakeSignal(),
    log: createLog({ service: "funding", level: "silent" }),
    now: () => new Date(),
    accounts: accountsFake(masterMinimum),
  };
}

export function aCall(commandId: string, withinMs = 10_000): CallContext {
  return callContext({ caller: "edge", commandId, withinMs });
}

export function usd(minorUnits: bigint) {
  return { currencyCode: "USD", minorUnits };
}

export function aRefusal(code: string): Refusal {
  return new Refusal({ code, status: "conflict", message: code });
}

/** The refusal of platform for a movement that the platform executed before the database was restored. */
export function repeatsLost(dealId: bigint): Refusal {
  const details = { deal_id: String(dealId) };
  return new Refusal({
    code: "possible_duplicate",
    status: "conflict",
    message: "lost",
    outcome: "not_executed",
    details,
  });
}

function accountsFake(masterMinimum: bigint | undefined): Deps["accounts"] {
  const at = new Date("2026-01-01T00:00:00Z");
  const kind = 3 as const;
  return {
    findMaster: async ({ login }) => ({
      id: 1n,
      login,
      name: "Alpha",
      strategyName: undefined,
      strategy: undefined,
      paymentAccountLogin: "6001",
      minDeposit: usd(masterMinimum ?? 0n),
      createdAt: at,
      investorsCount: undefined,
      acceptingInvestors: true,
    }),
    async findInvestor({ login }) {
      if (login !== INVESTOR) {
        throw new Refusal({ code: "investor_not_found", status: "not_found", message: "no such investor" });
      }
      return { id: 1n, login, name: "Ivy", createdAt: at };
    },
    findAccounts: async ({ logins }) => ({
      accounts: logins.filter((login) => login === INVESTOR).map((login) => ({ login, kind, id: 1n, name: "Ivy" })),
    }),
  } as Pick<Deps["accounts"], "findMaster" | "findInvestor" | "findAccounts"> as Deps["accounts"];
}
