import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts, withoutSettings } from "../demo/temporary-system.ts";
import { tailOf } from "../local/child-process.ts";
import { ROOT } from "../local/launch.ts";
import { migrateSchemas } from "../local/migrate-schemas.ts";
import { type LaunchContext, planServices, planSimulator } from "../local/plan.ts";
import { freePort } from "../local/ports.ts";
import { type Program, type ProcessRun, startProgram } from "../local/service-process.ts";
import { claimPorts, readLaunchConfig, stateDirOf } from "../local/settings.ts";
import { describeSystem, writeSystemFile } from "../local/startup-banner.ts";
import { lockState } from "../local/state.ts";
import { natsStore, postgresStore } from "../local/stores.ts";
import { prepareDatabase } from "../provision/database.ts";
import { readOrIssueIdentities } from "../provision/identities.ts";
import { readOrMakeSecrets, type Secrets } from "../provision/secrets.ts";
import { LOOPBACK, type Service, SERVICES } from "../provision/services.ts";

/** A system whose services are replaced one process at a time, as Kubernetes and compose roll: the next is ready before the last one stops. */
export type RollingSystem = AsyncDisposable & {
  readonly stateDir: string;
  readonly secrets: Secrets;
  readonly databaseUrl: string;
  readonly postgresPort: number;
  readonly natsPort: number;
  readonly controlUrl: string;
  /** Of the newest edge, as a proxy would choose it. */
  readonly url: () => string;
  /** Replaces the services, with these variables from now on; undefined removes one. */
  readonly roll: (services: readonly Service[], changes: (service: Service) => NodeJS.ProcessEnv) => Promise<void>;
  readonly metrics: (service: Service) => Promise<string>;
  /** The broker reads its configuration and certificates again. */
  readonly reloadBroker: (change?: (users: readonly BrokerUser[]) => readonly BrokerUser[]) => void;
};

export type BrokerUser = { readonly user: string; readonly password: string };

type Running = { readonly program: Program; readonly run: ProcessRun; readonly slot: 0 | 1 };

/** Callers inside find a replaced process within their pause before they connect again, and the edge while it drains. */
const CONNECTED_MS = 1_500;
const DRAIN = "PT2S";
const GROUPS: readonly (readonly Service[])[] = [["platform"], ["account", "funding", "subscription", "fee"], ["edge"]];
/** Of the line in the configuration of the broker that has its users as JSON. */
const USERS = "authorization: ";

