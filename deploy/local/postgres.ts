import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { StartupError } from "#kernel/process/startup-error.ts";
import { type RunAs, type ServerProcess, startServer, tailOf } from "./child-process.ts";
import { freePort, PORT_TRIES } from "./ports.ts";
import { findPostgres, majorVersion } from "./postgres-binaries.ts";
import { chooseUser, giveAccess } from "./postgres-user.ts";
import { commandLineOf, isWorkingDirectory, stopProcess } from "./process-id.ts";

export type PostgresOptions = {
  /** Created when it does not exist. */
  readonly dataDir: string;
  readonly logFile: string;
  /** Of the superuser `postgres`; without one every program on this machine can connect. */
  readonly password?: string;
  /** Any free one when not given. */
  readonly port?: number;
  /** False only for data that a power cut may destroy. */
  readonly isDurable: boolean;
};

export type PostgresServer = AsyncDisposable & {
  /** With the user and password of the superuser. */
  readonly url: string;
  readonly port: number;
  readonly process: ServerProcess;
};

const HOST = "127.0.0.1";
const SUPERUSER = "postgres";
/** For the pools of all services, or of many tests at the same time. */
export const MAX_CONNECTIONS = 500;
/** After a crash the server replays its log first. */
const START_TIMEOUT_MS = 30_000;
/** Short, because tests wait for the server. */
const START_POLL_MS = 15;
/** The shutdown checkpoint of a large database takes several seconds. */
const STOP_TIMEOUT_MS = 15_000;

/** Other kinds of shared memory stay behind in /dev/shm after a SIGKILL, and containers have little of it. */
const ALWAYS = [`max_connections=${MAX_CONNECTIONS}`, "unix_socket_directories=", "dynamic_shared_memory_type=mmap"];
/** A server of a test: its plans depend on its statements alone, not on when statistics were gathered. */
const NOT_DURABLE = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"];

/** Starts a Postgres that ends with this process. */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const bin = findPostgres();
  const runAs = chooseUser();
  const { dataDir } = options;
  if (existsSync(join(dataDir, "PG_VERSION"))) {
    refuseOtherVersion(bin, dataDir);
    await stopEarlierServer(dataDir);
  } else {
    initialise(bin, options, runAs);
  }
  for (let tries = 1; ; tries += 1) {
    const port = options.port ?? (await freePort());
    try {
      return await start(bin, port, { ...options, runAs });
    } catch (error) {
      if (options.port !== undefined || tries === PORT_TRIES) throw error;
    }
  }
}

async function start(bin: string, port: number, options: PostgresOptions & { runAs: RunAs }): Promise<PostgresServer> {
  const { dataDir, logFile, password, isDurable, runAs } = options;
  const settings = [...ALWAYS, ...(isDurable ? [] : NOT_DURABLE)];
  const server = await startServer({
    command: join(bin, "postgres"),
    args: ["-D", dataDir, "-h", HOST, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
    logFile,
    parentDeathSignal: "INT",
    runAs,
  });
  const user = password === undefined ? SUPERUSER : `${SUPERUSER}:${password}`;
  const url = `postgres://${user}@${HOST}:${port}/postgres`;
  await waitForAnswer(url, server, logFile);
  return {
    url,
    port,
    process: server,
    // SIGINT = "fast": ends the connections, writes a checkpoint, exits.
    [Symbol.asyncDispose]: () => server.stop("SIGINT", STOP_TIMEOUT_MS),
  };
}

async function waitForAnswer(url: string, server: ServerProcess, logFile: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: START_TIMEOUT_MS });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await client.end();
    } catch (error) {
      if (!server.isRunning()) throw new StartupError(`Postgres did not start: ${tailOf(logFile)}`, { cause: error });
      if (Date.now() > deadline) {
        await server.stop("SIGINT", STOP_TIMEOUT_MS);
        throw new StartupError(`Postgres does not answer after ${START_TIMEOUT_MS / 1_000} s: see ${logFile}`, {
          cause: error,
        });
      }
    }
    await sleep(START_POLL_MS);
  }
}

/**
 * Stops a server that still uses the data, and waits for its child processes too. Then removes the lock file: Postgres
 * would refuse to start when the recorded pid belongs to another process by now, or to a zombie.
 */
async function stopEarlierServer(dataDir: string): Promise<void> {
  const lock = join(dataDir, "postmaster.pid");
  const pid = existsSync(lock) ? Number.parseInt(readFileSync(lock, "utf8"), 10) : 0;
  if (commandLineOf(pid).includes(dataDir)) await stopProcess(pid, "SIGINT");
  // The working directory of a server and of its child processes is the data folder.
  const deadline = Date.now() + STOP_TIMEOUT_MS;
  while (isWorkingDirectory(realpathSync(dataDir))) {
    if (Date.now() > deadline) throw new StartupError(`${dataDir} is in use by another Postgres: stop it`);
    await sleep(START_POLL_MS);
  }
  rmSync(lock, { force: true });
}

function initialise(bin: string, { dataDir, password, isDurable }: PostgresOptions, runAs: RunAs): void {
  // Made under another name and renamed when complete, so an interrupted start leaves no folder under the final name.
  const draft = `${dataDir}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  const passwordFile = join(dirname(dataDir), "postgres-password.tmp");
  writeFileSync(passwordFile, `${password ?? ""}\n`, { mode: 0o600 });
  giveAccess(runAs, [draft, passwordFile]);
  const authentication = password === undefined ? ["-A", "trust"] : ["-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  const options = ["-D", draft, "-U", SUPERUSER, "-E", "UTF8", "--locale=C.UTF-8", ...authentication];
  const [command = "", ...args] = [
    ...runAs.prefix,
    join(bin, "initdb"),
    ...options,
    ...(isDurable ? [] : ["--no-sync"]),
  ];
  const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8", cwd: "/", ...runAs.ids });
  rmSync(passwordFile);
  if (status === 0) return renameSync(draft, dataDir);
  rmSync(draft, { recursive: true });
  throw new StartupError(`Postgres could not create its data folder ${dataDir}: ${error?.message ?? stderr.trim()}`);
}

function refuseOtherVersion(bin: string, dataDir: string): void {
  const created = readFileSync(join(dataDir, "PG_VERSION"), "utf8").trim();
  const here = majorVersion(bin);
  if (created === here) return;
  throw new StartupError(
    `${dataDir} was created by Postgres ${created}, and this is Postgres ${here}: choose another PAMM_STATE_DIR or set POSTGRES_BIN`,
  );
}
