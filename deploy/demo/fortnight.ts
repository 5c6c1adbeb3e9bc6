import { setTimeout as sleep } from "node:timers/promises";
import { beRefused, execute } from "./command.ts";
import { textOf } from "./exact-json.ts";
import { assign, unassign, untilBalance, untilCancelled } from "./follow.ts";
import { deposit, dollars, type Funds, withdraw } from "./funds.ts";
import { holdMarket } from "./market.ts";
import { type Explained, type Member, type Pool, pooledBalance, share, signed, untilFeesAreRight } from "./pool.ts";
import { createInvestor, createMaster, type Person } from "./provision.ts";
import type { System } from "./system.ts";
import { showFees } from "./table.ts";
import { bookResult, closePosition, openPosition, setPrice } from "./trader.ts";
import { hasRoom, roomFor, untilCutOff } from "./weeks.ts";

const KENJI = { firstName: "Kenji", lastName: "Mori" };
const ADA = { firstName: "Ada", lastName: "Lind" };
const BEN = { firstName: "Ben", lastName: "Osei" };
const CLEO = { firstName: "Cleo", lastName: "Marin" };

const CLEOS_CAPITAL = 3_000_00n;
const PPM = 1_000_000;
/** So much of a week each part of the story takes, when nobody is killed. */
const POSITION_MS = 9_000;
const RATE_CHANGE_MS = 8_000;
/** The mirror is on the Master; its share of the pool is struck right after it. */
const STRIKE_MS = 3_000;
const UPDATED_WITHIN_MS = 15_000;

type Stage = Funds & { readonly system: System };
type Cast = { readonly pool: Pool; readonly ada: Member; readonly ben: Member };

/** Two fee weeks in the life of a pool. Answers it, and every fee with its reason. */
export async function tellFortnight(
  stage: Stage,
): Promise<{ readonly pool: Pool; readonly fees: readonly Explained[] }> {
  const cast = await openPool(stage);
  const { pool } = cast;
  await firstWeek(stage, cast);
  await secondWeek(stage, cast);
  await takeMoneyOut(stage, cast);
  return { pool, fees: await untilFeesAreRight(stage, pool) };
}

async function openPool(stage: Stage): Promise<Cast> {
  const { tell, book, system } = stage;
  tell.step("A Master with two Investors: Ada pays 30 % of her profit, Ben 20 %");
  const master = await createMaster(stage, system, { runId: book.runId, person: KENJI });
  const pool: Pool = { master, weeks: system.weeks, startedAt: Date.now(), members: [], earned: 0n };
  const ada = await join(stage, pool, { person: ADA, capital: 10_000_00n, rate: 0.3 });
  const ben = await join(stage, pool, { person: BEN, capital: 5_000_00n, rate: 0.2 });
  return { pool, ada, ben };
}

async function firstWeek(stage: Stage, { pool, ada }: Cast): Promise<void> {
  const { tell } = stage;
  const { login } = pool.master;
  tell.step("Monday: a profit");
  await share(stage, pool, await bookResult(stage, login, 1_500_00n));

  await using _market = await holdMarketFor(stage, POSITION_MS);
  tell.step("Tuesday: a position is open, and floats at +900.00");
  await setPrice(stage, "1.10000");
  await openPosition(stage, login, "0.3");
  await setPrice(stage, "1.13000");

  tell.step("Refused: to withdraw while the Master has open positions");
  const blocked = `/api/v1/investor/withdraw?login=${ada.investor.login}&amount=100.00`;
  await beRefused(stage, { method: "POST", path: blocked }, ["master_open_positions"]);

  tell.step("Cleo comes while it floats: what floats by then belongs to the others");
  await join(stage, pool, { person: CLEO, capital: CLEOS_CAPITAL, rate: 0.3 });
  await sleep(STRIKE_MS);

  tell.step("The price moves on, and the position is closed");
  await setPrice(stage, "1.15000");
  const before = await stage.platform.balance(login);
  const deal = await closePosition(stage, login);
  await share(stage, pool, deal);
  const plain = (deal.minor * CLEOS_CAPITAL) / before;
  tell.note(`by balance alone Cleo would have had ${dollars(plain)} of it, earned by others before she came`);
}