export async function startRollingSystem(stateDir: string): Promise<RollingSystem> {
  await using stack = new AsyncDisposableStack();
  const env = { ...withoutSettings(process.env), ...freePorts(), PAMM_STATE_DIR: stateDir, PAMM_DRAIN_DELAY: DRAIN };
  const config = readLaunchConfig(env);
  stack.use(await lockState(stateDirOf(config)));
  const settings = await claimPorts(env, config);
  const context: LaunchContext = { root: ROOT, env, settings, secrets: readOrMakeSecrets(stateDir) };
  await readOrIssueIdentities(stateDir);
  const { stores, databaseUrl } = await startServers(context, stack);
  const fleet = createFleet(context, stores);
  stack.defer(fleet.stop);
  for (const group of GROUPS) await fleet.roll(group, () => ({}));
  const programs = Object.fromEntries(SERVICES.map((service) => [service, fleet.programOf(service)]));
  stack.use(writeSystemFile(describeSystem(context, programs as Record<Service, Program>)));
  const owned = stack.move();
  return {
    stateDir,
    secrets: context.secrets,
    databaseUrl,
    ...stores,
    controlUrl: `http://${LOOPBACK}:${settings.controlPort}`,
    url: () => `http://${LOOPBACK}:${fleet.programOf("edge").readiness.port}`,
    roll: fleet.roll,
    async metrics(service) {
      const port = fleet.programOf(service).env["PAMM_METRICS_PORT"];
      return await (await fetch(`http://${LOOPBACK}:${port}/metrics`)).text();
    },
    reloadBroker: (change = (users) => users) => reloadBroker(join(stateDir, "nats"), change),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Ports = { readonly postgresPort: number; readonly natsPort: number };

async function startServers(
  context: LaunchContext,
  stack: AsyncDisposableStack,
): Promise<{ readonly stores: Ports; readonly databaseUrl: string }> {
  const keep = async (start: Promise<ProcessRun>): Promise<void> => {
    const run = await start;
    stack.defer(run.stop);
    await run.ready;
  };
  const [postgres, nats] = [await postgresStore(context), await natsStore(context)];
  await Promise.all([keep(postgres.process.start()), keep(nats.process.start())]);
  await prepareDatabase(postgres.url(), context.secrets);
  const stores = { postgresPort: postgres.port, natsPort: nats.port };
  await migrateSchemas(context, stores);
  await keep(startProgram(planSimulator(context)));
  return { stores, databaseUrl: postgres.url() };
}

type Fleet = Pick<RollingSystem, "roll"> & {
  readonly programOf: (service: Service) => Program;
  readonly stop: () => Promise<void>;
};

/** Each service has two addresses, and its process uses one; the next process uses the other. */
function createFleet(context: LaunchContext, stores: Ports): Fleet {
  const changed = new Map<Service, NodeJS.ProcessEnv>();
  const current = new Map<Service, Running>();
  const addresses = twoAddresses();
  const begin = async (service: Service, slot: 0 | 1): Promise<Running> => {
    const planned = (await planServices(context, stores))[service];
    const { ports, variables } = await addresses;
    const own = { ...variables, GRPC_PORT: String(ports.get(service)?.[slot]) };
    const listening = service === "edge" ? await edgePorts(planned) : { env: {}, readiness: planned.readiness };
    const program: Program = {
      ...planned,
      env: { ...planned.env, ...own, ...listening.env, ...changed.get(service) },
      readiness: listening.readiness,
      pidFile: `${planned.pidFile}.${slot}`,
    };
    const run = await startProgram(program);
    await Promise.race([run.ready, failureOf(run, program)]);
    return { program, run, slot };
  };
  return {
    async roll(services, changes) {
      const rolls = services.map(async (service) => {
        changed.set(service, { ...changed.get(service), ...changes(service) });
        const last = current.get(service);
        current.set(service, await begin(service, last?.slot === 0 ? 1 : 0));
        if (last === undefined) return;
        await sleep(CONNECTED_MS);
        await last.run.stop();
      });
      await Promise.all(rolls);
    },
    programOf(service) {
      const running = current.get(service);
      if (running === undefined) throw new Error(`${service} does not run`);
      return running.program;
    },
    stop: async () => void (await Promise.all([...current.values()].map(({ run }) => run.stop()))),
  };
}

async function twoAddresses() {
  const ports = new Map<Service, readonly [number, number]>();
  for (const service of SERVICES) ports.set(service, [await freePort(), await freePort()]);
  const variables = [...ports].map(([service, pair]) => {
    const addresses = pair.map((port) => `${LOOPBACK}:${port}`).join(",");
    return [`${service.toUpperCase()}_GRPC_URL`, `ipv4:${addresses}`] as const;
  });
  return { ports, variables: Object.fromEntries(variables) };
}

async function edgePorts({ readiness }: Program): Promise<Pick<Program, "env" | "readiness">> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const env = { PAMM_HTTP_PORT: String(port), PAMM_METRICS_PORT: String(metricsPort) };
  return { env, readiness: { ...readiness, port } };
}

/** Rejects when the process ends before it is ready. */
async function failureOf({ ended }: ProcessRun, { name, logFile }: Program): Promise<never> {
  const { how } = await ended;
  throw new Error(`${name} ended (${how}): ${tailOf(logFile)}`);
}

function reloadBroker(folder: string, change: (users: readonly BrokerUser[]) => readonly BrokerUser[]): void {
  const file = join(folder, "nats-server.conf");
  const lines = readFileSync(file, "utf8").split("\n");
  const written = lines.map((line) => {
    if (!line.startsWith(USERS)) return line;
    const { users } = JSON.parse(line.slice(USERS.length)) as { users: BrokerUser[] };
    return USERS + JSON.stringify({ users: change(users) });
  });
  writeFileSync(file, written.join("\n"), { mode: 0o600 });
  process.kill(Number.parseInt(readFileSync(join(folder, "nats-server.pid"), "utf8"), 10), "SIGHUP");
}
