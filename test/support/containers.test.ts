import { spawnSync } from "node:child_process";
import { connect } from "nats";
import { expect, test } from "vitest";
import { migrate } from "#kernel/postgres/migrate.ts";
import { createPool } from "#kernel/postgres/pool.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { startContainers } from "./containers.ts";

const DOCKER_TIMEOUT_MS = 5_000;
const PULL_TIMEOUT_MS = 300_000;

const { status } = spawnSync("docker", ["info"], { timeout: DOCKER_TIMEOUT_MS });

test.skipIf(status !== 0)(
  "the database and the broker of production support the tables and streams",
  async () => {
    await using servers = await startContainers();
    const { postgresUrl: url, natsUrl } = servers;

    await migrate({ url, schema: "funding", folder: new URL("../../services/funding/migrations/", import.meta.url) });
    await using pool = createPool({ url, schema: "funding", applicationName: "test", max: 1 });
    const broker = await connect({ servers: natsUrl });
    const manager = await broker.jetstreamManager();
    await manager.streams.add({ name: "TEST", subjects: ["test.>"] });
    await broker.jetstream().publish("test.one");

    expect(await many(pool, sql`select count(*) as migrations from schema_migration`)).not.toEqual([]);
    expect((await manager.streams.info("TEST")).state.messages).toBe(1);
    await broker.close();
  },
  PULL_TIMEOUT_MS,
);
