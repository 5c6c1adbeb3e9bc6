import manifest from "#package" with { type: "json" };
import { callContext } from "../contract/context.ts";
import type { Client, Contract } from "../contract/contract.ts";
import { SERVICE_NAMES, type ServiceName } from "#catalogue/services.ts";
import type { EventType } from "../contract/event.ts";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import type { Config } from "./config.ts";
import { flag, integer, logLevel, oneOf, optional, port, secretUrls, text, type Variable } from "./config-variables.ts";
import { consumeFeed, type ConsumerOptions, type FeedConsumer } from "../feed/consume.ts";
import { feedReader } from "../feed/read.ts";
import { type Relay, startRelay } from "../feed/relay.ts";
import { ensureSchema, migrationMode, type Schema } from "../postgres/migration.ts";
import { grpcClient } from "../grpc/client.ts";
import type { Identity } from "../certificates/identity.ts";
import { type Mounted, serveOverGrpc } from "../grpc/serve.ts";
import { startMetrics } from "./metrics.ts";
import { type Broker, connectNats } from "../nats/connect.ts";
import { watchStreams } from "../nats/watch-streams.ts";
import { jetStreamPublisher } from "../nats/publisher.ts";
import { serveOverNats } from "../nats/serve.ts";
import type { StreamDefinition } from "../nats/stream-config.ts";
import { requireStreams } from "../nats/streams.ts";
import { onWakeUp, signalReaders } from "../nats/wake-up-signal.ts";
import { armForRehearsal, requireSafety } from "../production/require-safety.ts";
import { createPool, openConnections, type Pool } from "../postgres/pool.ts";
import { showPool } from "../postgres/pool-metrics.ts";
import { readinessOf } from "../health/readiness.ts";
import { readCertificates } from "../certificates/read-certificates.ts";
import { TRACING_SETTINGS } from "../tracing/settings.ts";
import { startTracing } from "../tracing/start.ts";
import { STATE_READERS, stateReader } from "../states/read-states.ts";
import type { Secret } from "../values/secret.ts";
import { DRAIN_DELAY, type ServiceContext } from "./service.ts";
import { Gauge } from "prom-client";

const build = new Gauge({
  name: "pamm_build_info",
  help: "Always 1; the labels name the version and the commit (PAMM_COMMIT) that the process runs.",
  labelNames: ["service", "version", "commit"],
});

/** Variables that every service with a database and contracts reads. */
export const BACKBONE_SETTINGS = {
  NATS_URL: secretUrls(["nats", "tls"], { whenMissing: "nats://127.0.0.1:4222" }),
  NATS_CA_FILE: optional(text("a file with certificates in PEM")),
  GRPC_HOST: text("an address to listen on", { whenMissing: "127.0.0.1" }),
  GRPC_PORT: port({ whenMissing: "0" }),
  DATABASE_CONNECTIONS: integer(2, 50, { whenMissing: "8" }),
  PAMM_METRICS_HOST: text("an address to listen on", { whenMissing: "127.0.0.1" }),
  PAMM_METRICS_PORT: port({ whenMissing: "0" }),
  LOG_LEVEL: logLevel(),
  ...TRACING_SETTINGS,
  PAMM_MIGRATE: migrationMode(),
  /** Read by service.ts. */
  PAMM_DRAIN_DELAY: DRAIN_DELAY,
  /** No real money is moved. */
  PAMM_REHEARSAL: flag({ whenMissing: "false" }),
  /** In production, a service with an unsafe configuration does not start. */
  PAMM_ENVIRONMENT: oneOf(["development", "production"], { whenMissing: "development" }),
  /** For crash tests only: see failpoint.ts. */
  PAMM_FAILPOINTS: optional(text("a folder")),
  /** Of the source that the process runs; the image sets it. */
  PAMM_COMMIT: optional(text("a commit")),
};

/** An address of another service, host:port. */
export function grpcAddress(): Variable<string> {
  return text("host:port of a service");
}

export type BackboneSettings = Config<typeof BACKBONE_SETTINGS>;

export type BackboneOptions = {
  readonly schema: Schema;
  readonly settings: BackboneSettings;
  readonly databaseUrl: Secret<string>;
  /** As the owner of the schema. */
  readonly migrationUrl: Secret<string> | undefined;
  /** JetStream streams that this service writes or reads. */
  readonly streams: readonly StreamDefinition[];
};

export type Backbone = {
  readonly service: string;
  readonly settings: BackboneSettings;
  readonly pool: Pool;
  readonly broker: Broker;
};

