import * as a from "../expect.ts";
import * as members from "../members.ts";
import type { Section } from "../run-kit.ts";
import { hold } from "../outcome.ts";
import { accounts, assign, blocked, life, newPool, subscriptions, unassign } from "../histories.ts";
import { expectBalance } from "../world.ts";

/** Section 4.3: subscriptions. */
export const SUBSCRIPTIONS: Section = [
  {
    id: "4.3 assign",
    text: "POST /investor/assign: nine members, `ended_at` null.",
    expected: "these members with the internal id of the Master",
    needs: ["money"],
    async check(world) {
      const { assigned, master } = await life(world);
      return a.expectMembers(assigned.body, { ...members.ASSIGNED, master_id: a.exactly(BigInt(master.id)) });
    },
  },
  {
    id: "4.3 assign required",
    text: "`master_login`, `investor_login`, `perf_fee.rate` and `perf_fee.enabled` are required.",
    expected: "refused without each",
    async check(world) {
      const { master, investor } = await accounts(world);
      const [logins, fee] = [
        { master_login: master.login, investor_login: investor.login },
        { rate: 0.3, enabled: true },
      ];
      const wrong = [
        { ...logins },
        { ...logins, perf_fee: { rate: 0.3 } },
        { ...logins, perf_fee: { enabled: true } },
        { master_login: master.login, perf_fee: fee },
        { investor_login: investor.login, perf_fee: fee },
      ];
      return a.expectRefused(...(await Promise.all(wrong.map((body) => world.post("/investor/assign", body)))));
    },
  },
  {
    id: "4.3 assign rate",
    text: "`perf_fee.rate` is 0 to 1.",
    expected: "refused beyond, 200 for 0 and for 1",
    async check(world) {
      const { login } = await world.newMaster();
      const wrong = [-0.01, 1.01, 30].map(async (rate) =>
        assign(world, login, (await world.newInvestor()).login, rate),
      );
      const refused = a.expectRefused(...(await Promise.all(wrong)));
      const right = [0, 1].map(async (rate) => assign(world, login, (await world.newInvestor()).login, rate));
      return `${refused}; ${a.expectOk(...(await Promise.all(right)))}`;
    },
  },
  {
    id: "4.3 assign enabled",
    text: "`perf_fee.enabled` enables fee collection for this Investor.",
    expected: "no fee on a result of 100.00 when it is false",
    needs: ["money", "simulator"],
    async check(world) {
      const [{ login: master }, { login }] = [await world.newMaster(), await world.newInvestor("1000")];
      const fee = { rate: 0.3, enabled: false };
      a.expectOk(await world.post("/investor/assign", { master_login: master, investor_login: login, perf_fee: fee }));
      await expectBalance(world, master, 1_000_00);
      await world.control("results", { login: master, profit: "100.00" });
      await expectBalance(world, login, 1_100_00);
      const { body } = await world.post(`/investor/withdraw?login=${login}&amount=1`);
      const pending = a.textOf(body, "perf_fee_pending_at_request");
      hold(Number(pending) === 0, pending);
      return pending;
    },
  },
  {
    id: "4.3 unassign",
    text: "POST /subscriptions/unassign: `subscription`, `payout_enqueued`, `mt5_transfer_id`, negative `amount`; no body.",
    expected: "these members",
    needs: ["money"],
    check: async (world) => a.expectMembers((await life(world)).unassigned.body, members.UNASSIGNED),
  },
  {
    id: "4.3 unassign required",
    text: "`master_login` and `investor_login` are required; the Master is active.",
    expected: "refused without each, and for a pair that has no subscription",
    async check(world) {
      const { master, investor } = await accounts(world);
      const queries = [`master_login=${master.login}`, `investor_login=${investor.login}`];
      const missing = queries.map((query) => world.post(`/subscriptions/unassign?${query}`));
      const pair = world.post(`/subscriptions/unassign?${queries.join("&")}`);
      return a.expectRefused(...(await Promise.all([...missing, pair])));
    },
  },
  {
    id: "4.3 unassign blocked",
    text: "Open Master positions can block it.",
    expected: "409",
    needs: ["money", "simulator"],
    check: async (world) => a.expectStatus(409, (await blocked(world)).unassigned),
  },
  {
    id: "4.3 unassign again",
    text: "A second command while PAUSED returns 409.",
    expected: "409",
    needs: ["money"],
    check: async (world) => a.expectStatus(409, (await life(world)).again),
  },
  {
    id: "4.3 list",
    text: "GET /info/subscriptions: an array of seven members.",
    expected: "these members",
    needs: ["money"],
    check: async (world) => a.expectItems((await life(world)).active.body, members.SUBSCRIPTION),
  },
  {
    id: "4.3 list filters",
    text: "Optional `master_login`, `investor_login`, `status`.",
    expected: "each finds the subscription, and another value does not",
    needs: ["money"],
    async check(world) {
      const { master, investor, cancelled } = await life(world);
      a.expectItems(cancelled.body, members.SUBSCRIPTION);
      const count = async (query: string) => a.itemsOf((await world.get(`/info/subscriptions?${query}`)).body).length;
      const found = [
        await count(`master_login=${master.login}`),
        await count(`master_login=${master.login}&status=CANCELLED`),
        await count(`investor_login=${investor}&master_login=${master.login}`),
        await count(`master_login=${master.login}&status=ACTIVE`),
      ];
      hold(found.join() === "1,1,1,0", found.join(", "));
      return found.join(", ");
    },
  },
  {
    id: "4.3 list status",
    text: "`status` is ACTIVE, PAUSED or CANCELLED.",
    expected: "200 for each, refused for another",
    async check(world) {
      const { login } = (await accounts(world)).investor;
      const states = ["ACTIVE", "PAUSED", "CANCELLED"].map((status) =>
        subscriptions(world, login, `&status=${status}`),
      );
      a.expectOk(...(await Promise.all(states)));
      return a.expectRefused(await subscriptions(world, login, "&status=ENDED"));
    },
  },
  {
    id: "4.3 no balance to exit",
    text: "Unassign of an Investor without mirrored balance needs no PAUSED.",
    expected: "CANCELLED, or PAUSED that ends",
    async check(world) {
      const pool = { master: await world.newMaster(), investor: (await world.newInvestor()).login };
      const assigned = await assign(world, pool.master.login, pool.investor);
      a.expectOk(assigned);
      return a.expectOk(await unassign(world, { ...pool, assigned }));
    },
  },
  {
    id: "4.3 two Investors",
    text: "A Master has several Investors, each with its own subscription.",
    expected: "two subscriptions and `investors_count` 2",
    needs: ["money"],
    async check(world) {
      const { master } = await newPool(world, "10");
      a.expectOk(await assign(world, master.login, (await world.newInvestor()).login));
      const { body } = await world.get(`/info/master/${master.login}`);
      hold(a.textOf(body, "investors_count") === "2", a.textOf(body, "investors_count"));
      return "2";
    },
  },
];
