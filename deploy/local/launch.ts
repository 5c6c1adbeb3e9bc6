import { join } from "node:path";
import { announcement, type Announcement, forget } from "./announcement.ts";
import type { Crew, Member } from "./crew.ts";
import { prepareDatabase } from "./database.ts";
import { type Program, startProgram } from "./life.ts";
import { type House, planServices, planSimulator, type Stores } from "./plan.ts";
import { recordedProcess } from "./process-id.ts";
import { readOrMakeSecrets } from "./secrets.ts";
import { claimPorts, readWishes, type Service, SERVICES, stateDirOf } from "./settings.ts";
import { stopProcess } from "./stale.ts";
import { pidFile, takeState } from "./state.ts";
import { natsStore, postgresStore } from "./stores.ts";
import { forTerminal, say } from "./terminal.ts";

/** Who comes later asks those who came before: starts when they are ready, and is stopped before them. */
const GROUPS: readonly (readonly Service[])[] = [["platform"], ["account", "funding", "subscription", "fee"], ["edge"]];

/** Brings everything up in order. What it starts belongs to the crew, and the state to us, until the stack is disposed. */
export async function launch(
  root: string,
  env: NodeJS.ProcessEnv,
  crew: Crew,
  stack: AsyncDisposableStack,
): Promise<Announcement> {
  const wishes = readWishes(env);
  const stateDir = stateDirOf(wishes);
  stack.use(await takeState(stateDir));
  forget(stateDir);
  stack.defer(crew.stop);
  // Before the ports are looked at: they may hold them still.
  await endLeftovers(stateDir);
  const settings = await claimPorts(env, wishes);
  const house: House = { root, env, settings, secrets: readOrMakeSecrets(stateDir) };
  const stores = await startStores(house, crew);
  if (settings.embedded.simulator) await crew.start([memberOf(planSimulator(house))]);
  const programs = await planServices(house, stores);
  for (const group of GROUPS) await crew.start(group.map((service) => memberOf(programs[service])));
  return announcement(house, programs.edge, stores.natsUrl);
}

async function startStores(house: House, crew: Crew): Promise<Stores> {
  const { embedded } = house.settings;
  const postgres = embedded.postgres ? await postgresStore(house) : undefined;
  const nats = embedded.nats ? await natsStore(house) : undefined;
  await crew.start([postgres, nats].filter((store) => store !== undefined).map(({ member }) => member));
  if (postgres !== undefined) await prepareDatabase(postgres.url(), house.secrets.databasePasswordOf);
  return { postgresPort: postgres?.port, natsUrl: nats?.url() };
}

function memberOf(program: Program): Member {
  const { name, logFile } = program;
  return { name, logFile, show: forTerminal, start: () => startProgram(program) };
}

/** Of a launcher that was killed: they stop by themselves, but two of a kind must never meet on one state. */
async function endLeftovers(stateDir: string): Promise<void> {
  const ending = [...SERVICES, "simulator"].map(async (name) => {
    const pid = recordedProcess(pidFile(stateDir, name));
    if (pid === undefined) return;
    say("launcher", `${name} of an earlier run is still there (process ${pid}); stopping it`);
    await stopProcess(pid, "SIGTERM");
  });
  await Promise.all(ending);
}

/** The root of the repository, which holds `services`. */
export const ROOT = join(import.meta.dirname, "../..");
