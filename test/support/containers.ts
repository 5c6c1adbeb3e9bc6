import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { GenericContainer, type StartedTestContainer, Wait } from "testcontainers";
import { MAX_CONNECTIONS } from "../../deploy/local/postgres.ts";
import { withClient } from "../../deploy/provision/database.ts";

export type ContainerServers = AsyncDisposable & { readonly postgresUrl: string; readonly natsUrl: string };

const POSTGRES_IMAGE = "postgres:17";
const NATS_IMAGE = "nats:2.10";
const PASSWORD = "test";
/** The images are on the machine by then; a busy machine takes a while to start the servers. */
const ANSWER_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** Postgres and NATS from the images of production; needs a Docker engine. */
export async function startContainers(): Promise<ContainerServers> {
  // The reaper needs another image. The containers are stopped below instead; they stay when this process is killed.
  process.env["TESTCONTAINERS_RYUK_DISABLED"] ??= "true";
  await using stack = new AsyncDisposableStack();
  const postgres = await postgresContainer(stack);
  const nats = await natsContainer(stack);
  const postgresUrl = `postgres://postgres:${PASSWORD}@${postgres.getHost()}:${postgres.getMappedPort(5432)}/postgres`;
  await untilPostgresAnswers(postgresUrl);
  const kept = stack.move();
  return {
    postgresUrl,
    natsUrl: `nats://${nats.getHost()}:${nats.getMappedPort(4222)}`,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function postgresContainer(stack: AsyncDisposableStack): Promise<StartedTestContainer> {
  const container = await new GenericContainer(POSTGRES_IMAGE)
    .withEnvironment({ POSTGRES_PASSWORD: PASSWORD })
    .withCommand(["postgres", "-c", "fsync=off", "-c", "autovacuum=off", "-c", `max_connections=${MAX_CONNECTIONS}`])
    .withTmpFs({ "/var/lib/postgresql/data": "rw" })
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/ready/))
    .start();
  return stack.adopt(container, stop);
}

async function natsContainer(stack: AsyncDisposableStack): Promise<StartedTestContainer> {
  const container = await new GenericContainer(NATS_IMAGE)
    .withCommand(["-js"])
    .withExposedPorts(4222)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .start();
  return stack.adopt(container, stop);
}

async function stop(container: StartedTestContainer): Promise<void> {
  await container.stop();
}

/** The image first initializes the database with a temporary server without network, so its log line is not enough. */
async function untilPostgresAnswers(url: string): Promise<void> {
  for (const deadline = Date.now() + ANSWER_TIMEOUT_MS; ; await sleep(POLL_MS)) {
    try {
      return await withClient(url, async (admin) => void (await admin.query("select 1")));
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
