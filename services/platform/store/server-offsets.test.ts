import { expect, test } from "vitest";
import { testDatabase } from "#test/support/database.ts";
import { inSequence } from "../mt5/measured-offsets.ts";
import { serverOffsets } from "./server-offsets.ts";

test("offsets are kept for each server, and what two processes have measured of a change is one change", async () => {
  const { pool } = await testDatabase("platform");
  const changeMs = Date.UTC(2026, 9, 25, 1);
  const memory = serverOffsets(pool, "mt5");
  const [summer, winter] = [180, 120];
  await memory.save({ minutes: summer, firstMs: changeMs - 9_000, lastMs: changeMs - 9_000 });
  await memory.save({ minutes: summer, firstMs: changeMs - 9_000, lastMs: changeMs - 1_000 });
  await memory.save({ minutes: summer, firstMs: changeMs - 9_000, lastMs: changeMs - 5_000 });
  await memory.save({ minutes: summer, firstMs: changeMs - 8_000, lastMs: changeMs - 2_000 });
  await memory.save({ minutes: winter, firstMs: changeMs + 1_000, lastMs: changeMs + 1_000 });
  await memory.save({ minutes: winter, firstMs: changeMs + 2_000, lastMs: changeMs + 9_000 });

  expect(inSequence(await memory.load())).toEqual([
    { minutes: summer, firstMs: changeMs - 9_000, lastMs: changeMs - 1_000 },
    { minutes: winter, firstMs: changeMs + 1_000, lastMs: changeMs + 9_000 },
  ]);
  expect(await serverOffsets(pool, "another").load()).toEqual([]);
});