/** Checks the database, connects to it and to the broker, and checks the streams: the first steps of every start. */
export async function openBackbone(
  { stack, env, log, watch }: ServiceContext,
  options: BackboneOptions,
): Promise<Backbone> {
  const { schema, settings, databaseUrl, migrationUrl } = options;
  const { service } = schema;
  build.set({ service, version: manifest.version, commit: settings.PAMM_COMMIT ?? "unknown" }, 1);
  // First, so that it ends last, with the spans of everything that is drained.
  const tracing = await startTracing({ service, version: manifest.version, settings, log });
  if (tracing !== undefined) stack.use(tracing);
  armForRehearsal(settings, service, log);
  const { PAMM_MIGRATE: mode, PAMM_REHEARSAL: isRehearsal } = settings;
  await requireSafety({ service, settings, databaseUrl, env, log });
  await ensureSchema(log, schema, { databaseUrl, migrationUrl, mode, isRehearsal });
  const pool = stack.use(
    createPool({
      url: databaseUrl.reveal(),
      schema: service,
      applicationName: service,
      max: settings.DATABASE_CONNECTIONS,
      raisesIds: true,
      beside: SERVICE_NAMES,
      onIdleError: (error) => log.warn("idle database connection lost, the pool replaces it", { error }),
    }),
  );
  stack.use(showPool(pool));
  await openConnections(pool);
  const ca = readCertificates("NATS_CA_FILE", settings.NATS_CA_FILE);
  const broker = stack.use(await connectNats({ url: settings.NATS_URL.reveal(), ca, name: service, log }));
  watch("broker connection", broker.closed);
  await requireStreams(broker, options.streams, service);
  if (options.streams.length > 0) stack.use(watchStreams({ broker, streams: options.streams, log }));
  return { service, settings, pool, broker };
}

/**
 * Signals the service's events to readers and JetStream. Start it before the jobs that publish, so that it ends after them; its
 * forwarding is one of the due jobs of the service.
 */
export function relayFeeds({ stack }: ServiceContext, { service, pool, broker }: Backbone): Relay {
  const forward = jetStreamPublisher(broker);
  return stack.use(startRelay({ service, pool, forward, signal: signalReaders(broker) }));
}

/** Makes the clients of other services; each connects with its first call. */
export function clientsOf(stack: AsyncDisposableStack, identity: Identity) {
  return <C extends Contract>(service: ServiceName, address: string, contract: C): Client<C> =>
    stack.use(grpcClient(address, { contract, service, identity }));
}

/** Deadline of one read of a page: the owner reads its outbox by an index. */
const READ_FEED_MS = 5_000;

/** The service whose feed is read, and the identity of its reader. */
export type FeedOwner = { readonly address: string; readonly service: ServiceName; readonly identity: Identity };

/** Receives the feed of another service over gRPC, woken by plain NATS signals. */
export async function followFeed<Event extends EventType<unknown>>(
  { stack, log }: ServiceContext,
  { service: caller, pool, broker }: Backbone,
  { address, service: owner, identity }: FeedOwner,
  receiver: Omit<ConsumerOptions<Event>, "pool" | "read" | "log">,
): Promise<FeedConsumer> {
  const client = stack.use(grpcClient(address, { contract: FeedServiceService, service: owner, identity }));
  const read: ConsumerOptions<Event>["read"] = (request, signal) =>
    client.read(request, callContext({ caller, withinMs: READ_FEED_MS, signal }));
  const consumer = stack.use(await consumeFeed({ ...receiver, pool, read, log }));
  stack.use(onWakeUp(broker, receiver.feed, consumer.wake));
  return consumer;
}

export type Served<C extends Contract> = Mounted<C> & {
  /** The feeds of the service; a service without one has no FeedService. */
  readonly feeds?: readonly string[];
  /** The services that read them. */
  readonly readers?: readonly ServiceName[];
  /** The feed of the states that callers see, which the edge reads. */
  readonly states?: string;
  readonly identity: Identity;
};

/**
 * Serves the contract on gRPC and NATS with the same handlers, the feeds on gRPC, and the metrics. Call it last, so that
 * it is the first to stop.
 */
export async function serveContract<C extends Contract>(
  { stack, log, isDraining, draining }: ServiceContext,
  { service, settings, pool, broker }: Backbone,
  { contract, implementation, permissions, identity, feeds = [], readers = [], states }: Served<C>,
): Promise<{ readonly grpcPort: number }> {
  const reading = {
    contract: FeedServiceService,
    implementation: feedReader(pool, feeds),
    permissions: { read: readers },
  };
  const services = [{ contract, implementation, permissions }, ...(feeds.length > 0 ? [reading] : [])];
  const listen = { host: settings.GRPC_HOST, port: settings.GRPC_PORT };
  const grpc = stack.use(await serveOverGrpc({ ...listen, services, identity, log }));
  const overNats = { service, log, draining };
  stack.use(await serveOverNats(broker, { ...overNats, contract, implementation, permissions }));
  if (states !== undefined) {
    const served = {
      contract: FeedServiceService,
      implementation: stateReader(pool, states),
      permissions: STATE_READERS,
    };
    stack.use(await serveOverNats(broker, { ...overNats, ...served }));
  }
  const findMissing = readinessOf({ pool, broker, isDraining });
  stack.use(await startMetrics({ host: settings.PAMM_METRICS_HOST, port: settings.PAMM_METRICS_PORT, findMissing }));
  return { grpcPort: grpc.port };
}
