import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type Client,
  clientOf,
  dealsOf,
  eventually,
  platformBalanceOf,
  untilKnown,
  withKey,
} from "./support/client.ts";
import { assign, deposit, expectDone, newInvestor, withdraw } from "./support/client-requests.ts";
import { findBehindReview, newOperator, resumePermits } from "./support/reviews.ts";
import { startTestSystem } from "./support/system.ts";
import { bookResult, dealsOfAll, expectBalances, pooled } from "./support/trading.ts";

const TIMEOUT = { timeout: 600_000 };
const CONVERGED_MS = 150_000;

test("after a restore no result that was posted is divided again, and no fee is taken twice", TIMEOUT, async () => {
  await using system = await startTestSystem({ PAMM_QUIET_PERIOD: "PT8S", PAMM_CHECK_INTERVAL: "PT2S" });
  const client = clientOf(system);
  const sure = untilKnown(client);
  const operator = withKey(client, await newOperator(system, "first"));
  const second = await newOperator(system, "second");
  const { login: master, paymentLogin, investors } = await pooled(client, ["300.00", "300.00"], 0.3);
  const [ann, ben] = investors as [string, string];
  const cat = await newInvestor(client, "300.00");
  const [database, copy] = ["postgres", "copy"].map((name) => join(system.stateDir, name)) as [string, string];
  await system.restart("SIGKILL", () => cp(database, copy, { recursive: true, preserveTimestamps: true }));

  await expectDone(deposit(sure, ann, "300.00", "lost"));
  await expectBalances(client, { [master]: "900.00" });
  await expectDone(assign(sure, master, cat, 0.3));
  await expectBalances(client, { [master]: "1200.00" });
  await bookResult(client, master, "120.00");
  await expectBalances(client, { [ann]: "660.00", [ben]: "330.00", [cat]: "330.00" });
  // With its fee of 9.00.
  await expectDone(withdraw(sure, ben, "31.00"));
  await expectBalances(client, { [ben]: "290.00", [paymentLogin]: "9.00", [master]: "1280.00" });
  await bookResult(client, master, "128.00");
  await expectBalances(client, { [ann]: "726.00", [ben]: "319.00", [cat]: "363.00" });
  const accounts = [ann, ben, cat, paymentLogin];
  const before = await dealsOfAll(client, accounts);
  await system.restart("SIGKILL", async () => {
    await rm(database, { recursive: true });
    await cp(copy, database, { recursive: true, preserveTimestamps: true });
  });

  await resumePermits(operator, await findBehindReview(client), second);
  // Each process of platform learns within a second that permits are granted.
  await eventually(() => expectDone(assign(sure, master, cat, 0.3)));
  await expectConverged(client, master);
  expect(await dealsOfAll(client, accounts)).toEqual(before);
  expect(await platformBalanceOf(client, master)).toBe(1_408_00n);

  // 30 % of the 66.00 and 29.00 that no fee was taken of yet.
  await expectDone(withdraw(sure, ann, "10.00"));
  await expectDone(withdraw(sure, ben, "10.00"));
  await expectBalances(client, { [ann]: "678.20", [ben]: "300.30", [paymentLogin]: "55.50" });
  expect(await feesOf(client, ben)).toEqual([-9_00n, -8_70n]);
  await expectConverged(client, master);
});

async function feesOf(client: Client, login: string): Promise<bigint[]> {
  return (await dealsOf(client, login)).filter(({ comment }) => comment.startsWith("PF")).map(({ minor }) => minor);
}

async function expectConverged(client: Client, master: string): Promise<void> {
  await eventually(async () => {
    const { body, text } = await client.get("/api/v1/ops/breaks");
    expect(body["items"], text).toEqual([]);
    const proof = await client.get(`/api/v1/info/master/${master}/proof`);
    expect(proof.body, proof.text).toMatchObject({ converged: true });
  }, CONVERGED_MS);
}
