import * as a from "../expect.ts";
import type { Section } from "../run-kit.ts";
import { accounts, assign, blocked, life, MAY_TRADE, registered } from "../histories.ts";

/** Section 7: errors. */
export const ERRORS: Section = [
  {
    id: "7 add Investor twice",
    text: "POST /investor/add with an already registered login: 409.",
    expected: "409",
    async check(world) {
      const { login } = (await accounts(world)).investor;
      return a.expectStatus(409, await world.post("/investor/add", { mt5_login: login, name: "Again" }));
    },
  },
  {
    id: "7 unassign while PAUSED",
    text: "POST /subscriptions/unassign while the subscription is PAUSED: 409.",
    expected: "409",
    needs: ["money"],
    check: async (world) => a.expectStatus(409, (await life(world)).again),
  },
  {
    id: "7 no fee configuration",
    text: "GET /investor/{investor_login}/performance-fee for an unknown Investor or one without configuration: 404.",
    expected: "404 twice",
    async check(world) {
      const { login } = (await accounts(world)).investor;
      const answers = [login, "990007"].map((each) => world.get(`/investor/${each}/performance-fee`));
      return a.expectStatus(404, ...(await Promise.all(answers)));
    },
  },
  {
    id: "7 add Master",
    text: "POST /master/add with a registered trading login, payment account equal to the Master login, or assigned elsewhere: rejected.",
    expected: "refused three times",
    needs: ["simulator"],
    async check(world) {
      const { trading, payment } = await registered(world);
      const pairs = [
        [trading, await world.existingAccount()],
        ["990008", "990008"],
        [await world.existingAccount(), payment],
      ];
      const answers = pairs.map(([mt5_login, payment_account_login]) =>
        world.post("/master/add", { mt5_login, payment_account_login, min_deposit: "5" }),
      );
      return a.expectRefused(...(await Promise.all(answers)));
    },
  },
  {
    id: "7 assign below minimum",
    text: "Assign when balance is below Master `min_deposit`: rejected.",
    expected: "refused",
    async check(world) {
      const { master, investor } = await accounts(world);
      return a.expectRefused(await assign(world, master.login, investor.login));
    },
  },
  {
    id: "7 assign with positions",
    text: "Assign when the Investor has open positions: rejected.",
    expected: "refused",
    needs: ["money", "simulator"],
    async check(world) {
      const [{ login: master }, { login }] = [await world.newMaster(), await world.newInvestor("1000")];
      await world.control(`accounts/${login}/rights`, { rights: MAY_TRADE });
      await world.control("positions", { login, symbol: "EURUSD", side: "buy", volume: "0.01" });
      return a.expectRefused(await assign(world, master, login));
    },
  },
  {
    id: "7 blocked",
    text: "Withdraw or unassign blocked by open Master positions: blocked.",
    expected: "refused, and nothing was moved",
    needs: ["money", "simulator"],
    async check(world) {
      const { withdrawn, unassigned, investor } = await blocked(world);
      const observed = a.expectRefused(withdrawn, unassigned);
      const { body } = await world.get(`/info/balance/${investor}`);
      return `${observed}, balance ${a.textOf(body, "balance")}`;
    },
  },
  {
    id: "7 balance failure",
    text: "Balance query failure: `ok` false, `balance` possibly null, and `error` text.",
    expected: "so for an unknown login",
    async check({ get }) {
      const unknown = { mt5_login: a.exactly("990009"), balance: a.nothing, ok: a.exactly(false), error: a.filled };
      return a.expectMembers((await get("/info/balance/990009")).body, unknown);
    },
  },
];
