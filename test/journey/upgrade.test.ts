import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { sized } from "../support/proof.ts";
import { ROOT } from "../support/releases.ts";
import { treeToRollFrom } from "./support/release-tree.ts";
import { repeatingCallers, startCustomer, startPool } from "./support/repeating-callers.ts";
import { startTwoVersions, type TwoVersions } from "./support/two-versions.ts";

vi.setConfig({ testTimeout: 600_000 });
const START_TIMEOUT_MS = 180_000;

const CUSTOMERS = sized({ test: 2, proof: 16 });
/** Of a customer. Most of the time of the test is that of processes that start, and the customers take it from them. */
const PAUSE_MS = sized({ test: 100, proof: 10 });
/** Of load while both versions run. */
const LOAD_MS = sized({ test: 1_000, proof: 15_000 });

let versions: TwoVersions;
let from: string;

beforeAll(async () => {
  versions = await startTwoVersions();
  from = await treeToRollFrom(versions.folder);
}, START_TIMEOUT_MS);
afterAll(() => versions?.[Symbol.asyncDispose](), START_TIMEOUT_MS);

test("a roll and the way back fail no command, and a command that is repeated under its key is executed once", async () => {
  await versions.prepare(from);
  const first = await versions.deploy("first", from);
  const callers = repeatingCallers(first.client);
  const { client, use, repeatAll } = callers;
  const customers = await Promise.all(Array.from({ length: CUSTOMERS }, () => startCustomer(client, PAUSE_MS)));

  use("the other version starts", first.client);
  const roll = async () => {
    await versions.prepare(ROOT);
    return versions.deploy("rolled", ROOT);
  };
  const [rolled, before] = await Promise.all([roll(), startPool(client)]);
  use("both versions run", first.client, rolled.client);
  await Promise.all([repeatAll(), sleep(LOAD_MS)]);
  use("the first version stops", rolled.client);
  await first.stop();
  use("the other version runs", rolled.client);
  await repeatAll();
  await before.end();

  use("the first version starts again", rolled.client);
  const [back, after] = await Promise.all([versions.deploy("back", from), startPool(client)]);
  use("both versions run again", rolled.client, back.client);
  await Promise.all([repeatAll(), sleep(LOAD_MS)]);
  use("the other version stops", back.client);
  await rolled.stop();
  use("the first version runs again", back.client);
  await after.end();
  await repeatAll();

  for (const { end } of customers) await end();
  expect(callers.failures).toEqual([]);
});
