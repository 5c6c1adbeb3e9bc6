import { clientsOf, followFeed, openBackbone, serveContract } from "#kernel/process/backbone.ts";
import { systemClock } from "#kernel/values/clock.ts";
import { readConfig } from "#kernel/process/config.ts";
import { readIdentity } from "#kernel/certificates/identity.ts";
import { migrateOnly } from "#kernel/postgres/migration.ts";
import { reconcile } from "#kernel/reconcile/reconcile.ts";
import { retain } from "#kernel/retention/retain.ts";
import { createWakeSignal } from "#kernel/jobs/wake-signal.ts";
import { runService, type ServiceContext } from "#kernel/process/service.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { cashflowQueues } from "./cashflow-queues.ts";
import { completeness } from "./checks/completeness.ts";
import { settings } from "./config.ts";
import type { Deps } from "./deps.ts";
import { PERMISSIONS } from "./permissions.ts";
import { fundingRules } from "./retention.ts";
import { IMPORTS, DIRECTORY, FOLLOWINGS, withdrawalsFeed } from "./events/receive-facts.ts";
import { FEEDS, fundingJobs, fundingService, STATES_FEED } from "./service.ts";

const caller = "funding";
const schema = { service: caller, migrations: new URL("./migrations/", import.meta.url) };

await runService(caller, async (context: ServiceContext) => {
  const { stack, env, log } = context;
  if (await migrateOnly(context, schema)) return;
  const config = readConfig(settings, env);
  const identity = readIdentity(caller, config);
  const backbone = await openBackbone(context, {
    schema,
    settings: config,
    databaseUrl: config.FUNDING_DATABASE_URL,
    migrationUrl: config.FUNDING_DATABASE_MIGRATION_URL,
    streams: [],
  });
  const client = clientsOf(stack, identity);
  const deps: Deps = {
    pool: backbone.pool,
    accounts: client("account", config.ACCOUNT_GRPC_URL, AccountServiceService),
    platform: client("platform", config.PLATFORM_GRPC_URL, PlatformServiceService),
    subscriptions: client("subscription", config.SUBSCRIPTION_GRPC_URL, SubscriptionServiceService),
    queues: cashflowQueues(backbone.pool),
    settleWake: createWakeSignal(),
    log,
    now: systemClock,
  };
  await followFeed(context, backbone, { address: config.ACCOUNT_GRPC_URL, service: "account", identity }, DIRECTORY);
  const subscription = { address: config.SUBSCRIPTION_GRPC_URL, service: "subscription", identity } as const;
  await followFeed(context, backbone, subscription, FOLLOWINGS);
  await followFeed(context, backbone, subscription, withdrawalsFeed(deps));
  await followFeed(context, backbone, { address: config.PLATFORM_GRPC_URL, service: "platform", identity }, IMPORTS);
  for (const job of fundingJobs(deps)) stack.use(job);
  stack.use(reconcile({ pool: deps.pool, log, checks: [completeness(deps)], maxMs: config.PAMM_CHECK_INTERVAL }));
  stack.use(retain({ pool: deps.pool, rules: fundingRules(FEEDS, config), log }));
  const implementation = fundingService(deps);
  await serveContract(context, backbone, {
    contract: FundingServiceService,
    implementation,
    permissions: PERMISSIONS,
    identity,
    states: STATES_FEED,
  });
});
