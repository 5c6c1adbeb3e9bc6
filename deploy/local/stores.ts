import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerProcess } from "./child-process.ts";
import { brokerCertificate } from "../provision/identities.ts";
import { setUpAllStreams } from "../nats/streams.ts";
import { startNats } from "./nats.ts";
import type { LaunchContext } from "./plan.ts";
import { freePort } from "./ports.ts";
import { startPostgres } from "./postgres.ts";
import type { ProcessRun } from "./service-process.ts";
import { logFolder } from "./settings.ts";
import type { SupervisedProcess } from "./supervisor.ts";

export type Store = {
  readonly process: SupervisedProcess;
  /** The same after every restart, because clients keep it. */
  readonly port: number;
};

/** Only these lines go to the terminal: Postgres also logs as errors the constraint violations that services expect. */
const POSTGRES_ALERT = / PANIC: | terminated by signal /;
const NATS_ALERT = /\[(ERR|FTL)\]/;

/** The URL has the user and password of the superuser. */
export async function postgresStore({
  settings,
  secrets,
}: LaunchContext): Promise<Store & { readonly url: () => string }> {
  const port = await freePort();
  const logFile = join(logFolder(settings), "postgres.log");
  const dataDir = join(settings.stateDir, "postgres");
  const options = { dataDir, logFile, port, password: secrets.postgresPassword, isDurable: true };
  let url = "";
  const start = async (): Promise<ProcessRun> => {
    const server = await startPostgres(options);
    url = server.url;
    return runOf(server);
  };
  return { port, url: () => url, process: { name: "postgres", start, logFile, show: linesWith(POSTGRES_ALERT) } };
}

export async function natsStore({ settings, secrets }: LaunchContext): Promise<Store> {
  const port = await freePort();
  const logFile = join(logFolder(settings), "nats.log");
  const tls = brokerCertificate(settings.stateDir);
  const options = { dir: join(settings.stateDir, "nats"), logFile, port, ...secrets.nats, tls };
  const start = async (): Promise<ProcessRun> => {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await startNats(options));
    // With each start: the files of the broker may have been lost.
    await setUpAllStreams({ url: server.url, ca: readFileSync(tls.caFile, "utf8"), replicas: 1 });
    stack.move();
    return runOf(server);
  };
  return { port, process: { name: "nats", start, logFile, show: linesWith(NATS_ALERT) } };
}

function runOf(server: AsyncDisposable & { readonly process: ServerProcess }): ProcessRun {
  return {
    ended: server.process.ended,
    ready: Promise.resolve(),
    stop: async () => server[Symbol.asyncDispose](),
    kill: () => server.process.kill("SIGKILL"),
  };
}

function linesWith(pattern: RegExp): SupervisedProcess["show"] {
  return (line) => (pattern.test(line) ? line : undefined);
}
