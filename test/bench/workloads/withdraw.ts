import { type Client, dealsOf } from "../../journey/support/client.ts";
import { type Measurement, Violated, type Workload } from "../bench.ts";
import { depositsTo, serviceContestant } from "../contest/service.ts";
import { limitOf, medianCosts, usageOf } from "../limit-of.ts";
import type { RequestTemplate } from "../load/job.ts";
import { number } from "../report/format.ts";
import { cellsOf } from "../report/measured.ts";
import { ratio, type Section } from "../section.ts";
import { ratiosOf } from "../statistics.ts";
import { createPools, expectMirrored, type Pool } from "../system/accounts.ts";

/** Withdrawals from one Master queue at its gate, so more callers than this only wait. */
const MAX_CALLERS = 32;
/** Dollars that each Master earns before the withdrawals of a round: every Investor owes a fee. */
const PROFIT = "10000.00";

export const withdraw: Workload = {
  name: "withdraw",
  title: "Withdrawals",
  about: `\`POST /api/v1/investor/withdraw\` for Investors in the pools of Masters without open positions. Before each turn every Master has a
profit, so the first withdrawal of each Investor collects a performance fee. Compared to deposits with a mirror at the same number of
callers.`,

  async run(bench) {
    const { client } = await bench.system();
    const service = bench.use(serviceContestant(await bench.system(), []));
    const { investors, masters, rounds } = bench.options;
    const pools = await createPools(client, masters, investors);
    const logins = pools.flatMap((pool) => pool.investors);
    const found: Found[] = [];
    for (let round = 0; round < rounds; round += 1) {
      for (const callers of bench.options.callers.map((each) => Math.min(each, MAX_CALLERS))) {
        const shape = { kind: "closed", callers } as const;
        const deposits = await bench.measure(service, depositsTo(logins), shape);
        await rest(client, pools);
        await earn(client, pools);
        const feesBefore = await countFees(client, pools);
        const withdrawals = await bench.measure(service, withdrawalsFrom(logins), shape);
        await rest(client, pools);
        const fees = (await countFees(client, pools)) - feesBefore;
        found.push({ callers, deposits, withdrawals, fees });
        bench.print(
          `at ${callers}: ${number(withdrawals.rate)}/s with ${fees} fees, deposits ${number(deposits.rate)}/s`,
        );
      }
    }
    await requireFeesPaid(client, pools);
    return sectionOf(found);
  },
};

type Found = {
  readonly callers: number;
  readonly deposits: Measurement;
  readonly withdrawals: Measurement;
  readonly fees: number;
};

function withdrawalsFrom(logins: readonly string[]): RequestTemplate[] {
  return logins.map((login) => ({
    method: "POST",
    path: `/api/v1/investor/withdraw?login=${login}&amount=1.00&comment={n}`,
    login,
    minor: -100,
  }));
}

/** Books a profit on each Master and waits until it is on the accounts of the Investors. */
async function earn(client: Client, pools: readonly Pool[]): Promise<void> {
  for (const { login } of pools) await client.control("POST", "results", { login, profit: PROFIT });
  await rest(client, pools);
}

async function rest(client: Client, pools: readonly Pool[]): Promise<void> {
  await Promise.all(pools.map((pool) => expectMirrored(client, pool)));
}

async function countFees(client: Client, pools: readonly Pool[]): Promise<number> {
  const credits = await Promise.all(pools.map(({ paymentLogin }) => dealsOf(client, paymentLogin)));
  return credits.reduce((count, deals) => count + deals.length, 0);
}

/** The second letter of a reference says what a deal is for. */
const FEE_DEBIT = /^PF/;

/** What the Investors paid is what the payment accounts received. */
async function requireFeesPaid(client: Client, pools: readonly Pool[]): Promise<void> {
  for (const { login, paymentLogin, investors } of pools) {
    const own = await Promise.all(investors.map((investor) => dealsOf(client, investor)));
    const paid = own.flat().filter(({ comment }) => FEE_DEBIT.test(comment));
    const received = await dealsOf(client, paymentLogin);
    const total = [...paid, ...received].reduce((sum, { minor }) => sum + minor, 0n);
    if (total !== 0n || paid.length !== received.length) {
      throw new Violated([
        `Master ${login}: ${paid.length} fees and ${received.length} credits differ by ${total} cents`,
      ]);
    }
  }
}

function sectionOf(found: readonly Found[]): Section {
  const groups = [...Map.groupBy(found, ({ callers }) => callers)];
  const [one] = groups;
  const most = groups.at(-1);
  const rates = (of: readonly Found[], name: "deposits" | "withdrawals"): number[] => of.map((each) => each[name].rate);
  const p50s = (of: readonly Found[], name: "deposits" | "withdrawals"): number[] => of.map((each) => each[name].p50);
  return {
    comparisons: [
      ratio(
        `withdrawals per second at ${most?.[0]}`,
        "deposits with mirror",
        ratiosOf(rates(most?.[1] ?? [], "withdrawals"), rates(most?.[1] ?? [], "deposits")),
        { target: { atLeast: 0.4 }, limit: limitOf((most?.[1] ?? []).map(({ withdrawals }) => usageOf(withdrawals))) },
      ),
      ratio(
        "p50 of a withdrawal, one at a time",
        "a deposit with mirror",
        ratiosOf(p50s(one?.[1] ?? [], "withdrawals"), p50s(one?.[1] ?? [], "deposits")),
        { target: { atMost: 3 } },
      ),
    ],
    tables: [
      {
        title: "Rates and latencies",
        columns: [
          "kind",
          "at",
          "per second (min - max)",
          "p50 ms",
          "p99 ms",
          "failures",
          "with a fee",
          "processor ms each",
        ],
        rows: groups.flatMap(([callers, of]) => [
          rowOf(
            "deposit",
            callers,
            of.map(({ deposits }) => deposits),
            "",
          ),
          rowOf(
            "withdrawal",
            callers,
            of.map(({ withdrawals }) => withdrawals),
            feeShare(of),
          ),
        ]),
      },
    ],
    operationCosts: {
      "withdrawal with mirror": medianCosts((most?.[1] ?? []).map(({ withdrawals }) => withdrawals.costs)),
    },
  };
}

function rowOf(kind: string, callers: number, of: readonly Measurement[], fees: string): string[] {
  const { rate, p50, p99, failures, cost } = cellsOf(of);
  return [kind, String(callers), rate, p50, p99, failures, fees, cost];
}

function feeShare(of: readonly Found[]): string {
  const all = of.reduce((sum, { withdrawals }) => sum + withdrawals.outcomes.length, 0);
  return `${Math.round((100 * of.reduce((sum, { fees }) => sum + fees, 0)) / Math.max(1, all))} %`;
}
