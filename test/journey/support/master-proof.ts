import { expect, test } from "vitest";
import { itemsOf, objectOf, textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, untilKnown } from "./client.ts";
import { deposit, expectDone, withdraw } from "./client-requests.ts";
import { cents, expectConverged, listBreaks, proofOf } from "./proof.ts";
import type { RunningSystem } from "./system.ts";
import { bookResult, pooled } from "./trading.ts";
import { untilNextWeek } from "./weeks.ts";

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
    const { body } = await listBreaks(client());
    expect(itemsOf(body["items"] ?? []).filter((item) => item["master_login"] === pool.login)).toEqual([]);
  });

  test.concurrent("a dealer's deposit is quarantined, and the proof does not converge while it is", async () => {
    const pool = await pooled(client(), ["1000"]);
    await client().control("POST", "balance", { login: pool.login, amount: "25.00", comment: "dealer" });
    await eventually(async () => {
      const { body } = await proofOf(client(), pool, 1);
      expect(cents(objectOf(body, "master"), "quarantined")).toBe(25_00n);
      expect(cents(objectOf(body, "master"), "difference")).toBe(0n);
      expect(body["converged"]).toBe(false);
    });
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
      expect([status, textOf(body, "code"), textOf(body, "outcome")]).toEqual([503, "safety_stop", "not_executed"]);
    });
    await expectDone(withdraw(untilKnown(client()), other.investors[0] ?? "", "1"));
  });

  test("every check is complete, none is stale, and every service answers", async () => {
    await eventually(async () => {
      const { body, text } = await listBreaks(client());
      const checks = itemsOf(body["checks"] ?? []);
      const names = checks.map((check) => textOf(check, "check"));
      expect(names.toSorted(), text).toEqual([
        "cashflow_completeness",
        "deal_matching",
        "external_funds_investor",
        "external_funds_master",
        "fee_overdue",
        "fee_payments",
        "mirror_lag",
        "platform_balance",
        "pool_ledger",
        "review_votes_fee",
        "review_votes_platform",
        "review_votes_subscription",
        "subscription_endings",
        "transfer_legs",
        "transfer_ownership",
        "unknown_accounts",
        "unregistered_accounts",
        "unresolved_operations",
      ]);
      for (const check of checks) {
        expect(check["completed_at"], text).not.toBeNull();
        expect(check["stale"], text).toBe(false);
        expect(check["error"], text).toBeNull();
      }
      expect(body["unreachable"]).toEqual([]);
    });
  });
}
