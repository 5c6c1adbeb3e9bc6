import { randomBytes, randomInt } from "node:crypto";
import { serviceUnavailable } from "#kernel/contract/refusals.ts";
import type { Contract, Implementation } from "#kernel/contract/contract.ts";
import { createWakeSignal } from "#kernel/wake-signal.ts";
import { createLog } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { Secret } from "#kernel/secret.ts";
import { UTC } from "#kernel/time-zone.ts";
import { feedReader } from "#kernel/feed/read.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { generatePassword } from "../../../services/account/domain/password.ts";
import { accountService } from "../../../services/account/service.ts";
import { createCredentialCipher } from "../../../services/account/credential-cipher.ts";
import { directoryReads } from "../../../services/account/store/directory-reads.ts";
import { feeQueues } from "../../../services/fee/queues.ts";
import { feeService } from "../../../services/fee/service.ts";
import { cashflowQueues } from "../../../services/funding/cashflow-queues.ts";
import { fundingService } from "../../../services/funding/service.ts";
import { COMMAND_TIMEOUT_MS } from "../../../services/platform/domain/permit.ts";
import { Mt5Error } from "../../../services/platform/mt5/errors.ts";
import { withInProcessState } from "../../../services/platform/in-process-state.ts";
import { registerInstance } from "../../../services/platform/register-instance.ts";
import { platformService } from "../../../services/platform/service.ts";
import { subscriptionService } from "../../../services/subscription/service.ts";
import { accountReads } from "../../../services/subscription/store/account-reads.ts";
import { departureCommits } from "../../../services/subscription/store/departure-commits.ts";

export type RealService = {
  readonly label: string;
  /** Name of its folder and its schema. */
  readonly name: string;
  readonly contract: Contract;
  readonly implement: (pool: Pool) => Promise<Implementation<Contract>>;
};

const log = createLog({ service: "fuzz", level: "silent" });
const now = (): Date => new Date();
const QUIET_PERIOD_MS = 5_000;
const TURN_WAIT_MS = 20;
const WEEK_MS = 7 * 86_400_000;

/** The real handlers of all services on real databases; all other services are unreachable. */
export const REAL_SERVICES: readonly RealService[] = [
  {
    label: "account",
    name: "account",
    contract: AccountServiceService,
    implement: async (pool) =>
      accountService({
        pool,
        reads: directoryReads(pool),
        platform: unreachable("platform"),
        subscriptions: unreachable("subscription"),
        fees: unreachable("fee"),
        credentialCipher: createCredentialCipher([new Secret(randomBytes(32))]),
        newPassword: () => generatePassword((bound) => randomInt(bound)),
        log,
        now,
      }) as Implementation<Contract>,
  },
  {
    label: "funding",
    name: "funding",
    contract: FundingServiceService,
    implement: async (pool) =>
      fundingService({
        pool,
        ...otherServices(),
        queues: cashflowQueues(pool),
        settleWake: createWakeSignal(),
        log,
        now,
      }) as Implementation<Contract>,
  },
  {
    label: "fee",
    name: "fee",
    contract: FeeServiceService,
    async implement(pool) {
      const needs = { pool, ...otherServices(), log, now };
      const deps = { ...needs, queues: feeQueues(needs), wakeSignals: wakeSignals() };
      return feeService(deps) as Implementation<Contract>;
    },
  },
  {
    label: "subscription",
    name: "subscription",
    contract: SubscriptionServiceService,
    implement: async (pool) =>
      subscriptionService({
        pool,
        ...otherServices(),
        accountReads: accountReads(pool),
        departureCommits: departureCommits(pool, now),
        movementLag: () => 0n,
        isPlatformRewound: () => false,
        wakeSignals: wakeSignals(),
        log,
        now,
        isSingleSubscription: true,
        agentCommission: "own_capital",
        week: { anchor: new Date("2025-01-04T00:00:00Z"), periodMs: WEEK_MS },
        serverDays: UTC,
        valuedEveryMs: WEEK_MS,
        adoptsCharge: () => false,
        transfersKeptMs: WEEK_MS,
      }) as Implementation<Contract>,
  },
  { label: "platform", name: "platform", contract: PlatformServiceService, implement: platform },
  {
    label: "a feed",
    name: "subscription",
    contract: FeedServiceService,
    implement: async (pool) => feedReader(pool, ["subscription.mirrors"]) as Implementation<Contract>,
  },
];

async function platform(pool: Pool): Promise<Implementation<Contract>> {
  const deps = withInProcessState({
    pool,
    mt5: offline(),
    log,
    settings: {
      server: "fuzz",
      masterGroups: ["pamm\\master"],
      investorGroups: ["pamm\\investor"],
      paymentGroup: "pamm\\payment",
      maxLeverage: 5_000,
      maxLeverageOfGroup: new Map(),
      results: { actions: [], comments: [] },
      loginRange: { first: 3_000_000n, last: 3_999_999n },
      takesTrading: true,
      quietPeriodMs: QUIET_PERIOD_MS,
      reviewAfterMs: 21_600_000,
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      turnWaitMs: TURN_WAIT_MS,
      dealTypes: {},
      sessionsAtOnce: 4,
      maxTickAgeMs: 3_600_000,
    },
    sender: await registerInstance({ pool, log }),
    failpoint: () => undefined,
    endProcess: () => undefined,
  });
  deps.gate.note("open");
  return platformService(deps) as Implementation<Contract>;
}

function otherServices() {
  return {
    accounts: unreachable("account"),
    fees: unreachable("fee"),
    platform: unreachable("platform"),
    subscriptions: unreachable("subscription"),
  };
}

/** Each method fails as a client of an unreachable service does. */
function unreachable(service: string): never {
  return new Proxy({}, { get: () => () => Promise.reject(serviceUnavailable(service)) }) as never;
}

function offline(): never {
  const status = () => ({ reachable: false, sessions: 0, waiting: 0, lastError: "offline" });
  const no = () => Promise.reject(new Mt5Error("unreachable", "offline"));
  return new Proxy({}, { get: (_target, name) => (name === "status" ? status : no) }) as never;
}

function wakeSignals(): never {
  return new Proxy({}, { get: () => createWakeSignal() }) as never;
}