/** Nobody holds it while the week has no room for what is to be done with it. */
async function holdMarketFor({ system }: Stage, ms: number): Promise<AsyncDisposable> {
  for (;;) {
    await roomFor(system.weeks, ms);
    const market = await holdMarket(system.controlUrl);
    if (hasRoom(system.weeks, ms)) return market;
    await market[Symbol.asyncDispose]();
  }
}

async function secondWeek(stage: Stage, { pool, ben }: Cast): Promise<void> {
  const { tell } = stage;
  const { login } = pool.master;
  await endOfWeek(stage, pool, "The week ends: the regular run charges what is above each high-water mark");

  await roomFor(pool.weeks, RATE_CHANGE_MS);
  tell.step("In the next week: a profit, Ben's rate becomes 25 %, another profit");
  await share(stage, pool, await bookResult(stage, login, 800_00n));
  await changeRate(stage, ben, 0.25);
  await share(stage, pool, await bookResult(stage, login, 500_00n));

  tell.step("A loss: what was earned last is lost first");
  await share(stage, pool, await bookResult(stage, login, -700_00n));
  tell.step("A recovery");
  await share(stage, pool, await bookResult(stage, login, 200_00n));
  await endOfWeek(stage, pool, "The second week ends: each profit at the rate of its own time");
}

async function takeMoneyOut(stage: Stage, { pool, ada, ben }: Cast): Promise<void> {
  const { tell } = stage;
  const { master } = pool;
  tell.step("A profit, and Ada withdraws in the middle of the week: her whole pending fee goes first");
  await share(stage, pool, await bookResult(stage, master.login, 600_00n));
  await withdraw(stage, ada.investor, 1_000_00n);

  tell.step("Ben leaves: his fee goes first, the rest leaves the Master and stays on his account");
  const pair = { investor: ben.investor, master };
  const status = await unassign(stage, pair);
  ben.isPooled = false;
  await untilCancelled(stage, pair, status);
  await untilBalance(stage, master, () => pooledBalance(stage, pool));
  // Nothing is pending after it, so nothing changes any more while the end is told.
  await endOfWeek(stage, pool, "The week ends for Cleo, who did neither");
}

type Newcomer = { readonly person: Person; readonly capital: bigint; readonly rate: number };

async function join(stage: Stage, pool: Pool, { person, capital, rate }: Newcomer): Promise<Member> {
  const { book, system } = stage;
  const investor = await createInvestor(stage, system, { runId: book.runId, person });
  await deposit(stage, investor, capital);
  await assign(stage, { investor, master: pool.master }, rate);
  const rates = [{ at: 0, ppm: BigInt(rate * PPM) }];
  const member: Member = { investor, results: [], rates, isPooled: true };
  pool.members.push(member);
  await untilBalance(stage, pool.master, () => pooledBalance(stage, pool));
  return member;
}

async function changeRate(stage: Stage, { investor, rates }: Member, rate: number): Promise<void> {
  const path = `/api/v1/investor/${investor.login}/performance-fee`;
  const text = await execute(stage, {
    call: { method: "POST", path: "/api/v1/investor/perf-fee/update", body: { investor_login: investor.login, rate } },
    settledWithinMs: UPDATED_WITHIN_MS,
    read: (answer) => textOf(answer, "rate"),
    async findEffect() {
      const configuration = await stage.api.read(path);
      const found = JSON.stringify(configuration).match(/"rate":"([\d.]+)"/)?.[1];
      return found !== undefined && Number(found) === rate ? found : undefined;
    },
  });
  rates.push({ at: Date.now(), ppm: BigInt(rate * PPM) });
  stage.tell.result(200, `the rate of ${investor.name} is ${text} from now on`);
}

async function endOfWeek(stage: Stage, pool: Pool, what: string): Promise<void> {
  stage.tell.step(what);
  const cutOff = await untilCutOff(pool.weeks);
  const fees = await untilFeesAreRight(stage, pool);
  const path = `/api/v1/perf-fee/master/${pool.master.login}/investor-payments`;
  stage.tell.request({ method: "GET", path });
  const paid = fees.filter(({ payment }) => payment.at === cutOff);
  showFees(stage.tell, paid);
  const total = paid.reduce((sum, { payment }) => sum + payment.minor, 0n);
  stage.tell.note(`${signed(total)} for the payment account ${pool.master.paymentLogin}`);
  await untilBalance(stage, pool.master, () => pooledBalance(stage, pool));
}
