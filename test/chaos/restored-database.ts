import { randomUUID } from "node:crypto";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type Client,
  dealsOf,
  eventually,
  platformBalanceOf,
  type Reply,
  untilKnown,
  withKey,
} from "../journey/support/client.ts";
import { isSkipped } from "../console/support/console-page.ts";
import { resumeFromConsole, SCOPES } from "../console/support/resume-held.ts";
import { newKey, resumePermits, reviewAbout } from "../journey/support/reviews.ts";
import { expectNothingOpen } from "../journey/support/proof.ts";
import {
  assign,
  deposit as depositInPool,
  expectDone,
  newInvestor,
  newMaster,
  unassign,
  withdraw,
} from "../journey/support/client-requests.ts";
import { bookResult, dealsOfAll, expectBalances, pooled as newPool } from "../journey/support/trading.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

/** Movements of Ann, of Bob, of an Investor in the pool, and two of the pool that trades, with the fee of one. */
const LOST = { movements: 5 };
const STOPPED = { code: "safety_stop", outcome: "not_executed" };

async function balanceOn(client: Client, login: string): Promise<bigint> {
  return (await dealsOf(client, login)).reduce((sum, { minor }) => sum + minor, 0n);
}

type Deposit = { readonly login: string; readonly amount: string; readonly key?: string };

function deposit(client: Client, { login, amount, key = randomUUID() }: Deposit): Promise<Reply> {
  const url = `/api/v1/investor/deposit?login=${login}&amount=${amount}&comment=bank`;
  return client.send(url, { method: "POST", headers: { "idempotency-key": key } });
}

/** Before other faults, because it expects that no review and no break is left. */
export function restoredDatabase(tested: () => SystemUnderTest): void {
  test("after the database is restored to an older time nothing is moved twice, and two operators decide before anything is sent, in the console where the machine has a Chromium", async () => {
    const { client, system } = tested();
    const [operator, second] = [await newKey(system, "Ann", SCOPES), await newKey(system, "Ben", SCOPES)];
    const [ann, bob] = [await newInvestor(client), await newInvestor(client)];
    expect((await deposit(client, { login: ann, amount: "100.00" })).status).toBe(200);
    const { login: master } = await newMaster(client);
    const pooled = [await newInvestor(client, "500.00"), await newInvestor(client, "300.00")] as const;
    for (const login of pooled) await expectDone(assign(client, master, login));
    await eventually(async () => expect(await balanceOn(client, master)).toBe(800_00n));
    const trading = await newTradingPool(client);
    const database = join(system.stateDir, "postgres");
    const copy = join(system.stateDir, "copy");
    await system.restart("SIGKILL", () => cp(database, copy, { recursive: true, preserveTimestamps: true }));
    const [forAnn, forBob] = [
      { login: ann, amount: "10.00", key: randomUUID() },
      { login: bob, amount: "20.00", key: randomUUID() },
    ];
    const inPool = { login: pooled[0], amount: "50.00", key: randomUUID() };
    // With one key each: an answer that was lost is found by its repetition, and nothing is moved twice.
    for (const lost of [forAnn, forBob, inPool]) {
      await eventually(async () => expect((await deposit(client, lost)).status).toBe(200));
    }
    await expectDone(unassign(client, master, pooled[1]));
    await eventually(async () => expect(await balanceOn(client, master)).toBe(550_00n));
    await trading.trade();
    const dealsOfMaster = await dealsOf(client, master);
    const [dealsOfAnn, dealsOfBob] = [await dealsOf(client, ann), await dealsOf(client, bob)];

    await system.restart("SIGKILL", async () => {
      await rm(database, { recursive: true });
      await cp(copy, database, { recursive: true, preserveTimestamps: true });
    });

    // The callers repeat what they have no answer of, with their keys and without.
    for (const repeated of [forAnn, forBob, { login: ann, amount: "10.00" }]) {
      const reply = await deposit(client, repeated);
      expect([reply.status, reply.body], reply.text).toMatchObject([409, STOPPED]);
    }
    const behind = await eventually(async () => {
      const { body } = await client.get("/api/v1/ops/reviews");
      const [found] = (body["items"] as { reason: string; login: string }[]).filter(
        ({ reason }) => reason === "database_behind",
      );
      return await reviewAbout(client, found?.login ?? "", "database_behind");
    });
    expect((await deposit(client, forBob)).body).toMatchObject(STOPPED);
    // The console sends the same requests as a client of the API.
    if (isSkipped) await resumePermits(withKey(client, operator), behind, second);
    else await resumeFromConsole(system.info().url, { ann: operator, ben: second }, LOST);

    await eventually(async () => expect((await deposit(client, { login: bob, amount: "30.00" })).status).toBe(200));
    // Repeated again, with the keys and without: each is refused with the ticket of the deal that the platform has.
    const ticketOf = (deals: Awaited<ReturnType<typeof dealsOf>>) => deals.at(-1)?.ticket;
    for (const [repeated, dealId] of [
      [forAnn, ticketOf(dealsOfAnn)],
      [forBob, ticketOf(dealsOfBob)],
      [{ login: ann, amount: "10.00" }, ticketOf(dealsOfAnn)],
    ] as const) {
      const reply = await deposit(client, repeated);
      expect([reply.status, reply.body], reply.text).toMatchObject([
        409,
        { code: "possible_duplicate", outcome: "not_executed", deal_id: dealId },
      ]);
      // The caller finds what was executed, without an operator.
      const { body, text } = await client.get(
        `/api/v1/operations?login=${repeated.login}&comment=bank&outcome=executed`,
      );
      const items = body["items"] as unknown as { id: string; deal_id: string; amount: string; imported: boolean }[];
      const executed = items.filter(({ imported }) => imported);
      expect(executed, text).toMatchObject([{ deal_id: dealId, amount: String(Number(repeated.amount)) }]);
      expect(reply.body["operation_id"]).toBe(executed[0]?.id);
      const operation = await client.get(`/api/v1/operations/${executed[0]?.id}`);
      expect(operation.body, operation.text).toMatchObject({ imported: true, outcome: "executed", deal_id: dealId });
    }
    expect(await dealsOf(client, ann)).toEqual(dealsOfAnn);
    expect((await dealsOf(client, bob)).map(({ minor }) => minor)).toEqual([
      ...dealsOfBob.map(({ minor }) => minor),
      30_00n,
    ]);
    await trading.assignAgain();
    // The lost unassign is repeated; what left the Master does not leave again, and the lost deposit is not mirrored again.
    await expectDone(unassign(untilKnown(client), master, pooled[1]));
    await expectNothingOpen(client, master);
    expect(await dealsOf(client, master)).toEqual(dealsOfMaster);
    await trading.expectKept();
  }, 600_000);
}

