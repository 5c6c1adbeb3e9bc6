import { join } from "node:path";
import { readSetUpTarget, setUpAllStreams } from "../nats/streams.ts";
import { prepareDatabase } from "../provision/database.ts";
import { readOrIssueIdentities } from "../provision/identities.ts";
import { migrateSchemas } from "./migrate-schemas.ts";
import { type LaunchContext, planServices, planSimulator, type Stores } from "./plan.ts";
import { recordedProcess, stopProcess } from "./process-id.ts";
import { readOrMakeSecrets } from "../provision/secrets.ts";
import { type Program, startProgram } from "./service-process.ts";
import { type Service, SERVICES } from "../provision/services.ts";
import { claimPorts, readLaunchConfig, stateDirOf } from "./settings.ts";
import { describeSystem, removeSystemFile, type RunningSystem } from "./startup-banner.ts";
import { lockState, pidFile } from "./state.ts";
import { natsStore, postgresStore } from "./stores.ts";
import type { SupervisedProcess, Supervisor } from "./supervisor.ts";
import { forTerminal, print } from "./terminal.ts";

/** A group starts when the previous group is ready, and stops before that group: later services call earlier ones. */
const GROUPS: readonly (readonly Service[])[] = [["platform"], ["account", "funding", "subscription", "fee"], ["edge"]];

/** Starts everything in order. The processes and the lock of the state are released when the stack is disposed. */
export async function launch(
  root: string,
  env: NodeJS.ProcessEnv,
  supervisor: Supervisor,
  stack: AsyncDisposableStack,
): Promise<RunningSystem> {
  const { context, stores } = await prepare(root, env, supervisor, stack);
  if (context.settings.embedded.simulator) await supervisor.start([supervised(planSimulator(context))]);
  const programs = await planServices(context, stores);
  for (const group of GROUPS) await supervisor.start(group.map((service) => supervised(programs[service])));
  return describeSystem(context, programs);
}

type Prepared = { readonly context: LaunchContext; readonly stores: Stores };

/** Locks and completes the state, which then has its secrets, certificates, migrated databases and streams, and starts its stores. */
export async function prepare(
  root: string,
  env: NodeJS.ProcessEnv,
  supervisor: Supervisor,
  stack: AsyncDisposableStack,
): Promise<Prepared> {
  const config = readLaunchConfig(env);
  const stateDir = stateDirOf(config);
  stack.use(await lockState(stateDir));
  removeSystemFile(stateDir);
  stack.defer(supervisor.stop);
  // Before the ports are checked, because processes of an earlier run may still use them.
  await stopEarlierProcesses(stateDir);
  const settings = await claimPorts(env, config);
  const context: LaunchContext = { root, env, settings, secrets: readOrMakeSecrets(stateDir) };
  await readOrIssueIdentities(stateDir);
  const stores = await startStores(context, supervisor);
  await migrateSchemas(context, stores);
  return { context, stores };
}

async function startStores(context: LaunchContext, supervisor: Supervisor): Promise<Stores> {
  const { embedded } = context.settings;
  const postgres = embedded.postgres ? await postgresStore(context) : undefined;
  const nats = embedded.nats ? await natsStore(context) : undefined;
  // Of a broker that the environment names; that of the launcher is set up with each of its starts.
  const target = nats === undefined ? readSetUpTarget(context.env) : undefined;
  const started = [postgres, nats].filter((store) => store !== undefined);
  if (started.length > 0) await supervisor.start(started.map(({ process }) => process));
  if (postgres !== undefined) await prepareDatabase(postgres.url(), context.secrets);
  if (target !== undefined) await setUpAllStreams(target);
  return { postgresPort: postgres?.port, natsPort: nats?.port };
}

function supervised(program: Program): SupervisedProcess {
  const { name, logFile } = program;
  return { name, logFile, show: forTerminal, start: () => startProgram(program) };
}

/** Services of a killed launcher stop by themselves, but not at once, and a service must not run twice on one state. */
async function stopEarlierProcesses(stateDir: string): Promise<void> {
  const stopping = [...SERVICES, "simulator"].map(async (name) => {
    const pid = recordedProcess(pidFile(stateDir, name));
    if (pid === undefined) return;
    print("launcher", `${name} of an earlier run still runs (process ${pid}); stopping it`);
    await stopProcess(pid, "SIGTERM");
  });
  await Promise.all(stopping);
}

/** The root of the repository, which holds `services`. */
export const ROOT = join(import.meta.dirname, "../..");
