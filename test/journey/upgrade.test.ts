import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { sized } from "../support/proof.ts";
import { newestRelease, ROOT } from "../support/releases.ts";
import { dealsOf, eventually, minorOf, platformBalanceOf } from "./support/client.ts";
import { newInvestor } from "./support/client-requests.ts";
import { textOf } from "../../deploy/demo/exact-json.ts";
import { unpackRelease } from "./support/release-tree.ts";
import { queueCommands } from "./support/queued-beside-release.ts";
import { startSteadyLoad } from "./support/steady-load.ts";
import { startTwoVersions, type TwoVersions } from "./support/two-versions.ts";

vi.setConfig({ testTimeout: 600_000 });
const START_TIMEOUT_MS = 180_000;

const CUSTOMERS = sized({ test: 4, proof: 16 });
/** Of a customer. Most of the time of the test is that of processes that start, and the customers take it from them. */
const PAUSE_MS = sized({ test: 50, proof: 10 });
/** Of load in each state of the upgrade. */
const LOAD_MS = sized({ test: 1_500, proof: 15_000 });

let versions: TwoVersions;
let released: string;

beforeAll(async () => {
  versions = await startTwoVersions({ deployments: 3, drainDelay: "PT2S" });
  released = await unpackRelease(newestRelease(), versions.folder);
}, START_TIMEOUT_MS);
afterAll(() => versions?.[Symbol.asyncDispose](), START_TIMEOUT_MS);

test("an upgrade from the newest release, and the way back on the new schema, fail no command", async () => {
  await versions.prepare(released);
  const before = await versions.deploy("released", released);
  const client = versions.clientAt(before.url);
  const logins = await Promise.all(Array.from({ length: CUSTOMERS }, () => newInvestor(client)));
  const load = startSteadyLoad(client, logins, PAUSE_MS);
  await sleep(LOAD_MS);

  load.phase("the new version starts");
  await versions.prepare(ROOT);
  const upgraded = await versions.deploy("new", ROOT);
  load.phase("both versions run");
  await load.moveTo(versions.clientAt(upgraded.url));
  await sleep(LOAD_MS);
  load.phase("the release stops");
  await before.stop();
  load.phase("the new version runs");
  const queued = await queueCommands(versions.clientAt(upgraded.url));
  await sleep(LOAD_MS);

  load.phase("the release starts again");
  const after = await versions.deploy("again", released);
  load.phase("both versions run again");
  await load.moveTo(versions.clientAt(after.url));
  await queued.expectExecuted(versions.clientAt(after.url));
  load.phase("the new version stops");
  await upgraded.stop();
  load.phase("the release runs again");
  await queued.expectLeft(versions.clientAt(after.url));
  await load.end();

  expect(load.failures).toEqual([]);
  expect(load.executed.length).toBeGreaterThan(CUSTOMERS * 10);
  expect(load.reads()).toBe(load.executed.length);
  const last = versions.clientAt(after.url);
  for (const login of logins) {
    const own = load.executed.filter((movement) => movement.login === login);
    const asked = own.map(({ comment, minor }) => ({ comment, minor }));
    const done = await dealsOf(last, login);
    const found = done.map(({ comment, minor }) => ({ comment: /u\d+\./.exec(comment)?.[0] ?? comment, minor }));
    expect(found).toEqual(asked);
    const sum = own.reduce((total, { minor }) => total + minor, 0n);
    expect(await platformBalanceOf(last, login)).toBe(sum);
    await eventually(async () => {
      const { body } = await last.get(`/api/v1/info/balance/${login}`);
      expect(minorOf(textOf(body, "balance"))).toBe(sum);
    });
  }
});