/** A pool that trades while the commits are made that a restore loses. */
type TradingPool = {
  readonly login: string;
  /** A deposit, an assign, a result, a withdrawal with its fee, and another result: one deposit and one withdrawal. */
  readonly trade: () => Promise<void>;
  /** The caller repeats the lost assign. */
  readonly assignAgain: () => Promise<void>;
  /** After that: no result that was posted is divided again, and no fee is taken twice. */
  readonly expectKept: () => Promise<void>;
};

async function newTradingPool(client: Client): Promise<TradingPool> {
  const sure = untilKnown(client);
  const { login: master, paymentLogin, investors } = await newPool(client, ["300.00", "300.00"], 0.3);
  const [ann, ben] = investors as [string, string];
  const cat = await newInvestor(client, "300.00");
  const accounts = [ann, ben, cat, paymentLogin];
  let before: unknown;
  return {
    login: master,
    async trade() {
      await expectDone(depositInPool(sure, ann, "300.00", "lost"));
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
      before = await dealsOfAll(client, accounts);
    },
    async assignAgain() {
      await eventually(() => expectDone(assign(sure, master, cat, 0.3)));
    },
    async expectKept() {
      await expectNothingOpen(client, master);
      expect(await dealsOfAll(client, accounts)).toEqual(before);
      expect(await platformBalanceOf(client, master)).toBe(1_408_00n);

      // 30 % of the 66.00 and 29.00 that no fee was taken of yet.
      await expectDone(withdraw(sure, ann, "10.00"));
      await expectDone(withdraw(sure, ben, "10.00"));
      await expectBalances(client, { [ann]: "678.20", [ben]: "300.30", [paymentLogin]: "55.50" });
      expect(await feesOf(client, ben)).toEqual([-9_00n, -8_70n]);
      await expectNothingOpen(client, master);
    },
  };
}

async function feesOf(client: Client, login: string): Promise<bigint[]> {
  return (await dealsOf(client, login)).filter(({ comment }) => comment.startsWith("PF")).map(({ minor }) => minor);
}
