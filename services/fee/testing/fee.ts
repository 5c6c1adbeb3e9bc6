import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { createLog } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { testDatabase } from "#test/support/database.ts";
import type { Deps } from "../deps.ts";
import { feeQueues } from "../queues.ts";
import { createWakeSignals } from "../service.ts";
import { platformFake, type PlatformFake } from "#test/support/platform-fake/platform-fake.ts";
import { AccountKind } from "#proto/pamm/account/v1/account.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { openAccount } from "#test/support/platform-fake/ledger.ts";
import { subscriptionFake, type SubscriptionFake } from "./subscription-fake.ts";

export const INVESTOR = "9001";
export const MASTER = "5001";
export const PAYMENT_ACCOUNT = "6001";
/** Another Master with its own payment account. */
export const OTHER_MASTER = "5002";
export const OTHER_PAYMENT_ACCOUNT = "6002";

const REGISTERED_AT = new Date("2026-01-01T00:00:00Z");
const PAYMENT_ACCOUNTS = new Map([
  [MASTER, PAYMENT_ACCOUNT],
  [OTHER_MASTER, OTHER_PAYMENT_ACCOUNT],
]);

export type OtherServices = { readonly platform: PlatformFake; readonly subscriptions: SubscriptionFake };

/** The fee service with a real database, one Investor and two Masters. The test sets the clock. */
export async function feeDeps(now: () => Date, others = otherServicesAt(now), existing?: Pool): Promise<Deps> {
  const pool = existing ?? (await testDatabase("fee")).pool;
  return withQueues({
    pool,
    now,
    wakeSignals: createWakeSignals(),
    log: createLog({ service: "fee", level: "silent" }),
    platform: others.platform.client,
    subscriptions: others.subscriptions.client,
    accounts: {
      async findInvestor({ login }) {
        if (login !== INVESTOR) throw notFound("investor_not_found");
        return { id: 17n, login, name: "Ivy", createdAt: REGISTERED_AT };
      },
      findMaster: async ({ login }) => masterOf(login),
      getMaster: async ({ id }) => masterOf(String(id)),
      async findAccounts({ logins }) {
        const payees = [...PAYMENT_ACCOUNTS].filter(([, account]) => logins.includes(account));
        return {
          accounts: [
            ...payees.map(([master, login]) => ({
              login,
              kind: AccountKind.PAYMENT,
              id: BigInt(master),
              name: "Alpha",
            })),
            ...(logins.includes(INVESTOR)
              ? [{ login: INVESTOR, kind: AccountKind.INVESTOR, id: 17n, name: "Ivy" }]
              : []),
          ],
        };
      },
    },
  });
}

/** Dependencies whose queues use them. */
export function withQueues(deps: Omit<Deps, "queues">): Deps {
  return { ...deps, queues: feeQueues(deps) };
}

export function otherServicesAt(now: () => Date): OtherServices {
  const platform = platformFake({ now, balances: { [INVESTOR]: 0n } });
  for (const login of PAYMENT_ACCOUNTS.values()) openAccount(platform.ledger, login, AccountRole.PAYMENT);
  return { platform, subscriptions: subscriptionFake(now) };
}

export function aCall(commandId = "", withinMs = 5_000): CallContext {
  return callContext({ caller: "edge", commandId, withinMs });
}

function notFound(code: string): Refusal {
  return new Refusal({ code, status: "not_found", message: code });
}

/** The id of a Master is its login. */
function masterOf(login: string) {
  const paymentAccountLogin = PAYMENT_ACCOUNTS.get(login);
  if (paymentAccountLogin === undefined) throw notFound("master_not_found");
  return {
    id: BigInt(login),
    login,
    name: "Alpha",
    strategyName: undefined,
    strategy: undefined,
    paymentAccountLogin,
    minDeposit: { currencyCode: "USD", minorUnits: 0n },
    createdAt: REGISTERED_AT,
    investorsCount: undefined,
    acceptingInvestors: true,
  };
}
