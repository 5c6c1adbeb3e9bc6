import streams from "#streams" with { type: "json" };
import { openBackbone, relayFeeds, serveContract } from "#kernel/process/backbone.ts";
import { readIdentity } from "#kernel/certificates/identity.ts";
import { stopOnBreaksJob } from "#kernel/reconcile/stop-on-breaks.ts";
import { type Config, readConfig } from "#kernel/process/config.ts";
import { failpoint } from "#kernel/process/failpoint.ts";
import { reconcile } from "#kernel/reconcile/reconcile.ts";
import { retain } from "#kernel/retention/retain.ts";
import { askEdge } from "#kernel/review/check-votes.ts";
import { watchReviews } from "#kernel/review/metrics.ts";
import type { ServiceContext } from "#kernel/process/service.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { platformChecks } from "./checks/checks.ts";
import { readTrust, requireKnownGroups, requireSafeQuietPeriod, settings } from "./config.ts";
import { readWholeLogin } from "./amendments/amendments.ts";
import { readLogin } from "./protocol/history/read-history.ts";
import type { Settings } from "./deps.ts";
import { noteAccounts } from "./protocol/unshown-accounts.ts";
import { connectRequesters } from "./connect-requesters.ts";
import { connectPlatform } from "./connect-platform.ts";
import { hasOpenAttempts } from "./store/attempts.ts";
import { stoppingBreaks } from "./jobs/stop-on-breaks.ts";
import { withInProcessState } from "./in-process-state.ts";
import { registerInstance } from "./register-instance.ts";
import { refuseForeign } from "./own-requests.ts";
import { PERMISSIONS, READERS } from "./permissions.ts";
import { platformRules } from "./retention.ts";
import { FEEDS, givingBackJob, platformJobs, platformService, STATES_FEED } from "./service.ts";

export const SERVICE = "platform";
export const SCHEMA = { service: SERVICE, migrations: new URL("./migrations/", import.meta.url) };

/** Wait at startup for the first reading of the history, without which no permit is granted. A longer one goes on beside the service. */
const READING_WAIT_MS = 5_000;
/** Half of the deadline of an HTTP request. */
const TURN_WAIT_MS = 5_000;

/** Starts the service; everything that it starts ends with the stack, in reverse order. */
export async function startPlatform(context: ServiceContext): Promise<{ readonly grpcPort: number }> {
  const { stack, env, log } = context;
  const config = readConfig(settings, env);
  requireSafeQuietPeriod(config.PAMM_QUIET_PERIOD, config.PAMM_REHEARSAL);
  requireKnownGroups(config);
  const trust = readTrust(config);
  const identity = readIdentity(SERVICE, config);
  const backbone = await openBackbone(context, {
    schema: SCHEMA,
    settings: config,
    databaseUrl: config.PLATFORM_DATABASE_URL,
    migrationUrl: config.PLATFORM_DATABASE_MIGRATION_URL,
    streams: [streams.movements],
  });
  const sender = await registerInstance({ pool: backbone.pool, log });
  const registration = Promise.withResolvers<never>();
  context.watch("registration in the database", registration.promise);
  const areAnswersMissing = await hasOpenAttempts(backbone.pool);
  const connection = { config, trust, sender, areAnswersMissing, log };
  const mt5 = await connectPlatform(stack, connection);
  const deps = withInProcessState({
    pool: backbone.pool,
    mt5,
    log,
    settings: settingsOf(config),
    sender,
    failpoint,
    endProcess: registration.reject,
  });
  stack.defer(() => deps.sending.drain());
  const { forwarding } = relayFeeds(context, backbone);
  const intervals = { readEveryMs: config.MT5_READ_INTERVAL, checkEveryMs: config.PAMM_CHECK_INTERVAL };
  for (const job of platformJobs(deps, intervals, [forwarding])) stack.use(job);
  await deps.gate.untilRead(READING_WAIT_MS);
  stack.use(watchReviews({ pool: deps.pool, log }));
  const requesters = connectRequesters(stack, { config, identity });
  stack.use(givingBackJob({ ...deps, ...requesters }));
  const checks = platformChecks({
    ...deps,
    ...requesters,
    confirm: askEdge(backbone.broker, SERVICE),
    readLogin: (login) => readLogin(deps, login),
    readWholeLogin: (login) => readWholeLogin(deps, login),
    noteAccounts: (read) => noteAccounts(deps, read),
  });
  stack.use(retain({ pool: deps.pool, rules: platformRules(FEEDS, config), log }));
  stack.use(reconcile({ pool: deps.pool, log, checks, maxMs: config.PAMM_CHECK_INTERVAL }));
  stack.use(stopOnBreaksJob(deps, stoppingBreaks(deps), config.PAMM_CHECK_INTERVAL));
  return await serveContract(context, backbone, {
    contract: PlatformServiceService,
    implementation: refuseForeign(platformService(deps), deps),
    permissions: PERMISSIONS,
    identity,
    feeds: FEEDS,
    readers: READERS,
    states: STATES_FEED,
  });
}

function settingsOf(config: Config<typeof settings>): Settings {
  return {
    server: config.MT5_SERVER_NAME,
    masterGroups: config.MT5_MASTER_GROUPS,
    investorGroups: config.MT5_INVESTOR_GROUPS,
    paymentGroup: config.MT5_PAYMENT_GROUP,
    maxLeverage: config.MT5_MAX_LEVERAGE,
    maxLeverageOfGroup: config.MT5_GROUP_MAX_LEVERAGE ?? new Map(),
    results: { actions: config.PAMM_RESULT_ACTIONS ?? [], comments: config.PAMM_RESULT_COMMENTS ?? [] },
    loginRange: config.MT5_LOGIN_RANGE,
    takesTrading: config.PAMM_INVESTOR_TRADING === "disable",
    quietPeriodMs: config.PAMM_QUIET_PERIOD,
    reviewAfterMs: config.PAMM_REVIEW_AFTER,
    commandTimeoutMs: config.MT5_COMMAND_TIMEOUT,
    turnWaitMs: TURN_WAIT_MS,
    dealTypes: config.MT5_DEAL_TYPES ?? {},
    sessionsAtOnce: Math.max(1, Math.floor(config.MT5_SESSIONS / 2)),
    maxTickAgeMs: config.PAMM_MAX_TICK_AGE,
  };
}
