import * as a from "../expect.ts";
import { type Json, memberOf } from "../http.ts";
import * as members from "../members.ts";
import type { Section } from "../run-kit.ts";
import { hold } from "../outcome.ts";
import { accounts, fees, newPool } from "../histories.ts";
import { eventually, expectBalance } from "../world.ts";

/** Section 4.5: fee listings. */
export const FEE_LISTINGS: Section = [
  {
    id: "4.5 credits",
    text: "GET /perf-fee/transactions: `payment_account_login`, `items`, `next_cursor`, `has_more`.",
    expected: "these members",
    needs: ["money", "simulator"],
    async check(world) {
      const { credits, master } = await fees(world);
      a.expectMembers(credits.body, page({ payment_account_login: a.exactly(master.payment) }, a.integer));
      return a.expectItems(memberOf(credits.body, "items"), members.CREDIT);
    },
  },
  {
    id: "4.5 credits limits",
    text: "`master_login` is required; `limit` is 1 to 100, default 5.",
    expected: "refused without it and out of range",
    async check(world) {
      const { login } = (await accounts(world)).master;
      const wrong = ["", `?master_login=${login}&limit=0`, `?master_login=${login}&limit=101`];
      const observed = a.expectRefused(
        ...(await Promise.all(wrong.map((query) => world.get(`/perf-fee/transactions${query}`)))),
      );
      a.expectOk(await world.get(`/perf-fee/transactions?master_login=${login}&limit=100`));
      return observed;
    },
  },
  {
    id: "4.5 credits cursor",
    text: "`cursor` returns records with `id` greater than it; use `next_cursor`.",
    expected: "the second credit after the first",
    needs: ["money", "simulator"],
    async check(world) {
      const { master, credits } = await fees(world);
      const path = `/perf-fee/transactions?master_login=${master.login}&limit=1`;
      const first = await world.get(path);
      const next = await world.get(`${path}&cursor=${a.textOf(first.body, "next_cursor")}`);
      return expectSame([...idsOf(first.body), ...idsOf(next.body)], idsOf(credits.body), "ascending");
    },
  },
  {
    id: "4.5 payments",
    text: "GET /perf-fee/master/{master_login}/investor-payments: `master_login`, `payment_account_login`, `items`, `next_cursor`, `has_more`.",
    expected: "these members",
    needs: ["money", "simulator"],
    async check(world) {
      const { payments, master } = await fees(world);
      const logins = { master_login: a.exactly(master.login), payment_account_login: a.exactly(master.payment) };
      a.expectMembers(payments.body, page(logins, a.orNull(a.integer)));
      return a.expectItems(memberOf(payments.body, "items"), members.PAYMENT);
    },
  },
  {
    id: "4.5 payments limits",
    text: "`limit` is 1 to 500, default 100.",
    expected: "refused out of range, 200 for 500",
    async check(world) {
      const path = `/perf-fee/master/${(await accounts(world)).master.login}/investor-payments`;
      const observed = a.expectRefused(await world.get(`${path}?limit=0`), await world.get(`${path}?limit=501`));
      a.expectOk(await world.get(`${path}?limit=500`));
      return observed;
    },
  },
  {
    id: "4.5 payments cursor",
    text: "`cursor` returns ids lower than it; use `next_cursor`.",
    expected: "the first payment after the second",
    needs: ["money", "simulator"],
    async check(world) {
      const { master, payments } = await fees(world);
      const path = `/perf-fee/master/${master.login}/investor-payments?limit=1`;
      const first = await world.get(path);
      const next = await world.get(`${path}&cursor=${a.textOf(first.body, "next_cursor")}`);
      return expectSame([...idsOf(first.body), ...idsOf(next.body)], idsOf(payments.body), "descending");
    },
  },
  {
    id: "4.5 payments executed",
    text: "Only executed items with a fee greater than zero are returned.",
    expected: "EXECUTED, and amounts above 0",
    needs: ["money", "simulator"],
    async check(world) {
      const items = a.itemsOf(memberOf((await fees(world)).payments.body, "items"));
      const observed = items.map((item) => `${a.textOf(item, "status")} ${a.textOf(item, "amount")}`).join(", ");
      hold(
        items.every((item) => a.textOf(item, "status") === "EXECUTED" && a.centsOf(item, "amount") > 0),
        observed,
      );
      return observed;
    },
  },
  {
    id: "4.5 reconcile",
    text: "Reconcile payments against credits: `cashflow_id` refers to a credit `id`.",
    expected: "each payment is one credit of the same amount",
    needs: ["money", "simulator"],
    async check(world) {
      const { payments, credits } = await fees(world);
      const pairs = (body: Json | undefined, id: string): string[] =>
        a.itemsOf(memberOf(body, "items")).map((item) => `${a.textOf(item, id)}: ${a.textOf(item, "amount")}`);
      return expectSame(pairs(payments.body, "cashflow_id").toSorted(), pairs(credits.body, "id").toSorted(), "paired");
    },
  },
  {
    id: "4.5 payments by id",
    text: "Deduplicate by `id`.",
    expected: "each id once",
    needs: ["money", "simulator"],
    async check(world) {
      const ids = idsOf((await fees(world)).payments.body);
      hold(new Set(ids).size === ids.length, ids.join(", "));
      return ids.join(", ");
    },
  },
  {
    id: "4.5 weekly",
    text: "Fees are calculated in weekly runs; a run is complete when payments reconcile with credits.",
    expected: "a fee of 30.00 after the end of the fee week",
    needs: ["money", "simulator", "week"],
    async check(world) {
      const { master } = await newPool(world, "1000");
      await world.control("results", { login: master.login, profit: "100.00" });
      // The money is there before its payment is on record as executed, so the payment is waited for.
      const item = await eventually(
        async () => {
          const { body } = await world.get(`/perf-fee/master/${master.login}/investor-payments`);
          const [payment] = a.itemsOf(memberOf(body, "items"));
          hold(payment !== undefined, "no payment");
          hold(a.textOf(payment, "run_status") === "EXECUTED", a.show(payment));
          return payment;
        },
        (2 * world.weekSeconds + 60) * 1_000,
      );
      await expectBalance(world, master.payment, 30_00);
      return `${a.textOf(item, "run_period_start")} to ${a.textOf(item, "run_period_end")}: ${a.textOf(item, "amount")}`;
    },
  },
];

function page(more: a.Members, cursor: a.Check): a.Members {
  return { ...more, items: a.list, next_cursor: cursor, has_more: a.bool };
}

function idsOf(body: Json | undefined): string[] {
  return a.itemsOf(memberOf(body, "items")).map((item) => a.textOf(item, "id"));
}

function expectSame(found: readonly string[], expected: readonly string[], word: string): string {
  hold(found.join() === expected.join() && found.length > 0, `${found.join(", ")} and not ${expected.join(", ")}`);
  return `${word}: ${found.join(", ")}`;
}
