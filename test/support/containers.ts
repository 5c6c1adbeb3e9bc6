import { GenericContainer, type StartedTestContainer, Wait } from "testcontainers";

export type ContainerServers = AsyncDisposable & { readonly postgresUrl: string; readonly natsUrl: string };

const POSTGRES_IMAGE = "postgres:17";
const NATS_IMAGE = "nats:2.10";
const PASSWORD = "test";

/** The same two servers from the images that production uses, where a Docker engine answers. */
export async function startContainers(): Promise<ContainerServers> {
  // The reaper is one more image from one more registry; what it would do, `asyncDispose` does.
  process.env["TESTCONTAINERS_RYUK_DISABLED"] ??= "true";
  const [postgres, nats] = await Promise.all([postgresContainer(), natsContainer()]);
  return {
    postgresUrl: `postgres://postgres:${PASSWORD}@${postgres.getHost()}:${postgres.getMappedPort(5432)}/postgres`,
    natsUrl: `nats://${nats.getHost()}:${nats.getMappedPort(4222)}`,
    async [Symbol.asyncDispose]() {
      await Promise.all([postgres.stop(), nats.stop()]);
    },
  };
}

function postgresContainer(): Promise<StartedTestContainer> {
  return new GenericContainer(POSTGRES_IMAGE)
    .withEnvironment({ POSTGRES_PASSWORD: PASSWORD })
    .withCommand(["postgres", "-c", "fsync=off", "-c", "max_connections=300"])
    .withTmpFs({ "/var/lib/postgresql/data": "rw" })
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forAll([Wait.forListeningPorts(), Wait.forLogMessage(/ready to accept connections/, 2)]))
    .start();
}

function natsContainer(): Promise<StartedTestContainer> {
  return new GenericContainer(NATS_IMAGE)
    .withCommand(["-js"])
    .withExposedPorts(4222)
    .withWaitStrategy(Wait.forLogMessage(/Server is ready/))
    .start();
}
