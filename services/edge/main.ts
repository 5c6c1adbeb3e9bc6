import { openBackbone } from "#kernel/process/backbone.ts";
import { createWakeSignal } from "#kernel/jobs/wake-signal.ts";
import { systemClock } from "#kernel/values/clock.ts";
import { type Config, readConfig } from "#kernel/process/config.ts";
import type { Contract } from "#kernel/contract/contract.ts";
import { runJob } from "#kernel/jobs/job.ts";
import { startMetrics } from "#kernel/process/metrics.ts";
import { migrateOnly } from "#kernel/postgres/migration.ts";
import { natsClient } from "#kernel/nats/client.ts";
import { readinessOf } from "#kernel/health/readiness.ts";
import { retain } from "#kernel/retention/retain.ts";
import type { Broker } from "#kernel/nats/connect.ts";
import { serveOverNats } from "#kernel/nats/serve.ts";
import { runService } from "#kernel/process/service.ts";
import { listenError } from "#kernel/process/startup-error.ts";
import { calendarOf } from "#kernel/values/time-zone.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { type ConfirmVotesRequest, VoteServiceService } from "#proto/pamm/common/v1/votes.ts";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { ROUTES } from "./api/routes.ts";
import { buildApp } from "./app.ts";
import { settings } from "./config.ts";
import { openEventLog } from "./events/event-log.ts";
import { startWebhooks } from "./events/webhooks/start-webhooks.ts";
import type { ClassLimits } from "./http/admission.ts";
import { createIdempotencyStore } from "./http/idempotency/idempotency-store.ts";
import { createReadiness, probesOf } from "./http/readiness.ts";
import type { Deps, RouteClass, Services } from "./http/route.ts";
import { DIST } from "./http/static/manifest.ts";
import { createAudit } from "./identity/audit/audit.ts";
import { deriveKey, pepperOf } from "./identity/keys/api-key.ts";
import { keyDirectory } from "./identity/keys/key-directory.ts";
import { createKeyRing, KEYS_CHANGED } from "./identity/keys/key-ring.ts";
import { addAuditPartitions, insertAuditEntries } from "./identity/store/access-audit.ts";
import { saveKeySystem } from "./identity/store/api-keys.ts";
import { confirmVotes } from "./identity/votes/confirm-votes.ts";
import { PERMISSIONS } from "./permissions.ts";
import { edgeRules } from "./retention.ts";
import { cursorsOf } from "./wire/cursor.ts";

const caller = "edge";
const schema = { service: caller, migrations: new URL("./migrations/", import.meta.url) };
/** How long a replica may miss a changed key when the signal was lost. */
const READ_KEYS_EVERY_MS = 5_000;
/** A client that was idle for as long may send its next requests at once. */
const BURST_SECONDS = 2;

