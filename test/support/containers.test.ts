import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { migrate } from "#kernel/postgres/migrate.ts";
import { setUpAllStreams } from "../../deploy/nats/streams.ts";
import { SERVICES } from "../../deploy/provision/services.ts";
import { startContainers } from "./containers.ts";

const DOCKER_TIMEOUT_MS = 5_000;
const PULL_TIMEOUT_MS = 300_000;

const { status } = spawnSync("docker", ["info"], { timeout: DOCKER_TIMEOUT_MS });

test.skipIf(status !== 0)(
  "the database and the broker of production support the tables and streams",
  async () => {
    await using servers = await startContainers();
    const { postgresUrl: url, natsUrl } = servers;

    for (const schema of SERVICES) {
      const folder = new URL(`../../services/${schema}/migrations/`, import.meta.url);
      expect(await migrate({ url, schema, folder }), schema).not.toEqual([]);
      expect(await migrate({ url, schema, folder }), schema).toEqual([]);
    }
    await setUpAllStreams({ url: natsUrl, replicas: 1 });
    const again = await setUpAllStreams({ url: natsUrl, replicas: 1 });
    expect(again.filter((line) => !line.endsWith(": nothing to do"))).toEqual([]);
  },
  PULL_TIMEOUT_MS,
);
