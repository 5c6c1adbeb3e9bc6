import { clientsOf, openBackbone, serveContract } from "#kernel/process/backbone.ts";
import { systemClock } from "#kernel/values/clock.ts";
import { readConfig } from "#kernel/process/config.ts";
import { readIdentity } from "#kernel/certificates/identity.ts";
import { migrateOnly } from "#kernel/postgres/migration.ts";
import { reconcile } from "#kernel/reconcile/reconcile.ts";
import { stopOnBreaksJob } from "#kernel/reconcile/stop-on-breaks.ts";
import { retain } from "#kernel/retention/retain.ts";
import { askEdge } from "#kernel/review/check-votes.ts";
import { watchReviews } from "#kernel/review/metrics.ts";
import { runService } from "#kernel/process/service.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { feeChecks } from "./checks/checks.ts";
import { settings } from "./config.ts";
import type { Deps } from "./deps.ts";
import { PERMISSIONS } from "./permissions.ts";
import { feeQueues } from "./queues.ts";
import { feeRules } from "./retention.ts";
import { createWakeSignals, FEEDS, feeJobs, feeService, feeWatchers, STATES_FEED } from "./service.ts";
import { stoppingBreaks } from "./processes/stop-for-break.ts";

const caller = "fee";
const schema = { service: caller, migrations: new URL("./migrations/", import.meta.url) };

await runService(caller, async (context) => {
  const { stack, env, log } = context;
  if (await migrateOnly(context, schema)) return;
  const config = readConfig(settings, env);
  const identity = readIdentity(caller, config);
  const backbone = await openBackbone(context, {
    schema,
    settings: config,
    databaseUrl: config.FEE_DATABASE_URL,
    migrationUrl: config.FEE_DATABASE_MIGRATION_URL,
    streams: [],
  });
  const client = clientsOf(stack, identity);
  const needs = {
    pool: backbone.pool,
    accounts: client("account", config.ACCOUNT_GRPC_URL, AccountServiceService),
    subscriptions: client("subscription", config.SUBSCRIPTION_GRPC_URL, SubscriptionServiceService),
    platform: client("platform", config.PLATFORM_GRPC_URL, PlatformServiceService),
    log,
    now: systemClock,
  };
  const deps: Deps = { ...needs, queues: feeQueues(needs), wakeSignals: createWakeSignals() };
  for (const job of feeJobs(deps)) stack.use(job);
  const maxMs = config.PAMM_CHECK_INTERVAL;
  stack.use(watchReviews({ pool: deps.pool, log }));
  stack.use(
    reconcile({
      pool: deps.pool,
      log,
      checks: feeChecks({ ...deps, confirm: askEdge(backbone.broker, caller) }),
      maxMs,
    }),
  );
  stack.use(stopOnBreaksJob(deps, stoppingBreaks(deps), maxMs));
  for (const job of feeWatchers(deps, maxMs)) stack.use(job);
  stack.use(retain({ pool: deps.pool, rules: feeRules(FEEDS, config), log }));
  const implementation = feeService(deps);
  await serveContract(context, backbone, {
    contract: FeeServiceService,
    implementation,
    permissions: PERMISSIONS,
    identity,
    states: STATES_FEED,
  });
});
