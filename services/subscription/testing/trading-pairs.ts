import { type Pair, settle, subscribedAll } from "./settle.ts";
import { type Trader, trader } from "./trader.ts";
import { aMaster, type World } from "./world.ts";

export type TestPool = {
  readonly world: World;
  readonly masterLogin: string;
  readonly pairs: readonly Pair[];
  /** The logins of its Investors. */
  readonly logins: readonly string[];
  readonly master: Trader;
};

/** A Master, and for each of these balances an Investor in its pool. */
export async function aPool(world: World, ...balances: readonly bigint[]): Promise<TestPool> {
  const masterLogin = aMaster(world, 0n);
  const pairs = await subscribedAll(
    world,
    balances.map((balance) => ({ masterLogin, balance })),
  );
  const logins = pairs.map(({ investorLogin }) => investorLogin);
  return { world, masterLogin, pairs, logins, master: trader(world, masterLogin) };
}

export type TradingPair = { readonly pair: Pair; readonly master: Trader; readonly close: () => void };

/** An Investor with 500.00 in the pool of a Master that has an open position. */
export async function tradingPair(world: World): Promise<TradingPair & { readonly position: bigint }> {
  const [pair] = await tradingPairs(world, 1);
  if (pair === undefined) throw new Error("no pair was made");
  return pair;
}

/** So many of them, each with a Master of its own. */
export async function tradingPairs(world: World, count: number) {
  const wanted = Array.from({ length: count }, () => ({ masterLogin: aMaster(world), balance: 500_00n }));
  const pairs = await subscribedAll(world, wanted);
  const all = pairs.map((pair) => {
    const master = trader(world, pair.masterLogin);
    const position = master.open();
    return { pair, master, position, close: () => void master.close(position) };
  });
  await settle(world);
  return all;
}
