import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { tailOf } from "../../../deploy/local/child-process.ts";
import { startNats } from "../../../deploy/local/nats.ts";
import { type LaunchContext, planServices, planSimulator } from "../../../deploy/local/plan.ts";
import { freePort } from "../../../deploy/local/ports.ts";
import { startPostgres } from "../../../deploy/local/postgres.ts";
import { type ProcessRun, type Program, startProgram } from "../../../deploy/local/service-process.ts";
import { claimPorts, readLaunchConfig } from "../../../deploy/local/settings.ts";
import { ownerUrl, prepareDatabase } from "../../../deploy/provision/database.ts";
import { brokerCertificate, readOrIssueIdentities } from "../../../deploy/provision/identities.ts";
import { readOrMakeSecrets } from "../../../deploy/provision/secrets.ts";
import { LOOPBACK, type Service, SERVICES } from "../../../deploy/provision/services.ts";
import { makeRunFolder } from "../../support/run-folder.ts";
import { ROOT } from "../../support/releases.ts";
import { type Client, clientOf } from "./client.ts";
import { cleanEnvironment } from "./running.ts";

/** One replica of every service, of one version. */
export type Deployed = {
  /** Of its edge. */
  readonly client: Client;
  /** SIGTERM to all of them; resolves when they have drained. */
  readonly stop: () => Promise<void>;
};

/** A database, a broker and a platform, on which services of several versions run beside each other. */
export type TwoVersions = AsyncDisposable & {
  readonly folder: string;
  /** What an operator does before the services of a version start: streams, then migrations, both by the source of that version. */
  readonly prepare: (root: string) => Promise<void>;
  /** Starts each service of the version, and waits until it is ready. */
  readonly deploy: (name: string, root: string) => Promise<Deployed>;
};

/** The first version, the other one, and the first again: all addresses are known from the start, as those of the replicas behind one name are. */
const DEPLOYMENTS = 3;
const DRAIN_DELAY = "PT1S";

const run = promisify(execFile);

/** All schemas in one process. */
const MIGRATE = `
  import { migrateSchema } from "./deploy/provision/migrate-schema.ts";
  for (const [service, url] of JSON.parse(process.argv[1])) await migrateSchema(service, url);
`;

type Addresses = Readonly<Record<Service, number>>;

export async function startTwoVersions(): Promise<TwoVersions> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(makeRunFolder()).path;
  const stateDir = join(folder, "state");
  for (const name of ["log", "run", "secret"]) mkdirSync(join(stateDir, name), { recursive: true });
  const logs = join(stateDir, "log");
  const env = {
    ...cleanEnvironment(),
    PAMM_STATE_DIR: stateDir,
    PAMM_HTTP_PORT: "0",
    PAMM_METRICS_PORT: "0",
    SIM_PORT: "0",
    SIM_CONTROL_PORT: "0",
    PAMM_DRAIN_DELAY: DRAIN_DELAY,
  };
  const settings = await claimPorts(env, readLaunchConfig(env));
  const secrets = readOrMakeSecrets(stateDir);
  await readOrIssueIdentities(stateDir);
  const context: LaunchContext = { root: ROOT, env, settings, secrets };
  const postgres = stack.use(
    await startPostgres({ dataDir: join(stateDir, "postgres"), logFile: join(logs, "postgres.log"), isDurable: true }),
  );
  await prepareDatabase(postgres.url, secrets);
  const postgresPort = Number(new URL(postgres.url).port);
  const tls = brokerCertificate(stateDir);
  const nats = stack.use(
    await startNats({ dir: join(stateDir, "nats"), logFile: join(logs, "nats.log"), ...secrets.nats, tls }),
  );
  const simulator = await start(planSimulator(context));
  stack.defer(simulator.stop);

  const addresses = await Promise.all(Array.from({ length: DEPLOYMENTS }, portsOfServices));
  const unused = [...addresses];
  const kept = stack.move();

  return {
    folder,
    async prepare(root) {
      // The services that start next find there what these processes have compiled.
      const compiled = { ...env, NODE_COMPILE_CACHE: join(root, "node_modules/.cache/compile") };
      const setUp = { ...compiled, NATS_SETUP_URL: nats.url, NATS_CA_FILE: tls.caFile };
      await run(process.execPath, ["deploy/nats/set-up-streams.ts"], { cwd: root, env: setUp });
      const owners = SERVICES.map((service) => [
        service,
        ownerUrl(`${LOOPBACK}:${postgresPort}`, service, secrets.ownerPasswordOf(service)),
      ]);
      const migrate = ["--input-type=module", "--eval", MIGRATE, JSON.stringify(owners)];
      await run(process.execPath, migrate, { cwd: root, env: compiled });
    },
    async deploy(name, root) {
      const own = unused.shift();
      if (own === undefined) throw new Error(`only ${DEPLOYMENTS} deployments were planned`);
      const place = { ...context, root, settings: { ...settings, httpPort: own.edge, metricsPort: await freePort() } };
      const programs = await planServices(place, { postgresPort, natsPort: nats.port });
      const runs = await Promise.all(
        SERVICES.map((service) => start(placed(programs[service], { name, service, own, all: addresses }))),
      );
      const stop = async (): Promise<void> => void (await Promise.all(runs.map((process) => process.stop())));
      kept.defer(stop);
      const url = `http://${LOOPBACK}:${own.edge}`;
      const simulatorControlUrl = `http://${LOOPBACK}:${settings.controlPort}`;
      const info = { url, apiKey: secrets.own.PAMM_BOOTSTRAP_API_KEY, simulatorControlUrl };
      return { client: clientOf({ info: () => info }), stop };
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function portsOfServices(): Promise<Addresses> {
  const ports = await Promise.all(SERVICES.map(async (service) => [service, await freePort()] as const));
  return Object.fromEntries(ports) as Addresses;
}

type Placed = {
  readonly name: string;
  readonly service: Service;
  readonly own: Addresses;
  readonly all: readonly Addresses[];
};

/** The program at its own ports, with files of its own, and with the addresses of all replicas of the services that it calls. */
function placed(program: Program, { name, service, own, all }: Placed): Program {
  const urls = SERVICES.filter((called) => called !== "edge").map((called) => [
    `${called.toUpperCase()}_GRPC_URL`,
    `ipv4:${all.map((ports) => `${LOOPBACK}:${ports[called]}`).join(",")}`,
  ]);
  return {
    ...program,
    name: `${service} ${name}`,
    logFile: program.logFile.replace(/\.log$/, `-${name}.log`),
    pidFile: program.pidFile.replace(/\.pid$/, `-${name}.pid`),
    env: { ...program.env, ...Object.fromEntries(urls), GRPC_PORT: String(own[service]) },
  };
}

async function start(program: Program): Promise<ProcessRun> {
  const process = await startProgram(program);
  const ending = await Promise.race([process.ready, process.ended]);
  if (ending !== undefined) throw new Error(`${program.name} ended (${ending.how}): ${tailOf(program.logFile)}`);
  return process;
}
