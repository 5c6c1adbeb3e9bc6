import { openBackbone } from "#kernel/backbone.ts";
import { systemClock } from "#kernel/clock.ts";
import { readConfig } from "#kernel/config.ts";
import type { Contract } from "#kernel/contract/contract.ts";
import { startMetrics } from "#kernel/metrics.ts";
import { natsClient } from "#kernel/nats/client.ts";
import { runService } from "#kernel/service.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { settings } from "./config.ts";
import { KEYS_CHANGED, startEdge } from "./edge.ts";
import { probesOf } from "./probes.ts";
import { createReadiness } from "./readiness.ts";
import type { Services } from "./route.ts";

const caller = "edge";

await runService(caller, async (context) => {
  const { stack, env, log } = context;
  const config = readConfig(settings, env);
  const { pool, broker } = await openBackbone(context, {
    service: caller,
    settings: config,
    databaseUrl: config.EDGE_DATABASE_URL,
    migrations: new URL("./migrations/", import.meta.url),
    streams: [],
  });
  const client = <C extends Contract>(service: string, contract: C) =>
    natsClient(broker, { service, contract, caller });
  const services: Services = {
    accounts: client("account", AccountServiceService),
    funding: client("funding", FundingServiceService),
    subscriptions: client("subscription", SubscriptionServiceService),
    fees: client("fee", FeeServiceService),
    platform: client("platform", PlatformServiceService),
  };
  const readiness = createReadiness({
    isBrokerConnected: broker.isConnected,
    probes: probesOf(services),
    now: systemClock,
  });
  stack.use(await startMetrics({ host: config.PAMM_METRICS_HOST, port: config.PAMM_METRICS_PORT }));
  const { url } = await startEdge(stack, {
    config,
    pool,
    services,
    readiness,
    log,
    onKeysChanged: (callback) => void broker.connection.subscribe(KEYS_CHANGED, { callback }),
  });
  log.info("listening", { url });
});