await runService(caller, async (context) => {
  const { stack, env, log, isDraining, draining } = context;
  if (await migrateOnly(context, schema)) return;
  const config = readConfig(settings, env);
  const { pool, broker } = await openBackbone(context, {
    schema,
    settings: config,
    databaseUrl: config.EDGE_DATABASE_URL,
    migrationUrl: config.EDGE_DATABASE_MIGRATION_URL,
    streams: [],
  });
  const services = servicesOf(broker);
  const { isConnected: isBrokerConnected } = broker;
  const readiness = createReadiness({ isBrokerConnected, isDraining, probes: probesOf(services), now: systemClock });
  const findMissing = readinessOf({ pool, broker, isDraining });
  stack.use(await startMetrics({ host: config.PAMM_METRICS_HOST, port: config.PAMM_METRICS_PORT, findMissing }));
  const environment = config.PAMM_REHEARSAL ? "test" : "live";
  await saveKeySystem(pool, { environment, hasBootstrapKey: config.PAMM_BOOTSTRAP_API_KEY !== undefined });
  const keys = createKeyRing({
    pool,
    environment,
    pepper: pepperOf(config.PAMM_API_KEY_PEPPER),
    oldPepper: config.PAMM_API_KEY_PEPPER_OLD && pepperOf(config.PAMM_API_KEY_PEPPER_OLD),
    bootstrapKey: config.PAMM_BOOTSTRAP_API_KEY,
    now: systemClock,
  });
  await keys.refresh();
  const wake = createWakeSignal();
  broker.connection.subscribe(KEYS_CHANGED, { callback: wake.notify });
  const readKeys = async (): Promise<boolean> => keys.refresh().then(() => false);
  stack.use(runJob({ name: "read api keys", everyMs: READ_KEYS_EVERY_MS, wake, work: readKeys, log }));
  await addAuditPartitions(pool);
  const audit = stack.use(createAudit((entries) => insertAuditEntries(pool, entries), log));
  stack.use(retain({ pool, rules: edgeRules(config), log }));
  const feedsOf = (service: string) => natsClient(broker, { service, contract: FeedServiceService, caller });
  const events = await openEventLog(stack, pool, feedsOf, log);
  const { PAMM_REHEARSAL: isRehearsal, PAMM_WEBHOOK_KEY: key, PAMM_WEBHOOK_KEY_OLD: oldKey } = config;
  const webhooks = startWebhooks(stack, { pool, key, oldKey, isRehearsal, look: events.look, log });
  const app = await buildApp({
    routes: ROUTES,
    deps: depsOf(config, { ...services, events, webhooks, keys: keyDirectory(pool) }),
    authenticate: keys.authenticate,
    limits: limitsOf(config),
    audit,
    idempotency: createIdempotencyStore(pool, { now: systemClock, log, keptMs: config.PAMM_RETAIN_IDEMPOTENCY_KEYS }),
    readiness,
    isDraining,
    log,
    trustProxy: config.PAMM_TRUSTED_PROXIES,
    dist: config.PAMM_SERVE_PAGES ? DIST : undefined,
  });
  // Closes before the audit and the database: requests that are being answered still need them.
  stack.defer(() => app.close());
  const votes = {
    service: caller,
    contract: VoteServiceService,
    implementation: { confirmVotes: (request: ConfirmVotesRequest) => confirmVotes(pool, request) },
    permissions: PERMISSIONS,
  };
  stack.use(await serveOverNats(broker, { ...votes, log, draining }));
  const { PAMM_HTTP_HOST: host, PAMM_HTTP_PORT: port } = config;
  const url = await app.listen({ host, port }).catch((error: unknown) => {
    throw listenError("the HTTP interface (PAMM_HTTP_PORT)", host, port, error);
  });
  log.info("listening", { url });
});

function servicesOf(broker: Broker): Services {
  const client = <C extends Contract>(service: string, contract: C) =>
    natsClient(broker, { service, contract, caller });
  return {
    accounts: client("account", AccountServiceService),
    funding: client("funding", FundingServiceService),
    subscriptions: client("subscription", SubscriptionServiceService),
    fees: client("fee", FeeServiceService),
    platform: client("platform", PlatformServiceService),
  };
}

function depsOf(config: Config<typeof settings>, own: Omit<Deps, "cursors" | "serverClock" | "isRehearsal">): Deps {
  const { MT5_TIME_ZONE: zone, PAMM_REHEARSAL: isRehearsal } = config;
  const cursors = cursorsOf(deriveKey(config.PAMM_API_KEY_PEPPER, "cursors"));
  const serverClock = zone === undefined ? undefined : { zone, ...calendarOf(zone) };
  return { ...own, cursors, serverClock, isRehearsal };
}

function limitsOf(config: Config<typeof settings>): Record<RouteClass, ClassLimits> {
  const of = (perSecond: number, inProgress: number): ClassLimits => ({
    rate: { perSecond, burst: perSecond * BURST_SECONDS },
    inProgress,
  });
  return {
    read: of(config.PAMM_RATE_READ, config.PAMM_CONCURRENT_READ),
    money: of(config.PAMM_RATE_MONEY, config.PAMM_CONCURRENT_MONEY),
    create: of(config.PAMM_RATE_CREATE, config.PAMM_CONCURRENT_CREATE),
  };
}
