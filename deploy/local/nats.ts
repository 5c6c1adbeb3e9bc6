import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as secure } from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { StartupError } from "#kernel/process/startup-error.ts";
import { type ServerProcess, startServer, tailOf } from "./child-process.ts";
import { natsConfiguration, natsUrl, type ServerCertificate } from "../provision/nats-configuration.ts";
import { freePort, PORT_TRIES } from "./ports.ts";
import { commandLineOf, stopProcess } from "./process-id.ts";
import type { Service } from "../provision/services.ts";

export type NatsOptions = {
  /** Configuration, process id, and the streams below `jetstream`. */
  readonly dir: string;
  /** `nats-server.log` in that folder when not given. */
  readonly logFile?: string;
  /** Of the user `operator`, who may do everything; without one every program on this machine can connect. */
  readonly password?: string;
  /** One user for each service, with its password. */
  readonly passwordOf?: (service: Service) => string;
  /** Any free one when not given. */
  readonly port?: number;
  /** With it, a connection has to be encrypted. */
  readonly tls?: ServerCertificate;
};

export type NatsServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly process: ServerProcess;
};

const HOST = "127.0.0.1";
const PID_FILE = "nats-server.pid";
/** The streams of a long run are read first, on a busy machine. */
const START_TIMEOUT_MS = 10_000;
/** Short, because tests wait for the server. */
const START_POLL_MS = 10;
/** The server writes its streams when it stops. */
const STOP_TIMEOUT_MS = 5_000;
const FIRST_WITH_SYNC_INTERVAL = "2.10.0";

const PROVISION = join(import.meta.dirname, "nats-server.sh");

/** Starts a broker with JetStream that ends with this process. */
export async function startNats(options: NatsOptions): Promise<NatsServer> {
  const binary = await provideNatsServer();
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  await stopEarlierBroker(options.dir);
  for (let tries = 1; ; tries += 1) {
    const port = options.port ?? (await freePort());
    try {
      return await start(binary, port, options);
    } catch (error) {
      if (options.port !== undefined || tries === PORT_TRIES) throw error;
    }
  }
}

async function start(binary: NatsBinary, port: number, options: NatsOptions): Promise<NatsServer> {
  const { dir, password, passwordOf, tls, logFile = join(dir, "nats-server.log") } = options;
  const config = join(dir, "nats-server.conf");
  const text = natsConfiguration({
    listen: `${HOST}:${port}`,
    storeDir: dir,
    pidFile: join(dir, PID_FILE),
    password,
    passwordOf,
    tls,
    hasSync: hasSyncInterval(binary),
  });
  writeFileSync(config, text, { mode: 0o600 });
  const server = await startServer({ command: binary.path, args: ["-c", config], logFile, parentDeathSignal: "TERM" });
  await waitForInfo({ port, tls }, server, logFile);
  return {
    url: natsUrl(`${HOST}:${port}`, { password, isTls: tls !== undefined }),
    port,
    process: server,
    [Symbol.asyncDispose]: () => server.stop("SIGTERM", STOP_TIMEOUT_MS),
  };
}

/** Two brokers on one folder would damage its streams. */
async function stopEarlierBroker(dir: string): Promise<void> {
  const lock = join(dir, PID_FILE);
  const pid = existsSync(lock) ? Number.parseInt(readFileSync(lock, "utf8"), 10) : 0;
  if (commandLineOf(pid).includes(dir)) await stopProcess(pid, "SIGTERM");
}

function hasSyncInterval({ version }: NatsBinary): boolean {
  return version.localeCompare(FIRST_WITH_SYNC_INTERVAL, "en", { numeric: true }) >= 0;
}

/** A broker sends the first line of a connection: INFO with its properties as JSON. */
async function waitForInfo(address: Address, server: ServerProcess, logFile: string): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const info = await infoOf(address);
    if (!server.isRunning()) throw new StartupError(`nats-server did not start: ${tailOf(logFile)}`);
    if (info?.includes('"jetstream":true') === true) return;
    await sleep(START_POLL_MS);
  }
  await server.stop("SIGTERM", STOP_TIMEOUT_MS);
  throw new StartupError(`nats-server does not answer after ${START_TIMEOUT_MS / 1_000} s: see ${logFile}`);
}

type Address = { readonly port: number; readonly tls: ServerCertificate | undefined };

function infoOf({ port, tls }: Address): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, HOST);
    const answer = (text?: string): void => {
      socket.destroy();
      resolve(text);
    };
    socket.once("data", (data) => {
      const text = data.toString();
      if (tls === undefined) return answer(text);
      // A client that leaves before the broker has its last message of the handshake is an error in the log of the broker, so it says that it
      // leaves. Nothing else is sent.
      const secured = secure({ socket, rejectUnauthorized: false });
      secured.once("secureConnect", () => secured.end()).resume();
      secured.once("close", () => answer(text)).once("error", () => answer(text));
    });
    socket.once("error", () => answer());
    socket.setTimeout(START_TIMEOUT_MS, () => answer());
  });
}

type NatsBinary = { readonly path: string; readonly version: string };

/** Finds the server or downloads it, as nats-server.sh describes. A later call needs no network. */
export async function provideNatsServer(): Promise<NatsBinary> {
  try {
    const { stdout } = await promisify(execFile)("sh", [PROVISION]);
    const [path = "", version = ""] = stdout.trim().split("\t");
    return { path, version };
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new StartupError(stderr?.trim() ?? String(error), { cause: error });
  }
}
