import { concurrently } from "#kernel/batches/concurrently.ts";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, eventually, platformBalanceOf, type Reply } from "../../journey/support/client.ts";

export type Pool = {
  readonly login: string;
  readonly paymentLogin: string;
  readonly investors: readonly string[];
};

/** Accounts are created and assigned this many at a time. */
const AT_ONCE = 8;
/** Dollars: enough for every withdrawal of a run. */
const CAPITAL = 100_000;
const FEE_RATE = 0.2;
/** Capital of many Investors reaches their Masters within this time, also on a busy machine. */
const MIRRORED_WITHIN_MS = 120_000;

const MASTER = {
  first_name: "Maya",
  last_name: "Okafor",
  name: "Maya Okafor",
  username: "maya@example.com",
  min_deposit: "0",
  platform_group: String.raw`pamm\master`,
};
const INVESTOR = {
  first_name: "Ines",
  last_name: "Okafor",
  name: "Ines Okafor",
  username: "ines@example.com",
  platform_group: String.raw`pamm\investor`,
};

export async function createInvestors(client: Client, count: number): Promise<string[]> {
  return await inParallel(count, async () => {
    const { body } = await done(client.post("/api/v1/investor/create", INVESTOR));
    return textOf(body, "mt5_login");
  });
}

/** Masters whose Investors are all in the pool, with capital on the Master's account and a performance fee. */
export async function createPools(client: Client, masters: number, investors: number): Promise<Pool[]> {
  const made = await inParallel(masters, async () => {
    const { body } = await done(client.post("/api/v1/master/create", MASTER));
    return { login: textOf(body, "mt5_login"), paymentLogin: textOf(body, "payment_account_login") };
  });
  const logins = await createInvestors(client, investors);
  await inParallel(investors, async (index) => {
    const login = logins[index] ?? "";
    await done(client.post(`/api/v1/investor/deposit?login=${login}&amount=${CAPITAL}&comment=capital`));
    const perf_fee = { rate: FEE_RATE, enabled: true };
    const pair = { master_login: made[index % masters]?.login, investor_login: login };
    await done(client.post("/api/v1/investor/assign", { ...pair, perf_fee }));
  });
  const pools = made.map((master, number) => ({
    ...master,
    investors: logins.filter((_, index) => index % masters === number),
  }));
  await Promise.all(pools.map((pool) => expectMirrored(client, pool)));
  return pools;
}

/** Waits until the balance of the Master is the sum of its Investors' balances. */
export async function expectMirrored(client: Client, { login: master, investors }: Pool): Promise<void> {
  await eventually(async () => {
    const balances = await Promise.all(investors.map((login) => platformBalanceOf(client, login)));
    const capital = balances.reduce((sum, balance) => sum + balance, 0n);
    const mirrored = await platformBalanceOf(client, master);
    if (mirrored !== capital) throw new Error(`Master ${master} has ${mirrored} of ${capital} cents`);
  }, MIRRORED_WITHIN_MS);
}

/** Results in the order of the indexes. */
export async function inParallel<T>(
  count: number,
  work: (index: number) => Promise<T>,
  atOnce = AT_ONCE,
): Promise<T[]> {
  const results: T[] = [];
  const indexes = Array.from({ length: count }, (_, index) => index);
  await concurrently(indexes, atOnce, async (index) => {
    results[index] = await work(index);
  });
  return results;
}

export async function done(answer: Promise<Reply>): Promise<Reply> {
  const reply = await answer;
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
  return reply;
}
