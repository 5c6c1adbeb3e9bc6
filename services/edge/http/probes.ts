import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal, type RefusalStatus } from "#kernel/refusal.ts";
import { type Dependency, type Probe, PROBE_TIMEOUT_MS } from "./readiness.ts";
import type { Services } from "./route.ts";

/** Ids that do not exist: "not found" proves that the service and its database answer. */
const NO_LOGIN = "1";
const NO_OPERATION = "00000000-0000-7000-8000-000000000000";

/** Refusals that do not prove that the service and its database were reached. */
const NOT_REACHED: ReadonlySet<RefusalStatus> = new Set(["unavailable", "unknown_outcome", "internal", "busy"]);

/** One cheap query per service that reaches its database, and one that reaches the trading platform. */
export function probesOf(services: Services): Record<Dependency, Probe> {
  const { accounts, funding, subscriptions, fees, platform } = services;
  return {
    account: probe((context) => accounts.findAccounts({ logins: [NO_LOGIN] }, context)),
    funding: probe((context) => funding.getOperation({ operationId: NO_OPERATION }, context)),
    subscription: probe((context) => subscriptions.countActiveInvestors({ masterLogins: [NO_LOGIN] }, context)),
    fee: probe((context) => fees.getConfiguration({ investorLogin: NO_LOGIN }, context)),
    platform: probe(async (context) => {
      const { reachable } = await platform.getStatus({}, context);
      if (!reachable) throw new Error("the platform cannot be reached");
    }),
  };
}

function probe(query: (context: CallContext) => Promise<unknown>): Probe {
  return async () => {
    try {
      await query(callContext({ caller: "edge", withinMs: PROBE_TIMEOUT_MS }));
    } catch (error) {
      if (!(error instanceof Refusal) || NOT_REACHED.has(error.status)) throw error;
    }
  };
}
