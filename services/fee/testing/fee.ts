import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { createLog } from "#kernel/log.ts";
import { Refusal } from "#kernel/refusal.ts";
import { testDatabase } from "#test/support/database.ts";
import type { Deps } from "../deps.ts";

export const INVESTOR = "9001";
export const MASTER = "5001";
export const PAYMENT_ACCOUNT = "6001";
const REGISTERED_AT = new Date("2026-01-01T00:00:00Z");

/** Fee with a real database and one known Investor and Master. The clock stands where the test puts it. */
export async function feeDeps(now: () => Date): Promise<Deps> {
  const { pool } = await testDatabase("fee");
  return {
    pool,
    now,
    log: createLog({ service: "fee", level: "silent" }),
    accounts: {
      async findInvestor({ login }) {
        if (login !== INVESTOR) throw notFound("investor_not_found");
        return { id: 17n, login, name: "Ivy", createdAt: REGISTERED_AT };
      },
      async findMaster({ login }) {
        if (login !== MASTER) throw notFound("master_not_found");
        return {
          id: 5n,
          login,
          name: "Alpha",
          strategyName: undefined,
          strategy: undefined,
          paymentAccountLogin: PAYMENT_ACCOUNT,
          minDeposit: { currencyCode: "USD", minorUnits: 0n },
          createdAt: REGISTERED_AT,
          investorsCount: undefined,
        };
      },
    },
  };
}

export function aCall(commandId = ""): CallContext {
  return callContext({ caller: "edge", commandId, withinMs: 5_000 });
}

function notFound(code: string): Refusal {
  return new Refusal({ code, status: "not_found", message: code });
}
