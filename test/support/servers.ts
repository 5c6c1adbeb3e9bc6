import { join } from "node:path";
import process from "node:process";
import type { TestProject } from "vitest/node";
import { startNats } from "../../deploy/local/nats.ts";
import { setUpAllStreams } from "../../deploy/nats/streams.ts";
import { startPostgres } from "../../deploy/local/postgres.ts";
import { startContainers } from "./containers.ts";
import { dropDatabasesOf } from "./database-server.ts";
import { makeRunFolder } from "./run-folder.ts";

declare module "vitest" {
  // Vitest reads the types of provided values from this interface.
  interface ProvidedContext {
    readonly postgresUrl: string;
    readonly natsUrl: string;
    /** Different for every run, so that runs can share servers. */
    readonly runId: string;
  }
}

type Servers = AsyncDisposable & { readonly postgresUrl: string; readonly natsUrl: string };

/**
 * One Postgres and one broker for all integration tests of a run, started when the first such test is selected:
 * local programs, containers (PAMM_TEST_STACK=containers), or the servers that DATABASE_URL and NATS_URL name.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runId = `${process.pid.toString(36)}${Date.now().toString(36)}`;
  const stack = new AsyncDisposableStack();
  try {
    const { postgresUrl, natsUrl } = stack.use(await startServers());
    await setUpAllStreams({ url: natsUrl, replicas: 1 });
    project.provide("postgresUrl", postgresUrl);
    project.provide("natsUrl", natsUrl);
    project.provide("runId", runId);
    if (process.env["DATABASE_URL"] !== undefined) stack.defer(() => dropDatabasesOf(runId, postgresUrl));
    return () => stack.disposeAsync();
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function startServers(): Promise<Servers> {
  if (process.env["PAMM_TEST_STACK"] === "containers") return startContainers();
  return startLocal();
}

async function startLocal(): Promise<Servers> {
  const { DATABASE_URL: postgresFromEnv, NATS_URL: natsFromEnv } = process.env;
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(makeRunFolder()).path;
  // Both start at once; when one fails, the other is still stopped.
  const [postgres, nats] = await Promise.allSettled([
    postgresFromEnv === undefined
      ? startPostgres({ dataDir: join(folder, "postgres"), logFile: join(folder, "postgres.log"), isDurable: false })
      : undefined,
    natsFromEnv === undefined ? startNats({ dir: join(folder, "nats") }) : undefined,
  ]);
  for (const started of [postgres, nats]) if (started.status === "fulfilled") stack.use(started.value);
  if (postgres.status === "rejected") throw postgres.reason;
  if (nats.status === "rejected") throw nats.reason;
  const kept = stack.move();
  return {
    postgresUrl: postgresFromEnv ?? postgres.value?.url ?? "",
    natsUrl: natsFromEnv ?? nats.value?.url ?? "",
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
