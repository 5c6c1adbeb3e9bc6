import { join } from "node:path";
import type { Member } from "./crew.ts";
import type { Life } from "./life.ts";
import { startNats } from "./nats.ts";
import type { House } from "./plan.ts";
import { freePort } from "./ports.ts";
import { startPostgres } from "./postgres.ts";
import { logFolder } from "./settings.ts";
import type { TiedProcess } from "./tied-process.ts";

export type Store = {
  readonly member: Member;
  /** The same in every life, because others keep it. */
  readonly port: number;
  /** Of its owner. */
  readonly url: () => string;
};

/** Expected refusals are errors to a database too; what concerns an operator is worse. */
const WORRIES_OF_POSTGRES = / PANIC: | terminated by signal /;
const WORRIES_OF_NATS = /\[(ERR|FTL)\]/;

export async function postgresStore({ settings, secrets }: House): Promise<Store> {
  const port = await freePort();
  const logFile = join(logFolder(settings), "postgres.log");
  const dataDir = join(settings.stateDir, "postgres");
  const options = { dataDir, logFile, port, password: secrets.postgresPassword, isDurable: true };
  let url = "";
  const start = async (): Promise<Life> => {
    const server = await startPostgres(options);
    url = server.url;
    return lifeOf(server);
  };
  return { port, url: () => url, member: { name: "postgres", start, logFile, show: worry(WORRIES_OF_POSTGRES) } };
}

export async function natsStore({ settings, secrets }: House): Promise<Store> {
  const port = await freePort();
  const logFile = join(logFolder(settings), "nats.log");
  const options = { dir: join(settings.stateDir, "nats"), logFile, port, password: secrets.natsPassword };
  let url = "";
  const start = async (): Promise<Life> => {
    const server = await startNats(options);
    url = server.url;
    return lifeOf(server);
  };
  return { port, url: () => url, member: { name: "nats", start, logFile, show: worry(WORRIES_OF_NATS) } };
}

function lifeOf(server: AsyncDisposable & { readonly process: TiedProcess }): Life {
  return {
    ended: server.process.ended,
    ready: Promise.resolve(),
    stop: async () => server[Symbol.asyncDispose](),
    kill: () => server.process.kill("SIGKILL"),
  };
}

function worry(pattern: RegExp): Member["show"] {
  return (line) => (pattern.test(line) ? line : undefined);
}
