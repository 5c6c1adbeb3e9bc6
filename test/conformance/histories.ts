import { withinOneWeek } from "./fee-week.ts";
import { expectOk, expectStatus, itemsOf, show, textOf } from "./expect.ts";
import { type Answer, memberOf } from "./http.ts";
import { hold, NotTested } from "./outcome.ts";
import { eventually, expectBalance, type NewMaster, type World } from "./world.ts";

/** What several sentences look at is done once. */

export type Accounts = {
  readonly master: NewMaster;
  readonly investor: { readonly login: string; readonly answer: Answer };
};

/** A new Master and a new Investor, to which nothing happens. */
export function accounts(world: World): Promise<Accounts> {
  return world.once("accounts", async () => ({
    master: await world.newMaster("100.50"),
    investor: await world.newInvestor(),
  }));
}

/** The usual rights of an account. A dealer can set them: an Investor of the service may not trade. */
export const MAY_TRADE = 355;

export type Pool = { readonly master: NewMaster; readonly investor: string; readonly assigned: Answer };

export function assign(
  { post }: World,
  master: string,
  investor: string,
  rate: number | string = 0.3,
): Promise<Answer> {
  const fee = { rate, enabled: true };
  return post("/investor/assign", { master_login: master, investor_login: investor, perf_fee: fee });
}

/** An Investor whose capital is mirrored on a Master of its own. */
export async function newPool(world: World, capital: string, minDeposit = "0"): Promise<Pool> {
  const [master, { login: investor }] = [await world.newMaster(minDeposit), await world.newInvestor(capital)];
  const assigned = await assign(world, master.login, investor);
  expectOk(assigned);
  await expectBalance(world, master.login, Number(capital) * 100);
  return { master, investor, assigned };
}

export function unassign({ post }: World, { master, investor }: Pool): Promise<Answer> {
  return post(`/subscriptions/unassign?master_login=${master.login}&investor_login=${investor}`);
}

export function subscriptions({ get }: World, investor: string, more = ""): Promise<Answer> {
  return get(`/info/subscriptions?investor_login=${investor}${more}`);
}

export type Life = Pool & {
  readonly active: Answer;
  readonly activeMaster: Answer;
  readonly activeInvestors: Answer;
  readonly deposited: Answer;
  readonly withdrawn: Answer;
  readonly unassigned: Answer;
  readonly again: Answer;
  readonly investorsWhilePaused: Answer;
  readonly cancelled: Answer;
  readonly lastMaster: Answer;
};

/** Deposit, assign, withdrawal, exit: without a trading result, so without a fee. */
export function life(world: World): Promise<Life> {
  return world.once("life", async () => {
    const pool = await newPool(world, "1000", "100");
    const { master, investor } = pool;
    const active = await subscriptions(world, investor);
    const activeMaster = await world.get(`/info/investor/${investor}/master`);
    const activeInvestors = await world.get(`/info/master/${master.login}/investors`);
    const deposited = await world.post(`/investor/deposit?login=${investor}&amount=250.50&comment=CRM-1001`);
    const withdrawn = await world.post(`/investor/withdraw?login=${investor}&amount=50.25&comment=CRM-1002`);
    await expectBalance(world, master.login, 1_200_25);
    const unassigned = await unassign(world, pool);
    const again = await unassign(world, pool);
    const investorsWhilePaused = await world.get(`/info/master/${master.login}/investors`);
    const cancelled = await untilCancelled(world, investor);
    const lastMaster = await world.get(`/info/investor/${investor}/master`);
    const answers = { active, activeMaster, activeInvestors, deposited, withdrawn, unassigned, again };
    return { ...pool, ...answers, investorsWhilePaused, cancelled, lastMaster };
  });
}

export async function untilCancelled(world: World, investor: string): Promise<Answer> {
  return await eventually(async () => {
    const answer = await subscriptions(world, investor);
    const [item] = itemsOf(answer.body);
    hold(memberOf(item, "status") === "CANCELLED", `status ${show(memberOf(item, "status"))}`);
    return answer;
  });
}

export type Fees = Pool & {
  readonly withdrawn: Answer;
  readonly unassigned: Answer;
  readonly credits: Answer;
  readonly payments: Answer;
};

/** A result of 100.00 before a withdrawal and one before an exit: a fee of 30.00 each. Needs the simulator. */
export function fees(world: World): Promise<Fees> {
  return world.once("fees", async () => {
    requireLongWeek(world);
    const pool = await newPool(world, "1000");
    const { master, investor } = pool;
    const listed = async () => {
      const credits = await world.get(`/perf-fee/transactions?master_login=${master.login}`);
      hold(itemsOf(memberOf(credits.body, "items")).length === 2, "not two credits");
      const payments = await world.get(`/perf-fee/master/${master.login}/investor-payments`);
      hold(itemsOf(memberOf(payments.body, "items")).length === 2, "not two payments");
      return { credits, payments };
    };
    return await withinOneWeek(world, master.login, async () => {
      await profit(world, pool, 1_100_00);
      const withdrawn = await world.post(`/investor/withdraw?login=${investor}&amount=50`);
      await profit(world, pool, 1_120_00);
      const unassigned = await unassign(world, pool);
      await untilCancelled(world, investor);
      return { ...pool, withdrawn, unassigned, ...(await eventually(listed)) };
    });
  });
}

/** A week that ends in between would take the fee first. */
export function requireLongWeek({ has }: World): void {
  if (has("week")) throw new NotTested("needs a fee week that does not end meanwhile: run it without WEEK");
}

/** The Master earns 100.00, and the Investor's account has this balance. */
async function profit(world: World, { master, investor }: Pool, cents: number): Promise<void> {
  await world.control("results", { login: master.login, profit: "100.00" });
  await expectBalance(world, investor, cents);
}

export type Blocked = Pool & { readonly withdrawn: Answer; readonly unassigned: Answer };

/** A withdrawal and an exit while the Master has an open position. Needs the simulator. */
export function blocked(world: World): Promise<Blocked> {
  return world.once("blocked", async () => {
    const pool = await newPool(world, "1000");
    const trade = { login: pool.master.login, symbol: "EURUSD", side: "buy", volume: "0.01" };
    const position = textOf(await world.control("positions", trade), "position");
    try {
      const withdrawn = await world.post(`/investor/withdraw?login=${pool.investor}&amount=1`);
      return { ...pool, withdrawn, unassigned: await unassign(world, pool) };
    } finally {
      await world.control(`positions/${position}/close`, {});
    }
  });
}

export type Registered = {
  readonly trading: string;
  readonly payment: string;
  readonly master: Answer;
  readonly investor: Answer;
  readonly investorLogin: string;
};

/** Accounts that exist on the platform, as a Master and an Investor. Needs the simulator. */
export function registered(world: World): Promise<Registered> {
  return world.once("registered", async () => {
    const [trading, payment, investorLogin] = [
      await world.existingAccount(),
      await world.existingAccount(),
      await world.existingAccount(),
    ];
    const request = { mt5_login: trading, payment_account_login: payment, min_deposit: "5" };
    const master = await world.post("/master/add", request);
    const investor = await world.post("/investor/add", { mt5_login: investorLogin, name: "Found" });
    expectStatus(200, master, investor);
    return { trading, payment, master, investor, investorLogin };
  });
}
