import { expect, test } from "vitest";
import { metricValues } from "#test/support/metric-values.ts";
import { kernelDatabase } from "../testing/database.ts";
import { createPool } from "./pool.ts";
import { showPool } from "./pool-metrics.ts";

test("the pool shows the connections that are used and idle, and who waits for one", async () => {
  const { url } = await kernelDatabase();
  await using pool = createPool({ url, schema: "kernel", applicationName: "test", max: 2 });
  using _shown = showPool(pool);

  const [first, second] = [await pool.connect(), await pool.connect()];
  const third = pool.connect();
  expect(await metricValues("pamm_postgres_connections")).toEqual({ idle: 0, in_use: 2 });
  expect(await metricValues("pamm_postgres_waiting")).toEqual({ "": 1 });
  expect(await metricValues("pamm_postgres_connections_max")).toEqual({ "": 2 });

  first.release();
  (await third).release();
  second.release();
  expect(await metricValues("pamm_postgres_connections")).toEqual({ idle: 2, in_use: 0 });
  expect(await metricValues("pamm_postgres_waiting")).toEqual({ "": 0 });
});
