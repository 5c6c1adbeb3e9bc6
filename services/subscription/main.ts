import streams from "#streams" with { type: "json" };
import { clientsOf, followFeed, openBackbone, relayFeeds, serveContract } from "#kernel/process/backbone.ts";
import { systemClock } from "#kernel/values/clock.ts";
import { type Config, readConfig } from "#kernel/process/config.ts";
import { readIdentity } from "#kernel/certificates/identity.ts";
import { pullWakeUps } from "#kernel/nats/pull.ts";
import { migrateOnly } from "#kernel/postgres/migration.ts";
import { reconcile } from "#kernel/reconcile/reconcile.ts";
import { stopOnBreaksJob } from "#kernel/reconcile/stop-on-breaks.ts";
import { retain } from "#kernel/retention/retain.ts";
import { askEdge } from "#kernel/review/check-votes.ts";
import { watchReviews } from "#kernel/review/metrics.ts";
import { runService } from "#kernel/process/service.ts";
import { calendarOf } from "#kernel/values/time-zone.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { subscriptionChecks } from "./checks/checks.ts";
import { settings } from "./config.ts";
import { createWakeSignals, type Deps } from "./deps.ts";
import { PERMISSIONS, READERS } from "./permissions.ts";
import { fileAccountMovement } from "./events/file-account-movement.ts";
import { requireRecordedWeeks } from "./processes/require-recorded-weeks.ts";
import { stoppingBreaks } from "./jobs/stop-on-breaks.ts";
import { adoptsNothing } from "./domain/quarantine.ts";
import { watchWaits } from "./jobs/watch-waits.ts";
import { subscriptionRules } from "./retention.ts";
import { FEEDS, STATES_FEED, subscriptionJobs, subscriptionService } from "./service.ts";
import { departureCommits } from "./store/departure-commits.ts";
import { accountReads } from "./store/account-reads.ts";

const caller = "subscription";
const schema = { service: caller, migrations: new URL("./migrations/", import.meta.url) };

await runService(caller, async (context) => {
  const { stack, env, log } = context;
  if (await migrateOnly(context, schema)) return;
  const config = readConfig(settings, env);
  const identity = readIdentity(caller, config);
  const backbone = await openBackbone(context, {
    schema,
    settings: config,
    databaseUrl: config.SUBSCRIPTION_DATABASE_URL,
    migrationUrl: config.SUBSCRIPTION_DATABASE_MIGRATION_URL,
    streams: [streams.movements],
  });
  const week = { anchor: config.PAMM_FEE_ANCHOR, periodMs: config.PAMM_FEE_PERIOD };
  await requireRecordedWeeks(backbone.pool, week);
  const client = clientsOf(stack, identity);
  const own = {
    pool: backbone.pool,
    platform: client("platform", config.PLATFORM_GRPC_URL, PlatformServiceService),
    accounts: client("account", config.ACCOUNT_GRPC_URL, AccountServiceService),
    fees: client("fee", config.FEE_GRPC_URL, FeeServiceService),
    accountReads: accountReads(backbone.pool),
    departureCommits: departureCommits(backbone.pool, systemClock),
    wakeSignals: createWakeSignals(),
    log,
    now: systemClock,
    week,
    ...choicesOf(config),
  };
  const { forwarding } = relayFeeds(context, backbone);
  const movements = await followFeed(
    context,
    backbone,
    { address: config.PLATFORM_GRPC_URL, service: "platform", identity },
    fileAccountMovement(own),
  );
  const deps: Deps = { ...own, ...progressOf(movements) };
  // JetStream delivers a lost wake-up signal again.
  const { catchUp } = movements;
  stack.use(pullWakeUps(backbone.broker, { stream: streams.movements.name, consumer: caller, catchUp, log }));
  for (const job of subscriptionJobs(deps, [forwarding])) stack.use(job);
  stack.use(watchReviews({ pool: deps.pool, log }));
  stack.use(watchWaits({ pool: deps.pool, log }));
  stack.use(
    reconcile({
      pool: deps.pool,
      log,
      checks: subscriptionChecks({ ...deps, confirm: askEdge(backbone.broker, caller) }),
      maxMs: config.PAMM_CHECK_INTERVAL,
    }),
  );
  stack.use(stopOnBreaksJob(deps, stoppingBreaks(deps), config.PAMM_CHECK_INTERVAL));
  stack.use(retain({ pool: deps.pool, rules: subscriptionRules(FEEDS, config), log }));
  await serveContract(context, backbone, {
    contract: SubscriptionServiceService,
    implementation: subscriptionService(deps),
    permissions: PERMISSIONS,
    identity,
    feeds: FEEDS,
    readers: READERS,
    states: STATES_FEED,
  });
});

/** What an operator has chosen. */
function choicesOf(config: Config<typeof settings>) {
  const { MT5_TIME_ZONE: zone } = config;
  return {
    isSingleSubscription: config.PAMM_SINGLE_SUBSCRIPTION,
    agentCommission: config.PAMM_AGENT_COMMISSION,
    adoptsCharge: config.PAMM_ADOPT_CHARGES ?? adoptsNothing,
    serverDays: zone === undefined ? undefined : calendarOf(zone),
    valuedEveryMs: config.PAMM_VALUATION_INTERVAL,
    transfersKeptMs: config.PAMM_RETAIN_TRANSFERS,
  };
}

/** What other work needs to know of the consumer of movements. */
function progressOf({
  state,
}: Awaited<ReturnType<typeof followFeed>>): Pick<Deps, "movementLag" | "isPlatformRewound"> {
  return {
    movementLag: () => (state().stopped === undefined ? state().lag : 0n),
    isPlatformRewound: () => state().isRewound,
  };
}
