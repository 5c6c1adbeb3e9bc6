import { beforeAll, expect, test } from "vitest";
import { itemsOf, textOf } from "../../deploy/demo/exact-json.ts";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { type Client, eventually, untilKnown, withKey } from "../journey/support/client.ts";
import { deposit, expectDone, newInvestor, unassign, withdraw } from "../journey/support/client-requests.ts";
import { changeTables, forgeTransfer } from "../journey/support/intruder.ts";
import { expectProblem } from "../journey/support/problem.ts";
import { listBreaks } from "../journey/support/proof.ts";
import { decide, newOperator, reviewAbout } from "../journey/support/reviews.ts";
import { bookResult, expectBalances, pooled } from "../journey/support/trading.ts";
import { CHECKED_EVERY_MS, type SystemUnderTest } from "./system-under-test.ts";

const TIMEOUT = { timeout: 120_000 };
/** A new row is compared by the second run after it; the rest is the time of the runs on a busy machine. */
const FOUND_WITHIN_MS = 2 * CHECKED_EVERY_MS + 20_000;
const STOPPED = { status: 409, code: "safety_stop", outcome: "not_executed" } as const;

/** The open breaks of these checks, and that all of their runs are complete. */
async function breaksOf(client: Client, ...names: string[]): Promise<string[]> {
  const { body, text: shown } = await listBreaks(client);
  const checks = itemsOf(body["checks"] ?? []).filter((each) => names.includes(textOf(each, "check")));
  expect(checks, shown).toHaveLength(names.length);
  for (const check of checks) {
    expect(check["error"], shown).toBeNull();
    expect(check["completed_at"], shown).not.toBeNull();
  }
  return itemsOf(body["items"] ?? [])
    .filter((each) => names.includes(textOf(each, "check")))
    .map((each) => `${textOf(each, "check")} ${textOf(each, "login")}`);
}

const VOTES = ["review_votes_platform", "review_votes_subscription", "review_votes_fee"];

/** Rows that an intruder has written, by the certificate of a service or into a table, are found, and stop the account or the Master. */
export function forgedRows(tested: () => SystemUnderTest): void {
  let operator: Client;
  let second: string;

  beforeAll(async () => {
    const { client, system } = tested();
    operator = withKey(client, await newOperator(system, "First of forged rows"));
    second = await newOperator(system, "Second of forged rows");
  });

  test("ordinary work, an operator's decision included, is no break", TIMEOUT, async () => {
    const { client } = tested();
    const pool = await pooled(client, ["500", "300"]);
    const [first = "", other = ""] = pool.investors;
    await bookResult(client, pool.login, "80");
    await expectBalances(client, { [first]: "550", [pool.login]: "880" });
    await expectDone(withdraw(untilKnown(client), first, "100"));
    await expectDone(unassign(untilKnown(client), pool.login, other));
    await client.control("POST", "balance", { login: first, amount: "40" });
    await decide(operator, await reviewAbout(client, first, "external_funds_on_investor"), "adopt", second);
    const passes = 3;
    for (let pass = 0; pass < passes; pass += 1) {
      await new Promise((resolve) => setTimeout(resolve, CHECKED_EVERY_MS));
      expect(await breaksOf(client, "transfer_ownership", ...VOTES)).toEqual([]);
    }
  });

  test(
    "a deposit that was forged with the certificate of a service stops its account until two operators resume it",
    TIMEOUT,
    async () => {
      const { client, system } = tested();
      const [victim, other] = [await newInvestor(client, "10"), await newInvestor(client, "10")];
      const forged = {
        as: "funding",
        key: "funding:deposit:0198c0de-0000-7000-8000-000000000001",
        login: victim,
        minor: 1_000_000_00n,
      } as const;
      expect(await forgeTransfer(system, forged)).toMatchObject({ state: TransferState.APPLIED });
      await eventually(async () => {
        expect(await breaksOf(client, "transfer_ownership")).toEqual([`transfer_ownership ${victim}`]);
      }, FOUND_WITHIN_MS);
      const review = await reviewAbout(client, victim, "account_stopped", FOUND_WITHIN_MS);
      expectProblem(await withdraw(client, victim, "250000"), STOPPED);
      expectProblem(await deposit(client, victim, "1", "more"), {
        ...STOPPED,
        members: { operation_id: expect.any(String) },
      });
      await expectDone(withdraw(untilKnown(client), other, "10"));

      await decide(operator, review, "resume", second);
      await expectDone(withdraw(untilKnown(client), victim, "10"));
      await eventually(async () => expect(await breaksOf(client, "transfer_ownership")).toEqual([]), FOUND_WITHIN_MS);
    },
  );

  test(
    "a decision that was written into the tables stops the Master, and is a break until two operators acknowledge it",
    TIMEOUT,
    async () => {
      const { client, system } = tested();
      const pool = await pooled(client, ["500"]);
      const [investor = ""] = pool.investors;
      await client.control("POST", "balance", { login: investor, amount: "40" });
      const review = await reviewAbout(client, investor, "external_funds_on_investor");
      const number = textOf(review, "id").replace("subscription-", "");
      await changeTables(
        system,
        "subscription",
        `insert into review_event (case_id, event, action, deal_id, note, actor, key_id, recorded_at)
       values (${number}, 'PROPOSED', 'acknowledge', 0, 'n', 'First', 'KeyOfFirst01', now()),
              (${number}, 'CONFIRMED', 'acknowledge', 0, 'n', 'Second', 'KeyOfSecond1', now());
       update review_case
       set state = 'DECIDED', action = 'acknowledge', chosen_deal_id = 0, note = 'n', proposed_by = 'First', proposed_at = now(),
           confirmed_note = 'n', confirmed_by = 'Second', confirmed_at = now(), done_at = now()
       where id = ${number}`,
      );
      await eventually(async () => {
        expect(await breaksOf(client, ...VOTES)).toEqual([`review_votes_subscription ${investor}`]);
      }, FOUND_WITHIN_MS);
      const stopped = await reviewAbout(client, pool.login, "stopped", FOUND_WITHIN_MS);
      expectProblem(await withdraw(client, investor, "1"), STOPPED);

      await decide(operator, await reviewAbout(client, investor, "votes_unconfirmed"), "acknowledge", second);
      await decide(operator, stopped, "resume", second);
      await eventually(async () => expect(await breaksOf(client, ...VOTES)).toEqual([]), FOUND_WITHIN_MS);
      await expectDone(withdraw(untilKnown(client), investor, "1"));
    },
  );
}
