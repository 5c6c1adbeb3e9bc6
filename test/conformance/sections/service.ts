import { expectMembers, expectOk, expectRefused, expectStatus, show, textOf } from "../expect.ts";
import { INVESTOR, MASTER } from "../members.ts";
import type { Section } from "../run-kit.ts";
import { hold } from "../outcome.ts";
import { accounts, assign, life, newPool, registered } from "../histories.ts";
import { expectBalance } from "../world.ts";

/** Section 1: what the service does. */
export const SERVICE: Section = [
  {
    id: "1 logins",
    text: "Accounts are identified by login (`mt5_login`).",
    expected: "the created accounts are found by their logins",
    async check(world) {
      const { master, investor } = await accounts(world);
      return expectOk(
        await world.get(`/info/master/${master.login}`),
        await world.get(`/info/investor/${investor.login}`),
      );
    },
  },
  {
    id: "1 mirror",
    text: "A Master mirrors the aggregated operating capital of its active Investors.",
    expected: "100.00 and 50.00 become 150.00 on the Master",
    needs: ["money"],
    async check(world) {
      const { master } = await newPool(world, "100");
      const { login } = await world.newInvestor("50");
      expectOk(await assign(world, master.login, login));
      return await expectBalance(world, master.login, 150_00);
    },
  },
  {
    id: "1 external deposits",
    text: "An Investor is the only account type that receives external deposits and withdrawals; a Master must not be credited by one.",
    expected: "both are refused for a Master and a payment account",
    needs: ["money"],
    async check(world) {
      const { login, payment } = (await accounts(world)).master;
      const requests = [login, payment].flatMap((account) =>
        ["deposit", "withdraw"].map((action) => world.post(`/investor/${action}?login=${account}&amount=1`)),
      );
      return expectRefused(...(await Promise.all(requests)));
    },
  },
  {
    id: "1 payment account",
    text: "A payment account is different from the Master trading account, and is not Investor capital.",
    expected: "another login, which is no Investor",
    async check(world) {
      const { login, payment } = (await accounts(world)).master;
      hold(login !== payment, `both are ${login}`);
      return expectStatus(404, await world.get(`/info/investor/${payment}`));
    },
  },
  {
    id: "1 payment account does not trade",
    text: "A payment account must not trade the strategy.",
    reason: "a rule for the operator of the trading platform",
  },
  {
    id: "1 one Master",
    text: "A subscription links one Investor to one Master.",
    expected: "a second Master is refused while the subscription is active",
    needs: ["money"],
    async check(world) {
      const { investor } = await newPool(world, "10");
      return expectRefused(await assign(world, (await world.newMaster()).login, investor));
    },
  },
  {
    id: "1 provision",
    text: "The service provisions new accounts.",
    expected: "200 for a Master and an Investor",
    async check(world) {
      const { master, investor } = await accounts(world);
      return expectOk(master.answer, investor.answer);
    },
  },
  {
    id: "1 register",
    text: "The service registers existing accounts.",
    expected: "a Master and an Investor",
    needs: ["simulator"],
    async check(world) {
      const { master, investor } = await registered(world);
      return `${expectMembers(master.body, MASTER)}, ${expectMembers(investor.body, INVESTOR)}`;
    },
  },
  {
    id: "1 asynchronous effects",
    text: "Some effects on the Master become visible seconds after the HTTP response.",
    expected: "the balance of the Master follows",
    needs: ["money"],
    async check(world) {
      const { assigned } = await life(world);
      return `the mirror followed; ${expectOk(assigned)}`;
    },
  },
  {
    id: "1 synchronous part",
    text: "An HTTP success confirms only that the synchronous part was accepted or completed.",
    reason: "a rule for clients about what not to conclude",
  },
  {
    id: "1 only through the service",
    text: "Money movements must go only through the endpoints; a withdrawal on the platform bypasses fee crystallisation.",
    reason: "a rule for the broker and its dealers",
  },
  {
    id: "1 lifecycle 1",
    text: "Create the Master; `id`, `mt5_login` and `payment_account_login` are three different identifiers.",
    expected: "an integer and two logins that differ",
    async check(world) {
      const { id, login, payment } = (await accounts(world)).master;
      hold(new Set([id, login, payment]).size === 3, [id, login, payment].join(", "));
      return "three identifiers";
    },
  },
  {
    id: "1 lifecycle 2",
    text: "Create the Investor. It starts with no balance and no Master.",
    expected: "balance 0 and three nulls",
    async check(world) {
      const { login } = (await accounts(world)).investor;
      await expectBalance(world, login, 0);
      const { body } = await world.get(`/info/investor/${login}/master`);
      const nulls = { master_login: null, name: null, started_at: null };
      hold(show(body) === show(nulls), show(body));
      return "balance 0 and three nulls";
    },
  },
  {
    id: "1 lifecycle 3",
    text: "Deposit initial capital before assignment, because that validates the balance; keep `deal_id`.",
    expected: "refused before the deposit, 200 after it",
    needs: ["money"],
    async check(world) {
      const [{ login: master }, { login }] = [await world.newMaster("100"), await world.newInvestor()];
      expectRefused(await assign(world, master, login));
      const deposit = await world.post(`/investor/deposit?login=${login}&amount=100`);
      textOf(deposit.body, "deal_id");
      return expectOk(deposit, await assign(world, master, login));
    },
  },
  {
    id: "1 lifecycle 4 to 6",
    text: "Assign, poll until the state is visible, deposit, withdraw, unassign and wait for CANCELLED.",
    expected: "each is 200",
    needs: ["money"],
    async check(world) {
      const { assigned, active, deposited, withdrawn, unassigned, cancelled } = await life(world);
      return expectOk(assigned, active, deposited, withdrawn, unassigned, cancelled);
    },
  },
  {
    id: "1 references",
    text: "Each financial step should carry a unique CRM reference in `comment`.",
    expected: "a comment is accepted by deposit and withdraw",
    needs: ["money"],
    async check(world) {
      const { deposited, withdrawn } = await life(world);
      return expectOk(deposited, withdrawn);
    },
  },
];
