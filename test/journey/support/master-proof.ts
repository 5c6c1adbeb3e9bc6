import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { itemsOf, type JsonObject, objectOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { CHECKS } from "#catalogue/checks.ts";
import { type Client, dealsOf, eventually, minorOf, platformBalanceOf, untilKnown, withKey } from "./client.ts";
import { deposit, existingAccount, expectDone, withdraw } from "./client-requests.ts";
import { followEvents, newestEvent } from "./follow-events.ts";
import { patchMaster } from "./master-life.ts";
import { cents, expectConverged, listBreaks, proofOf } from "./proof.ts";
import type { RunningSystem } from "./system.ts";
import { decide, newOperator, reviewAbout } from "./reviews.ts";
import { bookResult, type Pool, pooled } from "./trading.ts";
import { untilNextWeek } from "./weeks.ts";

/** Some fee weeks, on a busy machine. */
const WITHIN_MS = 90_000;
/** Of a week: some requests, also on a busy machine. */
const BEFORE_THE_END_MS = 1_000;

/** On a system with short fee weeks and frequent checks. */
export function proofOfMasters(system: () => RunningSystem, client: () => Client): void {
  test.concurrent("all accounts of a Master match from the first deposit over a fee week to a withdrawal", async () => {
    const pool = await pooled(client(), ["10000", "5000"]);
    const [first = "", second = ""] = pool.investors;
    await expectConverged(client(), pool, { [pool.login]: "15000", [first]: "10000", [second]: "5000" });

    await untilNextWeek(system());
    await bookResult(client(), pool.login, "1500");
    // 30 % of the profit of the week is taken when it is over.
    await eventually(async () => {
      await expectConverged(client(), pool, { [pool.login]: "16050", [first]: "10700", [second]: "5350" });
    });
    await expectDone(deposit(untilKnown(client()), second, "650", "more"));
    await expectDone(withdraw(untilKnown(client()), first, "700"));
    await expectConverged(client(), pool, { [pool.login]: "16000", [first]: "10000", [second]: "6000" });
    expect(await breaksOf(client(), pool)).toEqual([]);
  });

  test.concurrent("a payment account that is changed while weeks are paid gets all later fees, and the former one none of them", async () => {
    const pool = await pooled(client(), ["10000", "5000"]);
    const [first = "", second = ""] = pool.investors;
    const next = await existingAccount(client());
    const cutOff = await untilNextWeek(system());
    await bookResult(client(), pool.login, "1500");
    await sleep(Math.max(0, cutOff - BEFORE_THE_END_MS - Date.now()));
    // Tried all the time from before the week is closed until after its fees are paid, so it comes between steps of the week.
    const outcomes = new Set<string>();
    for (const until = Date.now() + WITHIN_MS; ;) {
      const answer = await patchMaster(client(), pool.id, { payment_account_login: next });
      outcomes.add(answer.status === 200 ? "done" : textOf(answer.body, "code"));
      const { credits } = await creditsByAccount(client(), pool.login);
      if (answer.status === 200 && credits > 0) break;
      if (answer.status === 200) await patchMaster(client(), pool.id, { payment_account_login: pool.paymentLogin });
      expect(Date.now(), [...outcomes].join()).toBeLessThan(until);
    }
    expect([...outcomes].filter((code) => !["done", "fees_in_progress", "account_busy"].includes(code))).toEqual([]);

    await untilNextWeek(system());
    await bookResult(client(), pool.login, "1000");
    await eventually(async () => {
      // 30 % of 1,500.00, and of 666.67 and 333.33, each rounded down.
      expect((await creditsByAccount(client(), pool.login)).total).toBe(749_99n);
    }, WITHIN_MS);
    const { byAccount } = await creditsByAccount(client(), pool.login);
    expect((byAccount.get(next) ?? 0n) >= 299_99n).toBe(true);
    for (const login of [next, pool.paymentLogin]) {
      expect(await platformBalanceOf(client(), login)).toBe(byAccount.get(login) ?? 0n);
    }
    await expectConverged(client(), pool, { [pool.login]: "16750.01", [first]: "11166.67", [second]: "5583.34" });
    expect(await breaksOf(client(), pool)).toEqual([]);
  });

  test.concurrent("a dealer's deposit is quarantined and a break, and the break is closed when two operators have acknowledged it", async () => {
    const pool = await pooled(client(), ["1000"]);
    const after = await newestEvent(client());
    const ofPool = (events: readonly JsonObject[]) =>
      events.filter((event) => event["login"] === pool.login && event["reason"] === "external_funds_master");
    const isClosed = (event: JsonObject) => textOf(event, "type") === "break.closed";
    const [{ compared }] = await Promise.all([
      followEvents(client(), { after, types: "break.*", isOver: (seen) => ofPool(seen).some(isClosed) }),
      acknowledgeDealersDeposit(system(), client(), pool),
    ]);
    // Each was compared with the list of breaks when it arrived.
    const events = ofPool(compared);
    expect(events).toMatchObject([{ type: "break.open" }, { type: "break.closed" }]);
    expect(new Set(events.map((event) => textOf(event, "subject_id"))).size).toBe(1);
    const { status, body } = await client().get(`/api/v1/ops/breaks/${textOf(events[0] ?? {}, "subject_id")}`);
    expect([status, body["code"]]).toEqual([404, "break_not_found"]);
    await eventually(async () => expect((await proofOf(client(), pool, 1)).body["converged"]).toBe(true));
  });

  test.concurrent("a deal that the platform loses is a break and stops only its Master", async () => {
    const [pool, other] = [await pooled(client(), ["1000"]), await pooled(client(), ["2000"])];
    const [mirror] = await dealsOf(client(), pool.login);
    await client().control("DELETE", `deals/${mirror?.ticket}`);

    const found = await eventually(async () => {
      const { body } = await listBreaks(client());
      const own = itemsOf(body["items"] ?? []).find((each) =>
        textOf(each, "key").startsWith(`deal_gone:${pool.login}:`),
      );
      expect(own).toBeDefined();
      return own ?? {};
    });
    expect(textOf(found, "check")).toBe("deal_matching");
    expect(textOf(found, "master_login")).toBe(pool.login);
    expect(cents(found, "at_risk")).toBe(1_000_00n);
    await eventually(async () => {
      const { status, body } = await withdraw(client(), pool.investors[0] ?? "", "1");
      expect([status, textOf(body, "code"), textOf(body, "outcome")]).toEqual([409, "safety_stop", "not_executed"]);
    });
    await expectDone(withdraw(untilKnown(client()), other.investors[0] ?? "", "1"));
  });

  test("every check is complete, none is stale, and every service answers", async () => {
    await eventually(async () => {
      const { body, text } = await listBreaks(client());
      const checks = itemsOf(body["checks"] ?? []);
      const names = checks.map((check) => `${textOf(check, "service")} ${textOf(check, "check")}`);
      const known = Object.entries(CHECKS).map(([name, { service }]) => `${service} ${name}`);
      expect(names.toSorted(), text).toEqual(known.toSorted());
      for (const check of checks) {
        expect(check["completed_at"], text).not.toBeNull();
        expect(check["stale"], text).toBe(false);
        expect(check["error"], text).toBeNull();
      }
      expect(body["unreachable"]).toEqual([]);
    });
  });
}

/** The proof does not converge until the deposit is acknowledged. */
async function acknowledgeDealersDeposit(system: RunningSystem, client: Client, pool: Pool): Promise<void> {
  await client.control("POST", "balance", { login: pool.login, amount: "25.00", comment: "dealer" });
  await eventually(async () => {
    const { body } = await proofOf(client, pool, 1);
    expect(cents(objectOf(body, "master"), "quarantined")).toBe(25_00n);
    expect(cents(objectOf(body, "master"), "difference")).toBe(0n);
    expect(body["converged"]).toBe(false);
  });
  const [first, second] = [await newOperator(system, "First"), await newOperator(system, "Second")];
  // As long as it is no break, the acknowledgement would close none.
  await eventually(async () => expect(await breaksOf(client, pool)).toContain("external_funds_master"));
  const review = await reviewAbout(client, pool.login, "external_funds_on_master");
  await decide(withKey(client, first), review, "acknowledge", second);
}

async function breaksOf(client: Client, { login }: Pool): Promise<string[]> {
  const { body } = await listBreaks(client);
  const own = itemsOf(body["items"] ?? []).filter((item) => [item["login"], item["master_login"]].includes(login));
  return own.map((item) => textOf(item, "check"));
}

/** What each payment account of a Master has received, former ones included. */
async function creditsByAccount({ get }: Client, login: string) {
  const { body } = await get(`/api/v1/perf-fee/transactions?master_login=${login}&limit=100`);
  const items = itemsOf(body["items"] ?? []).map((item) => {
    return { account: textOf(item, "master_payment_login"), minor: minorOf(textOf(item, "amount")) };
  });
  const byAccount = new Map<string, bigint>();
  for (const { account, minor } of items) byAccount.set(account, (byAccount.get(account) ?? 0n) + minor);
  return { credits: items.length, byAccount, total: items.reduce((sum, { minor }) => sum + minor, 0n) };
}
