import { HOUR_MS } from "../../../services/kernel/values/duration.ts";
import type { FeedReader } from "../../../services/kernel/feed/read.ts";
import type { Implementation } from "../../../services/kernel/contract/contract.ts";
import type { Log } from "../../../services/kernel/process/log.ts";
import type { Pool } from "../../../services/kernel/postgres/pool.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { COMMAND_TIMEOUT_MS } from "../../../services/platform/domain/permit.ts";
import type { Mt5Client } from "../../../services/platform/mt5/client.ts";
import { withInProcessState } from "../../../services/platform/in-process-state.ts";
import { registerInstance } from "../../../services/platform/register-instance.ts";
import type { TradingUse } from "../../../services/platform/checks/trading-use.ts";
import { givingBackJob, FEEDS, platformJobs, platformService } from "../../../services/platform/service.ts";
import type { Broker } from "./broker.ts";
import type { SimulatedProcess } from "./process.ts";
import { runChecks } from "./run-checks.ts";
import { relayFeeds } from "./relay-feeds.ts";

/** Where the market may close: histories last seconds. */
export const MAX_TICK_AGE_MS = 1_000;
export const SERVER_NAME = "simulated";

export type PlatformParts = {
  readonly process: SimulatedProcess;
  readonly pool: Pool;
  readonly mt5: Mt5Client;
  readonly broker: Broker;
  readonly quietPeriodMs: number;
  readonly log: Log;
  /** Defined when Investors lose their right to trade while they follow a Master. */
  readonly findPooled: TradingUse["findPooled"] | undefined;
  /** The process ends, and its supervisor starts it again. */
  readonly exit: () => void;
};

/** A process of the platform service, as other processes can call it. */
export type PlatformProcess = {
  readonly process: SimulatedProcess;
  readonly service: Implementation<PlatformServiceService>;
  readonly feeds: FeedReader;
  readonly runChecks: () => Promise<void>;
};

const INTERVALS = { readEveryMs: 1_000, checkEveryMs: 300_000 };
const TURN_WAIT_MS = 5_000;

/** The right of a payment account is taken when it is registered, before a history begins. */
const findPaymentAccounts: TradingUse["findPaymentAccounts"] = () => Promise.resolve({ inUse: [], becoming: [] });

/**
 * Everything of the real service but its transports: the counterpart of services/platform/start.ts. Resolves when it can
 * be reached; rejects when it cannot start, as the real process would exit.
 */
export async function startPlatformProcess(parts: PlatformParts): Promise<PlatformProcess> {
  const { process, pool, mt5, broker, quietPeriodMs, findPooled, log, exit } = parts;
  const deps = withInProcessState({
    pool,
    mt5,
    log,
    settings: {
      server: SERVER_NAME,
      masterGroups: ["real"],
      investorGroups: ["real"],
      paymentGroup: "real",
      maxLeverage: 5_000,
      maxLeverageOfGroup: new Map(),
      results: { actions: [], comments: [] },
      loginRange: { first: 1n, last: 2n },
      takesTrading: findPooled !== undefined,
      quietPeriodMs,
      reviewAfterMs: 21_600_000,
      commandTimeoutMs: COMMAND_TIMEOUT_MS,
      turnWaitMs: TURN_WAIT_MS,
      dealTypes: {},
      sessionsAtOnce: 4,
      maxTickAgeMs: findPooled === undefined ? HOUR_MS : MAX_TICK_AGE_MS,
    },
    sender: await registerInstance({ pool, log }),
    failpoint: (point) => process.deliver("failpoint", point, () => undefined),
    endProcess: exit,
  });
  const { feeds, forwarding } = relayFeeds({ process, pool, broker }, "platform", FEEDS);
  platformJobs(deps, INTERVALS, [forwarding]);
  if (findPooled !== undefined) givingBackJob({ ...deps, tradingUse: { findPooled, findPaymentAccounts } });
  return { process, service: platformService(deps), feeds, runChecks: () => runChecks(pool, mt5) };
}
