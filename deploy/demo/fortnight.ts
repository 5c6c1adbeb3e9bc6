import { setTimeout as sleep } from "node:timers/promises";
import { expectRefusal, execute } from "./command.ts";
import { textOf } from "./exact-json.ts";
import { assign, unassign, untilBalance, untilCancelled } from "./follow.ts";
import { deposit, dollars, type Funds, withdraw } from "./funds.ts";
import { bookResult, closePosition, lockPrices, openPosition, setPrice } from "./trader.ts";
import {
  type ExplainedFee,
  type Member,
  type Pool,
  pooledBalance,
  signed,
  untilAllocated,
  untilFeesAreCorrect,
} from "./pool.ts";
import { createInvestor, createMaster, type Person } from "./provision.ts";
import type { System } from "./system.ts";
import { showFees } from "./table.ts";
import { hasTimeFor, untilCutOff, untilTimeFor } from "./weeks.ts";

const KENJI = { firstName: "Kenji", lastName: "Mori" };
const ADA = { firstName: "Ada", lastName: "Lind" };
const BEN = { firstName: "Ben", lastName: "Osei" };
const CLEO = { firstName: "Cleo", lastName: "Marin" };

const CLEOS_CAPITAL = 3_000_00n;
const PPM = 1_000_000;
/** How long these parts of the scenario take when no process is killed; each has to end within one fee week. */
const POSITION_MS = 9_000;
const RATE_CHANGE_MS = 8_000;
/** Time for the strike after the mirror has reached the Master. */
const STRIKE_MS = 3_000;
/** Longer than the time limit of the request, which is 10 s. */
const UPDATED_WITHIN_MS = 15_000;

type DemoContext = Funds & { readonly system: System };
type Participants = { readonly pool: Pool; readonly ada: Member; readonly ben: Member };

/** Two fee weeks of a pool. Returns the pool and every fee with its basis. */
export async function runFortnight(
  context: DemoContext,
): Promise<{ readonly pool: Pool; readonly fees: readonly ExplainedFee[] }> {
  const participants = await openPool(context);
  const { pool } = participants;
  await firstWeek(context, participants);
  await secondWeek(context, participants);
  await withdrawAndUnassign(context, participants);
  return { pool, fees: await untilFeesAreCorrect(context, pool) };
}

async function openPool(context: DemoContext): Promise<Participants> {
  const { print, ledger, system } = context;
  print.step("A Master with two Investors: Ada pays 30 % of her profit, Ben 20 %");
  const master = await createMaster(context, system, { runId: ledger.runId, person: KENJI });
  const pool: Pool = { master, weeks: system.weeks, startedAt: Date.now(), members: [], earned: 0n };
  const ada = await join(context, pool, { person: ADA, capital: 10_000_00n, rate: 0.3 });
  const ben = await join(context, pool, { person: BEN, capital: 5_000_00n, rate: 0.2 });
  return { pool, ada, ben };
}

async function firstWeek(context: DemoContext, { pool, ada }: Participants): Promise<void> {
  const { print } = context;
  const { login } = pool.master;
  print.step("Monday: a profit");
  await untilAllocated(context, pool, await bookResult(context, login, 1_500_00n));

  await using _prices = await lockPricesFor(context, POSITION_MS);
  print.step("Tuesday: a position is open, with a floating profit of 900.00");
  await setPrice(context, "1.10000");
  await openPosition(context, login, "0.3");
  await setPrice(context, "1.13000");

  print.step("Refused: to withdraw while the Master has open positions");
  const blocked = `/api/v1/investor/withdraw?login=${ada.investor.login}&amount=100.00`;
  await expectRefusal(context, { method: "POST", path: blocked }, ["master_open_positions"]);

  print.step("Cleo is assigned while the position is open: the floating profit until then belongs to the others");
  await join(context, pool, { person: CLEO, capital: CLEOS_CAPITAL, rate: 0.3 });
  await sleep(STRIKE_MS);

  print.step("The price rises further, and the position is closed");
  await setPrice(context, "1.15000");
  const before = await context.platform.balance(login);
  const deal = await closePosition(context, login);
  await untilAllocated(context, pool, deal);
  const byBalance = (deal.minor * CLEOS_CAPITAL) / before;
  print.note(
    `allocated by balance alone, Cleo would have received ${dollars(byBalance)} that the others earned before her assignment`,
  );
}

