import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { createWakeSignal } from "#kernel/wake-signal.ts";
import { createLog } from "#kernel/log.ts";
import { Refusal } from "#kernel/refusal.ts";
import { SubscriptionStatus, type LeaveRequest, type LeaveResponse } from "#proto/pamm/subscription/v1/subscription.ts";
import { testDatabase } from "#test/support/database.ts";
import { cashflowQueues } from "../cashflow-queues.ts";
import type { Deps } from "../deps.ts";
import { feeFake, type FeeFake } from "./fee-fake.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import { openAccount } from "#test/support/platform-fake/ledger.ts";
import { platformFake, type PlatformFake } from "#test/support/platform-fake/platform-fake.ts";

export const INVESTOR = "9001";
export const MASTER = "5001";

export type World = Deps & {
  readonly platform: PlatformFake & Deps["platform"];
  readonly fees: FeeFake;
  /** Requests that the subscription service received. */
  readonly leaves: LeaveRequest[];
  /** Refusals of the next calls of the subscription service, first one first. */
  readonly refusals: Refusal[];
  /** Masters without open positions. */
  readonly flatMasters: Set<string>;
  /** Questions for them. */
  readonly flatCalls: (readonly string[])[];
  /** Keys whose reserve was returned. */
  readonly returned: string[];
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
  const leaves: LeaveRequest[] = [];
  const refusals: Refusal[] = [];
  const returned: string[] = [];
  /** A try that was refused is never decided differently. */
  const refused = new Map<string, Refusal>();
  const flatMasters = new Set<string>();
  const flatCalls: (readonly string[])[] = [];
  if (!platform.ledger.accounts.has(INVESTOR)) openAccount(platform.ledger, INVESTOR, AccountRole.INVESTOR);
  const follows = masterMinimum !== undefined;
  const unused = (): never => {
    throw new Error("This call is not part of the test.");
  };
  return {
    pool,
    platform: { ...platform.client, ...platform },
    fees: feeFake({ platform, login: INVESTOR, pending: pendingFee }, unused),
    leaves,
    refusals,
    flatMasters,
    flatCalls,
    returned,
    queues: cashflowQueues(pool),
    queueWake: createWakeSignal(),
    log: createLog({ service: "funding", level: "silent" }),
    now: () => new Date(),
    accounts: accountsFake(masterMinimum, unused),
    subscriptions: {
      ...unusedSubscriptions(unused),
      findOpenSubscription: async () => ({ subscription: follows ? activeSubscription() : undefined }),
      async leave(request) {
        leaves.push(request);
        const id = `${request.key}:${request.try}`;
        const refusal = refused.get(id) ?? refusals.shift();
        if (refusal !== undefined) {
          if (refusal.status === "conflict" && refusal.outcome !== "unknown") refused.set(id, refusal);
          throw refusal;
        }
        return leaveAnswer(request, { inPool: follows, pendingFee });
      },
      async listFlatMasters({ masterLogins }) {
        flatCalls.push(masterLogins);
        return { masterLogins: masterLogins.filter((login) => flatMasters.has(login)) };
      },
      async returnReserve({ key }) {
        returned.push(key);
        return { amount: usd(0n) };
      },
    },
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

function leaveAnswer(
  { heldBalance, requested }: LeaveRequest,
  pool: { inPool: boolean; pendingFee: bigint },
): LeaveResponse {
  const before = heldBalance?.minorUnits ?? 0n;
  const available = before > pool.pendingFee ? before - pool.pendingFee : 0n;
  const requestedMinor = requested?.minorUnits ?? 0n;
  return {
    inPool: pool.inPool,
    masterLogin: pool.inPool ? MASTER : "",
    settledLogNumber: 0n,
    balanceBefore: usd(before),
    pendingFee: usd(pool.pendingFee),
    availableAfterFee: usd(available),
    effective: usd(requestedMinor < available ? requestedMinor : available),
  };
}

function activeSubscription() {
  const at = new Date("2026-01-01T00:00:00Z");
  return {
    id: 1n,
    masterId: 1n,
    investorId: 1n,
    masterLogin: MASTER,
    investorLogin: INVESTOR,
    status: SubscriptionStatus.ACTIVE,
    inPool: true,
    startedAt: at,
    endedAt: undefined,
    createdAt: at,
    balanceBaselineOpId: 1n,
  };
}

function accountsFake(masterMinimum: bigint | undefined, unused: () => never): Deps["accounts"] {
  const at = new Date("2026-01-01T00:00:00Z");
  const kind = 3 as const;
  return {
    createMaster: unused,
    addMaster: unused,
    getMaster: unused,
    updateMaster: unused,
    getMasterStatus: unused,
    closeMaster: unused,
    listMasters: unused,
    revealMaster: unused,
    createInvestor: unused,
    addInvestor: unused,
    listInvestors: unused,
    revealInvestor: unused,
    eraseInvestor: unused,
    findRegistrations: unused,
    findPaymentAccounts: unused,
    getMasterProfile: unused,
    getInvestorProfile: unused,
    updateInvestor: unused,
    searchMasters: unused,
    searchInvestors: unused,
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
  };
}

function unusedSubscriptions(unused: () => never): Deps["subscriptions"] {
  return {
    assign: unused,
    unassign: unused,
    listSubscriptions: unused,
    searchSubscriptions: unused,
    findMirrors: unused,
    findMirrored: unused,
    getActiveMaster: unused,
    listActiveInvestors: unused,
    countActiveInvestors: unused,
    closeMaster: unused,
    getClosing: unused,
    findOpenSubscription: unused,
    previewAssign: unused,
    previewUnassign: unused,
    leave: unused,
    previewLeave: unused,
    listUnrecordedFees: unused,
    findLockOwners: unused,
    findPooled: unused,
    returnReserve: unused,
    getPoolLedger: unused,
    getEquity: unused,
    listInvestorAllocations: unused,
    listPerformance: unused,
    listResults: unused,
    getFeeFloors: unused,
    decidePendingFee: unused,
    sumFlows: unused,
    getOperation: unused,
    cancelOperation: unused,
    listFlatMasters: unused,
    listOperations: unused,
    getProof: unused,
    findTransfers: unused,
    listBreaks: unused,
    listReviews: unused,
    listReviewGroups: unused,
    decideReview: unused,
    decideReviewGroup: unused,
  };
}
