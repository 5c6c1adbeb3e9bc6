import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "../../deploy/local/postgres.ts";
import { makeRunFolder } from "./run-folder.ts";

export type OwnPostgres = AsyncDisposable & {
  readonly url: string;
  /** At the same address, accepting reads only. */
  readonly restartAsStandby: () => Promise<void>;
};

/** A server of one test, for settings that the shared server cannot have. */
export async function ownPostgres(isDurable: boolean): Promise<OwnPostgres> {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(makeRunFolder()).path;
  const dataDir = join(folder, "postgres");
  const start = async (port?: number): Promise<PostgresServer> =>
    startPostgres({
      dataDir,
      logFile: join(folder, "postgres.log"),
      isDurable,
      ...(port === undefined ? {} : { port }),
    });
  let server = await start();
  stack.defer(() => server[Symbol.asyncDispose]());
  const kept = stack.move();
  return {
    url: server.url,
    restartAsStandby: async () => {
      const { port } = server;
      await server[Symbol.asyncDispose]();
      await writeFile(join(dataDir, "standby.signal"), "");
      server = await start(port);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
