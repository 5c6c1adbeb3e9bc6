import * as a from "../expect.ts";
import { memberOf } from "../http.ts";
import * as members from "../members.ts";
import type { Section } from "../run-kit.ts";
import { hold } from "../outcome.ts";
import { accounts, blocked, fees, life, newPool } from "../histories.ts";
import { expectBalance, type World } from "../world.ts";

/** Section 4.4: financial operations. */
export const FUNDS: Section = [
  {
    id: "4.4 deposit",
    text: "POST /investor/deposit: query parameters, nine members.",
    expected: "these members with this login and amount",
    needs: ["money"],
    async check(world) {
      const { deposited, investor } = await life(world);
      const sent = { login: a.exactly(investor), amount: a.exactly(250.5) };
      return a.expectMembers(deposited.body, { ...members.DEPOSITED, ...sent });
    },
  },
  {
    id: "4.4 deposit required",
    text: "`login` and `amount` are required; `amount` is positive, minimum 0.01.",
    expected: "refused without each, and for 0, -1, 0.001; 200 for 0.01",
    needs: ["money"],
    check: (world) => expectAmounts(world, "deposit"),
  },
  {
    id: "4.4 deposit defaults",
    text: "`currency` defaults to USD, `comment` to `API Deposit`.",
    expected: "USD in the answer, and the comment on the account",
    needs: ["money"],
    check: (world) => expectDefaults(world, "deposit", "API Deposit"),
  },
  {
    id: "4.4 deposit synchronous",
    text: "The Investor credit is synchronous.",
    expected: "the balance right after the answer",
    needs: ["money"],
    async check(world) {
      const { login } = await world.newInvestor("12.34");
      const { body } = await world.get(`/info/balance/${login}`);
      hold(a.centsOf(body, "balance") === 12_34, a.show(body));
      return a.textOf(body, "balance");
    },
  },
  {
    id: "4.4 deposit mirror",
    text: "The Master reflection may be asynchronous.",
    expected: "the Master follows",
    needs: ["money"],
    async check(world) {
      const { master, investor } = await newPool(world, "10");
      a.expectOk(await world.post(`/investor/deposit?login=${investor}&amount=5`));
      return await expectBalance(world, master.login, 15_00);
    },
  },
  {
    id: "4.4 deposit minimum",
    text: "With an active Master the first deposit may be validated against its minimum.",
    expected: "`min_deposit_required` is the minimum of the Master",
    needs: ["money"],
    async check(world) {
      const required = a.textOf((await life(world)).deposited.body, "min_deposit_required");
      hold(Number(required) === 100, required);
      return required;
    },
  },
  {
    id: "4.4 withdraw",
    text: "POST /investor/withdraw: query parameters, twelve members.",
    expected: "these members with this login and amount",
    needs: ["money"],
    async check(world) {
      const { withdrawn, investor } = await life(world);
      const sent = {
        login: a.exactly(investor),
        requested_amount: a.exactly(50.25),
        effective_withdraw: a.exactly(50.25),
      };
      return a.expectMembers(withdrawn.body, { ...members.WITHDRAWN, ...sent });
    },
  },
  {
    id: "4.4 withdraw required",
    text: "`login` and `amount` are required; `amount` has the minimum 0.01.",
    expected: "refused without each, and for 0, -1, 0.001; 200 for 0.01",
    needs: ["money"],
    check: (world) => expectAmounts(world, "withdraw"),
  },
  {
    id: "4.4 withdraw defaults",
    text: "`currency` defaults to USD, `comment` to `API Withdraw`.",
    expected: "USD in the answer, and the comment on the account",
    needs: ["money"],
    check: (world) => expectDefaults(world, "withdraw", "API Withdraw"),
  },
  {
    id: "4.4 withdraw fees",
    text: "Pending fees are crystallised first; `perf_fee_pending_at_request`, `balance_before`, `available_after_perf_fee`.",
    expected: "30.00, 1100.00, 1070.00",
    needs: ["money", "simulator"],
    async check(world) {
      const { body } = (await fees(world)).withdrawn;
      const names = ["perf_fee_pending_at_request", "balance_before", "available_after_perf_fee"];
      const observed = names.map((name) => a.textOf(body, name)).join(", ");
      hold(observed === "30.00, 1100.00, 1070.00", observed);
      return observed;
    },
  },
  {
    id: "4.4 withdraw less",
    text: "`effective_withdraw` can be lower than requested, or zero when nothing remains.",
    expected: "80.10 of 100.00, then 0",
    needs: ["money"],
    async check(world) {
      const { login } = await world.newInvestor("80.10");
      const first = await world.post(`/investor/withdraw?login=${login}&amount=100`);
      const second = await world.post(`/investor/withdraw?login=${login}&amount=1`);
      a.expectOk(first, second);
      const effective = [first, second].map(({ body }) => a.centsOf(body, "effective_withdraw"));
      hold(effective.join() === "8010,0", effective.join(", "));
      return effective.map((cents) => cents / 100).join(", ");
    },
  },
  {
    id: "4.4 withdraw blocked",
    text: "Open Master positions block the withdrawal.",
    expected: "409",
    needs: ["money", "simulator"],
    check: async (world) => a.expectStatus(409, (await blocked(world)).withdrawn),
  },
  {
    id: "4.4 balance",
    text: "GET /info/balance/{mt5_login}: `{mt5_login, balance (number or null), ok, error (string or null)}`.",
    expected: "these members",
    async check(world) {
      const { login } = (await accounts(world)).investor;
      const found = { mt5_login: a.exactly(login), balance: a.number, ok: a.exactly(true), error: a.nothing };
      return a.expectMembers((await world.get(`/info/balance/${login}`)).body, found);
    },
  },
  {
    id: "4.4 balance failure",
    text: "When `ok` is false, `balance` can be null and `error` holds the cause.",
    expected: "so for an unknown login",
    async check({ get }) {
      const unknown = { mt5_login: a.exactly("990005"), balance: a.nothing, ok: a.exactly(false), error: a.filled };
      const { body } = await get("/info/balance/990005");
      return `${a.expectMembers(body, unknown)}: ${a.textOf(body, "error")}`;
    },
  },
  {
    id: "4.4 no idempotency key",
    text: "Deposit and withdraw need no idempotency key; the caller prevents duplicates.",
    expected: "two equal deposits are two deals",
    needs: ["money"],
    async check(world) {
      const { login } = await world.newInvestor();
      const deposit = () => world.post(`/investor/deposit?login=${login}&amount=1`);
      const deals = [await deposit(), await deposit()].map(({ body }) => a.textOf(body, "deal_id"));
      hold(deals[0] !== deals[1], `deal ${deals.join(" and ")}`);
      return deals.join(", ");
    },
  },
  {
    id: "4.4 reconcile before repeating",
    text: "When the outcome is uncertain, reconcile balance and operation id before repeating.",
    reason: "a rule for clients",
  },
];

async function expectAmounts(world: World, action: "deposit" | "withdraw"): Promise<string> {
  const { login } = await world.newInvestor("10");
  const wrong = [
    "amount=1",
    `login=${login}`,
    ...["0", "-1", "0.001", "x"].map((amount) => `login=${login}&amount=${amount}`),
  ];
  const refused = wrong.map((query) => world.post(`/investor/${action}?${query}`));
  const observed = a.expectRefused(...(await Promise.all(refused)));
  return `${observed}; ${a.expectOk(await world.post(`/investor/${action}?login=${login}&amount=0.01`))}`;
}

/** The comment is on the account, where the simulator shows it, and in the ledger of operations, where there is one. */
async function expectDefaults(world: World, action: "deposit" | "withdraw", comment: string): Promise<string> {
  const { login } = await world.newInvestor("10");
  const { body } = await world.post(`/investor/${action}?login=${login}&amount=1`);
  const ledger = await world.get(`/operations?login=${login}`);
  const [operation] = a.itemsOf(memberOf(ledger.body, "items"));
  const observed = `${a.textOf(body, "currency")}, ${a.textOf(operation, "comment")}`;
  hold(observed === `USD, ${comment}`, observed);
  return observed;
}