/** Locks the prices in a week that has this much time left; releases the lock when the wait for it took too long. */
async function lockPricesFor({ system }: DemoContext, ms: number): Promise<AsyncDisposable> {
  for (;;) {
    await untilTimeFor(system.weeks, ms);
    const lock = await lockPrices(system.controlUrl);
    if (hasTimeFor(system.weeks, ms)) return lock;
    await lock[Symbol.asyncDispose]();
  }
}

async function secondWeek(context: DemoContext, { pool, ben }: Participants): Promise<void> {
  const { print } = context;
  const { login } = pool.master;
  await endOfWeek(context, pool, "The week ends: the regular run charges what is above each high-water mark");

  await untilTimeFor(pool.weeks, RATE_CHANGE_MS);
  print.step("In the next week: a profit, Ben's rate becomes 25 %, another profit");
  await untilAllocated(context, pool, await bookResult(context, login, 800_00n));
  await changeRate(context, ben, 0.25);
  await untilAllocated(context, pool, await bookResult(context, login, 500_00n));

  print.step("A loss: it reduces the latest profit first");
  await untilAllocated(context, pool, await bookResult(context, login, -700_00n));
  print.step("A recovery");
  await untilAllocated(context, pool, await bookResult(context, login, 200_00n));
  await endOfWeek(context, pool, "The second week ends: each profit at the rate of its own time");
}

async function withdrawAndUnassign(context: DemoContext, { pool, ada, ben }: Participants): Promise<void> {
  const { print } = context;
  const { master } = pool;
  print.step("A profit, and Ada withdraws in the middle of the week: her whole pending fee is taken first");
  await untilAllocated(context, pool, await bookResult(context, master.login, 600_00n));
  await withdraw(context, ada.investor, 1_000_00n);

  print.step("Ben is unassigned: his fee is taken first, and the rest of his capital leaves the Master");
  const pair = { investor: ben.investor, master };
  const status = await unassign(context, pair);
  ben.isPooled = false;
  await untilCancelled(context, pair, status);
  await untilBalance(context, master, () => pooledBalance(context, pool));
  // No fee is pending afterwards, so no balance changes during the proof.
  await endOfWeek(context, pool, "The week ends: a regular fee for Cleo, who neither withdrew nor left");
}

type NewMember = { readonly person: Person; readonly capital: bigint; readonly rate: number };

async function join(context: DemoContext, pool: Pool, { person, capital, rate }: NewMember): Promise<Member> {
  const { ledger, system } = context;
  const investor = await createInvestor(context, system, { runId: ledger.runId, person });
  await deposit(context, investor, capital);
  await assign(context, { investor, master: pool.master }, rate);
  const rates = [{ at: 0, ppm: BigInt(rate * PPM) }];
  const member: Member = { investor, results: [], rates, isPooled: true };
  pool.members.push(member);
  await untilBalance(context, pool.master, () => pooledBalance(context, pool));
  return member;
}

async function changeRate(context: DemoContext, { investor, rates }: Member, rate: number): Promise<void> {
  const path = `/api/v1/investor/${investor.login}/performance-fee`;
  const text = await execute(context, {
    call: { method: "POST", path: "/api/v1/investor/perf-fee/update", body: { investor_login: investor.login, rate } },
    settledWithinMs: UPDATED_WITHIN_MS,
    read: (answer) => textOf(answer, "rate"),
    async findEffect() {
      const configuration = await context.api.read(path);
      const found = JSON.stringify(configuration).match(/"rate":"([\d.]+)"/)?.[1];
      return found !== undefined && Number(found) === rate ? found : undefined;
    },
  });
  rates.push({ at: Date.now(), ppm: BigInt(rate * PPM) });
  context.print.result(200, `the rate of ${investor.name} is ${text} from now on`);
}

async function endOfWeek(context: DemoContext, pool: Pool, what: string): Promise<void> {
  context.print.step(what);
  const cutOff = await untilCutOff(pool.weeks);
  const fees = await untilFeesAreCorrect(context, pool);
  const path = `/api/v1/perf-fee/master/${pool.master.login}/investor-payments`;
  context.print.request({ method: "GET", path });
  const paid = fees.filter(({ payment }) => payment.at === cutOff);
  showFees(context.print, paid);
  const total = paid.reduce((sum, { payment }) => sum + payment.minor, 0n);
  context.print.note(`${signed(total)} on the payment account ${pool.master.paymentLogin}`);
  await untilBalance(context, pool.master, () => pooledBalance(context, pool));
}
