import * as a from "../expect.ts";
import { withinOneWeek } from "../fee-week.ts";
import { fees, life, newPool, requireLongWeek } from "../histories.ts";
import { memberOf } from "../http.ts";
import * as members from "../members.ts";
import { hold } from "../outcome.ts";
import type { Section } from "../run-kit.ts";

/** Section 2: fields of fee configurations, credits and payments. */
export const FEE_RESOURCES: Section = [
  {
    id: "2 fee configuration",
    text: "A fee configuration has seven members; `rate` is a string with six decimals.",
    expected: "these members",
    needs: ["money"],
    async check(world) {
      const { investor } = await life(world);
      const { body } = await world.get(`/investor/${investor}/performance-fee`);
      return a.expectMembers(body, { ...members.FEE_CONFIGURATION, rate: a.exactly("0.300000") });
    },
  },
  {
    id: "2 rate",
    text: "0.30 means 30 %.",
    expected: "a fee of 30.00 on a result of 100.00",
    needs: ["money", "simulator"],
    async check(world) {
      const pending = a.textOf((await fees(world)).withdrawn.body, "perf_fee_pending_at_request");
      hold(pending === "30.00", pending);
      return pending;
    },
  },
  {
    id: "2 high-water mark",
    text: "A high-water mark is tracked; changing the configuration does not reset it.",
    expected: "no second fee on the same result after a change of the rate",
    needs: ["money", "simulator"],
    async check(world) {
      requireLongWeek(world);
      const { investor, master } = await newPool(world, "1000");
      return await withinOneWeek(world, master.login, async () => {
        await world.control("results", { login: master.login, profit: "100.00" });
        const withdraw = () => world.post(`/investor/withdraw?login=${investor}&amount=1`);
        const first = a.textOf((await withdraw()).body, "perf_fee_pending_at_request");
        a.expectOk(await world.post("/investor/perf-fee/update", { investor_login: investor, rate: 0.5 }));
        const second = a.textOf((await withdraw()).body, "perf_fee_pending_at_request");
        hold(first === "30.00" && second === "0.00", `${first}, then ${second}`);
        return `${first}, then ${second}`;
      });
    },
  },
  {
    id: "2 credits",
    text: "A payment-account credit has nine members; `kind` PF appears.",
    expected: "these members with kind PF",
    needs: ["money", "simulator"],
    async check(world) {
      const items = memberOf((await fees(world)).credits.body, "items");
      return a.expectItems(items, { ...members.CREDIT, kind: a.exactly("PF") });
    },
  },
  {
    id: "2 payments",
    text: "An Investor-level fee payment has sixteen members; `status` EXECUTED appears.",
    expected: "these members",
    needs: ["money", "simulator"],
    check: async (world) => a.expectItems(memberOf((await fees(world)).payments.body, "items"), members.PAYMENT),
  },
  {
    id: "2 unique key",
    text: "`cashflow_unique_key` is built from the fee kind, Investor login, Master login, run id and a suffix, with colons.",
    expected: "PF:<investor>:<master>:<run>:<suffix>",
    needs: ["money", "simulator"],
    async check(world) {
      const { payments, investor, master } = await fees(world);
      const items = a.itemsOf(memberOf(payments.body, "items"));
      const keys = items.map((item) => a.textOf(item, "cashflow_unique_key"));
      const isBuilt = items.map((item, index) =>
        keys[index]?.startsWith(`PF:${investor}:${master.login}:${a.textOf(item, "run_id")}:`),
      );
      hold(isBuilt.every(Boolean), keys.join(", "));
      return keys[0] ?? "";
    },
  },
];
