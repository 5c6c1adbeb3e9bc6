import { randomInt } from "node:crypto";
import { clientsOf, openBackbone, relayFeeds, serveContract } from "#kernel/process/backbone.ts";
import { systemClock } from "#kernel/values/clock.ts";
import { readConfig } from "#kernel/process/config.ts";
import { readIdentity } from "#kernel/certificates/identity.ts";
import { migrateOnly } from "#kernel/postgres/migration.ts";
import { retain } from "#kernel/retention/retain.ts";
import { runService } from "#kernel/process/service.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { settings } from "./config.ts";
import type { Deps } from "./deps.ts";
import { PERMISSIONS, READERS } from "./permissions.ts";
import { generatePassword } from "./domain/password.ts";
import { accountRules } from "./retention.ts";
import { accountJobs, accountService, FEEDS } from "./service.ts";
import { createCredentialCipher } from "./credential-cipher.ts";
import { directoryReads } from "./store/directory-reads.ts";

const caller = "account";
const schema = { service: caller, migrations: new URL("./migrations/", import.meta.url) };

await runService(caller, async (context) => {
  const { stack, env, log } = context;
  if (await migrateOnly(context, schema)) return;
  const config = readConfig(settings, env);
  const identity = readIdentity(caller, config);
  const backbone = await openBackbone(context, {
    schema,
    settings: config,
    databaseUrl: config.ACCOUNT_DATABASE_URL,
    migrationUrl: config.ACCOUNT_DATABASE_MIGRATION_URL,
    streams: [],
  });
  const { PAMM_ENCRYPTION_KEY: key, PAMM_ENCRYPTION_KEY_OLD: olderKeys = [] } = config;
  const client = clientsOf(stack, identity);
  const deps: Deps = {
    pool: backbone.pool,
    reads: directoryReads(backbone.pool),
    platform: client("platform", config.PLATFORM_GRPC_URL, PlatformServiceService),
    subscriptions: client("subscription", config.SUBSCRIPTION_GRPC_URL, SubscriptionServiceService),
    fees: client("fee", config.FEE_GRPC_URL, FeeServiceService),
    credentialCipher: createCredentialCipher([key, ...olderKeys]),
    newPassword: () => generatePassword((bound) => randomInt(bound)),
    log,
    now: systemClock,
  };
  const { forwarding } = relayFeeds(context, backbone);
  for (const job of accountJobs(deps, [forwarding])) stack.use(job);
  stack.use(retain({ pool: deps.pool, rules: accountRules(FEEDS, config), log }));
  const implementation = accountService(deps);
  await serveContract(context, backbone, {
    contract: AccountServiceService,
    implementation,
    permissions: PERMISSIONS,
    identity,
    feeds: FEEDS,
    readers: READERS,
  });
});
