import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { formatMinor } from "#kernel/money.ts";
import { IS_PROOF } from "../support/proof.ts";
import { type Client, clientOf, eventually, platformBalanceOf } from "./support/client.ts";
import { CROWD, type Crowd, newCrowd } from "./support/crowd.ts";
import { expectFeesToReconcile, type Payment } from "./support/fees.ts";
import { type ProcessName, startTestSystem } from "./support/system.ts";
import { bookResult } from "./support/trading.ts";
import { untilNextWeek } from "./support/weeks.ts";

const TIMEOUT = { timeout: 600_000 + CROWD * 1_500 };
/** After a kill during a send, the outcome of the leg is known within the quiet period. */
const SETTLED_MS = 180_000 + CROWD * 200;

/** A deal is read within a second, then allocated, then posted: one delay ends during each of these. */
const DELAYS_MS = [300, 1_100];
/** Processes killed in each weekly run, one after the other. */
const KILLS: readonly (readonly ProcessName[])[] = [
  ["subscription", "fee", "nats"],
  ["platform", "fee", "postgres", "simulator"],
];

/** In `make test` the services do it in a process of a test, which ends at each of their statements. */
test.runIf(IS_PROOF)(
  `a weekly run of ${CROWD} Investors is paid once while processes are killed`,
  TIMEOUT,
  async () => {
    const periodMs = 15_000 + CROWD * 60;
    await using system = await startTestSystem({ PAMM_FEE_PERIOD: `PT${periodMs / 1_000}S` });
    const client = clientOf(system);
    const crowd = await newCrowd(client, 0.3);
    const before: Charged[] = crowd.members.map(() => ({ mark: 0n, paid: 0n }));
    let results = 0n;

    for (const [week, names] of KILLS.entries()) {
      const cutOff = await untilNextWeek(system);
      const result = 4_321_00n + BigInt(week * 1_000_07);
      results += result;
      await bookResult(client, crowd.login, formatMinor(result));
      await sleep(cutOff - Date.now() + (DELAYS_MS[week % DELAYS_MS.length] ?? 0));
      for (const name of names) await system.kill(name);
      before.splice(0, CROWD, ...(await eventually(() => expectRun(client, crowd, { before, results }), SETTLED_MS)));
    }
  },
);

/** The high-water mark of an Investor and the sum of its fees, in cents. */
type Charged = { readonly mark: bigint; readonly paid: bigint };
type Run = { readonly before: readonly Charged[]; readonly results: bigint };

/** Each Investor has paid 30 % of its gain above its own high-water mark, rounded down to the cent, and all accounts match. */
async function expectRun(client: Client, crowd: Crowd, { before, results }: Run): Promise<Charged[]> {
  const { payments, total } = await expectFeesToReconcile(client, crowd);
  const balances = await Promise.all(crowd.members.map(({ login }) => platformBalanceOf(client, login)));
  const after = crowd.members.map(({ login, capital }, index) => {
    const paid = paidBy(payments, login);
    return { mark: (balances[index] ?? 0n) + paid - capital, paid };
  });
  expect(
    after.reduce((sum, { mark }) => sum + mark, 0n),
    "the sum of the high-water marks is the sum of the results",
  ).toBe(results);
  const due = after.map(({ mark }, index) => ((mark - (before[index]?.mark ?? 0n)) * 3n) / 10n);
  expect(after.map(({ paid }, index) => paid - (before[index]?.paid ?? 0n))).toEqual(due);
  expect(await platformBalanceOf(client, crowd.paymentLogin)).toBe(total);
  const pooled = balances.reduce((sum, balance) => sum + balance, 0n);
  expect(await platformBalanceOf(client, crowd.login)).toBe(pooled);
  return after;
}

function paidBy(payments: readonly Payment[], login: string): bigint {
  return payments.filter(({ investor }) => investor === login).reduce((sum, { minor }) => sum + minor, 0n);
}
