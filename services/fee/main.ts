import { openBackbone, relayFeeds, serveContract } from "#kernel/backbone.ts";
import { systemClock } from "#kernel/clock.ts";
import { readConfig } from "#kernel/config.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import { runService } from "#kernel/service.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { settings } from "./config.ts";
import type { Deps } from "./deps.ts";
import { FEEDS, feeService } from "./service.ts";

const caller = "fee";

await runService(caller, async (context) => {
  const { stack, env, log } = context;
  const config = readConfig(settings, env);
  const backbone = await openBackbone(context, {
    service: caller,
    settings: config,
    databaseUrl: config.FEE_DATABASE_URL,
    migrations: new URL("./migrations/", import.meta.url),
    streams: [],
  });
  const deps: Deps = {
    pool: backbone.pool,
    accounts: stack.use(grpcClient(config.ACCOUNT_GRPC_URL, { contract: AccountServiceService, caller })),
    log,
    now: systemClock,
  };
  await relayFeeds(context, backbone, FEEDS);
  const implementation = feeService(deps);
  const isReady = async (): Promise<boolean> => backbone.broker.isConnected();
  await serveContract(context, backbone, { contract: FeeServiceService, implementation, feeds: FEEDS, isReady });
});
