import * as a from "../expect.ts";
import { memberOf } from "../http.ts";
import type { Section } from "../run-kit.ts";
import { hold } from "../outcome.ts";
import { assign, blocked, fees, life, MAY_TRADE } from "../histories.ts";
import { expectBalance } from "../world.ts";

/** Section 3: states and transitions. */
export const STATES: Section = [
  {
    id: "3 assign",
    text: "Assign leads to ACTIVE with `in_pool` true.",
    expected: "ACTIVE and true",
    needs: ["money"],
    async check(world) {
      const { body } = (await life(world)).assigned;
      const observed = `${a.textOf(body, "status")}, in_pool ${a.show(memberOf(body, "in_pool"))}`;
      hold(observed === "ACTIVE, in_pool true", observed);
      return observed;
    },
  },
  {
    id: "3 assign conditions",
    text: "The Investor's balance meets the Master's `min_deposit`.",
    expected: "refused at 99.99, 200 at 100.00",
    needs: ["money"],
    async check(world) {
      const { login: master } = await world.newMaster("100");
      const { login } = await world.newInvestor("99.99");
      const below = a.expectRefused(await assign(world, master, login));
      a.expectOk(await world.post(`/investor/deposit?login=${login}&amount=0.01`));
      return `${below}, ${a.expectOk(await assign(world, master, login))}`;
    },
  },
  {
    id: "3 assign open positions",
    text: "The Investor has no open positions.",
    expected: "refused with an open position",
    needs: ["money", "simulator"],
    async check(world) {
      const [{ login: master }, { login }] = [await world.newMaster(), await world.newInvestor("1000")];
      await world.control(`accounts/${login}/rights`, { rights: MAY_TRADE });
      await world.control("positions", { login, symbol: "EURUSD", side: "buy", volume: "0.01" });
      return a.expectRefused(await assign(world, master, login));
    },
  },
  {
    id: "3 unassign",
    text: "Unassign leads to PAUSED, `in_pool` false, when mirrored balance remains to be exited.",
    expected: "PAUSED and false, with `ended_at` null",
    needs: ["money"],
    async check(world) {
      const subscription = memberOf((await life(world)).unassigned.body, "subscription");
      const observed = ["status", "in_pool", "ended_at"].map((name) => a.show(memberOf(subscription, name))).join(", ");
      hold(observed === '"PAUSED", false, null', observed);
      return observed;
    },
  },
  {
    id: "3 unassign blocked",
    text: "Unassign needs that no open Master positions block it.",
    expected: "refused with an open position",
    needs: ["money", "simulator"],
    check: async (world) => a.expectRefused((await blocked(world)).unassigned),
  },
  {
    id: "3 unassign fees",
    text: "Pending performance fees settle first.",
    expected: "the payout is 1120.00 without the fee of 30.00",
    needs: ["money", "simulator"],
    async check(world) {
      const amount = a.centsOf((await fees(world)).unassigned.body, "amount");
      hold(amount === -1_090_00, `${amount / 100}`);
      return `amount ${amount / 100}`;
    },
  },
  {
    id: "3 payout",
    text: "A payout is queued: `payout_enqueued`, `mt5_transfer_id`, negative `amount`.",
    expected: "true, an integer, -1200.25",
    needs: ["money"],
    async check(world) {
      const { body } = (await life(world)).unassigned;
      a.textOf(body, "mt5_transfer_id");
      hold(memberOf(body, "payout_enqueued") === true && a.centsOf(body, "amount") === -1_200_25, a.show(body));
      return `amount ${a.textOf(body, "amount")}`;
    },
  },
  {
    id: "3 cancelled",
    text: "PAUSED becomes CANCELLED when the exit synchronization completes; `ended_at` becomes non-null.",
    expected: "CANCELLED with a timestamp, and the Master has paid out",
    needs: ["money"],
    async check(world) {
      const { cancelled, master } = await life(world);
      const [item] = a.itemsOf(cancelled.body);
      hold(a.timestamp.accepts(memberOf(item, "ended_at")), a.show(item));
      return `${a.textOf(item, "status")}, ${await expectBalance(world, master.login, 0)}`;
    },
  },
  {
    id: "3 unassign again",
    text: "Unassign while PAUSED stays PAUSED and returns 409.",
    expected: "409",
    needs: ["money"],
    check: async (world) => a.expectStatus(409, (await life(world)).again),
  },
  {
    id: "3 rule 1",
    text: "PAUSED is an in-progress state, not a failure: poll.",
    expected: "polling sees it end",
    needs: ["money"],
    check: async (world) => a.expectOk((await life(world)).cancelled),
  },
  {
    id: "3 rules 2 and 3",
    text: "Unassignment is complete when CANCELLED with `ended_at`; assignment when ACTIVE and balances have converged.",
    expected: "both are reached",
    needs: ["money"],
    async check(world) {
      const { active, cancelled } = await life(world);
      return [active, cancelled].map(({ body }) => a.textOf(a.itemsOf(body)[0], "status")).join(", then ");
    },
  },
  {
    id: "3 rule 4",
    text: "Only ACTIVE subscriptions with `in_pool` true and no `ended_at` count as active Investors.",
    expected: "listed while ACTIVE, not after the unassign",
    needs: ["money"],
    async check(world) {
      const { activeInvestors, investorsWhilePaused } = await life(world);
      const counts = [activeInvestors, investorsWhilePaused].map(({ body }) => a.itemsOf(body).length);
      hold(counts.join() === "1,0", counts.join(", then "));
      return counts.join(", then ");
    },
  },
];
