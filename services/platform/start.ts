import streams from "#streams" with { type: "json" };
import { openBackbone, relayFeeds, serveContract } from "#kernel/backbone.ts";
import { readIdentity } from "#kernel/identity.ts";
import { readConfig } from "#kernel/config.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { reconcile } from "#kernel/reconcile/reconcile.ts";
import { watchReviews } from "#kernel/review/metrics.ts";
import type { ServiceContext } from "#kernel/service.ts";
import { StartupError } from "#kernel/startup-error.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { platformChecks } from "./checks/checks.ts";
import { readTrust, requireSafeQuietPeriod, settings } from "./config.ts";
import { COMMAND_TIMEOUT_MS } from "./domain/permit.ts";
import { createMt5Client, type Mt5Client } from "./mt5/client.ts";
import { Mt5Error } from "./mt5/errors.ts";
import { readLogin, readWholeLogin } from "./protocol/history/read-history.ts";
import { hasOpenAttempts } from "./store/attempts.ts";
import { withInProcessState } from "./in-process-state.ts";
import { registerInstance } from "./register-instance.ts";
import { PERMISSIONS, READERS } from "./permissions.ts";
import { FEEDS, platformJobs, platformService } from "./service.ts";

export const SERVICE = "platform";

/** Wait for the first session at startup, long enough for a trade server that restarts. */
const SIGN_IN_WAIT_MS = 5_000;
/** Wait at startup for the first reading of the history, without which no permit is granted. A longer one goes on beside the service. */
const READING_WAIT_MS = 5_000;
/** Half of the deadline of an HTTP request. */
const TURN_WAIT_MS = 5_000;

/** Starts the service; everything that it starts ends with the stack, in reverse order. */
export async function startPlatform(context: ServiceContext): Promise<{ readonly grpcPort: number }> {
  const { stack, env, log } = context;
  const config = readConfig(settings, env);
  requireSafeQuietPeriod(config.PAMM_QUIET_PERIOD, config.PAMM_REHEARSAL);
  const trust = readTrust(config);
  const identity = readIdentity(SERVICE, config);
  const backbone = await openBackbone(context, {
    service: SERVICE,
    settings: config,
    databaseUrl: config.PLATFORM_DATABASE_URL,
    migrations: new URL("./migrations/", import.meta.url),
    streams: [streams.movements],
  });
  const sender = await registerInstance(backbone);
  const registration = Promise.withResolvers<never>();
  context.watch("registration in the database", registration.promise);
  const mt5 = stack.use(
    createMt5Client({
      url: new URL(config.MT5_URL),
      credentials: { login: config.MT5_LOGIN, password: config.MT5_PASSWORD },
      trust,
      ...(config.MT5_TIME_ZONE === undefined ? {} : { timeZone: config.MT5_TIME_ZONE }),
      maxSessions: config.MT5_SESSIONS,
      owner: `platform-${sender.epoch}`,
      now: () => new Date(sender.clock.nowMs()),
      // An attempt counts as lost after this time, so a session must not wait longer for an answer.
      limits: { commandTimeoutMs: COMMAND_TIMEOUT_MS },
      areAnswersMissing: await hasOpenAttempts(backbone.pool),
      log,
    }),
  );
  await requireManager(mt5, config.MT5_URL);
  const deps = withInProcessState({
    pool: backbone.pool,
    mt5,
    log,
    settings: {
      server: config.MT5_SERVER_NAME,
      masterGroups: config.MT5_MASTER_GROUPS,
      investorGroups: config.MT5_INVESTOR_GROUPS,
      paymentGroup: config.MT5_PAYMENT_GROUP,
      loginRange: config.MT5_LOGIN_RANGE,
      quietPeriodMs: config.PAMM_QUIET_PERIOD,
      reviewAfterMs: config.PAMM_REVIEW_AFTER,
      turnWaitMs: TURN_WAIT_MS,
    },
    sender,
    reach: failpoint,
    endProcess: registration.reject,
  });
  stack.defer(() => deps.sending.drain());
  await relayFeeds(context, backbone, FEEDS);
  for (const job of platformJobs(deps, config.MT5_READ_INTERVAL)) stack.use(job);
  await deps.gate.untilRead(READING_WAIT_MS);
  stack.use(watchReviews({ pool: deps.pool, log }));
  const checks = platformChecks({
    ...deps,
    readLogin: (login) => readLogin(deps, login),
    readWholeLogin: (login) => readWholeLogin(deps, login),
  });
  stack.use(reconcile({ pool: deps.pool, log, checks, maxMs: config.PAMM_CHECK_INTERVAL }));
  return await serveContract(context, backbone, {
    contract: PlatformServiceService,
    implementation: platformService(deps),
    permissions: PERMISSIONS,
    identity,
    feeds: FEEDS,
    readers: READERS,
    isReady: async () => backbone.broker.isConnected(),
  });
}

/** Ends the start with one clear message when the platform cannot be reached or refuses the manager. */
async function requireManager(mt5: Mt5Client, url: string): Promise<void> {
  try {
    using session = await mt5.acquireForCommand({ waitMs: SIGN_IN_WAIT_MS });
    void session;
  } catch (error) {
    if (!(error instanceof Mt5Error)) throw error;
    const advice =
      error.problem === "login_refused" || error.problem === "server_authentication_failed"
        ? "check MT5_LOGIN and MT5_PASSWORD, and that the manager may use the Web API"
        : "check MT5_URL, MT5_CA_FILE, MT5_TLS_NAME, MT5_TLS_FINGERPRINT and that the server is running";
    throw new StartupError(`no session with the trading platform at ${url}: ${error.message}; ${advice}`, {
      cause: error,
    });
  }
}
