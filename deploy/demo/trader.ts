import { setTimeout as sleep } from "node:timers/promises";
import { dollars, type Funds } from "./funds.ts";
import type { Call } from "./http.ts";
import { describe } from "./outcome.ts";
import type { Deal } from "./platform.ts";
import { DemoFailure } from "./wait.ts";

const PATIENCE_MS = 60_000;
const LOOK_AFTER_MS = 500;
const SYMBOL = "EURUSD";

/** The trader opens and closes with exactly this result. Answers the deal. */
export async function bookResult(funds: Funds, login: string, minor: bigint): Promise<Deal> {
  const before = (await tradesOf(funds, login)).length;
  const call = postOf("/control/results", { login, profit: dollars(minor) });
  await order(funds, call, async () => (await tradesOf(funds, login)).length > before);
  return await lastTrade(funds, login);
}

/** Moves the market; saying it twice is no harm. */
export async function setPrice(funds: Funds, price: string): Promise<void> {
  await order(funds, postOf("/control/prices", { symbol: SYMBOL, bid: price, ask: price }), async () => false);
}

export async function openPosition(funds: Funds, login: string, volume: string): Promise<void> {
  const call = postOf("/control/positions", { login, symbol: SYMBOL, side: "buy", volume });
  await order(funds, call, async () => (await funds.platform.positions(login)).length > 0);
}

/** Closes what is open. Answers the deal. */
export async function closePosition(funds: Funds, login: string): Promise<Deal> {
  const [position] = await funds.platform.positions(login);
  if (position === undefined) throw new DemoFailure(`the Master ${login} has no open position`);
  const call = postOf(`/control/positions/${position}/close`, {});
  await order(funds, call, async () => (await funds.platform.positions(login)).length === 0);
  return await lastTrade(funds, login);
}

function postOf(path: string, body: Call["body"] & object): Call {
  return { method: "POST", path, body };
}

/** The trader looks before anything is done twice, too: the simulator may be killed in the middle. */
async function order({ platform, tell }: Funds, call: Call, hasHappened: () => Promise<boolean>): Promise<void> {
  tell.request(call);
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(LOOK_AFTER_MS)) {
    const outcome = await platform.send(call);
    if (outcome.kind === "done") return;
    if (outcome.kind === "refused") throw new DemoFailure(`${call.path} was refused: ${describe(outcome.answer)}`);
    if (outcome.kind === "unknown" && (await hasHappened())) return;
  }
  throw new DemoFailure(`${call.path} did not succeed within ${PATIENCE_MS / 1_000} s`);
}

async function tradesOf({ platform }: Funds, login: string): Promise<readonly Deal[]> {
  return (await platform.deals(login)).filter(({ isTrade }) => isTrade);
}

async function lastTrade(funds: Funds, login: string): Promise<Deal> {
  const deal = (await tradesOf(funds, login)).at(-1);
  if (deal === undefined) throw new DemoFailure(`the Master ${login} has no deal`);
  return deal;
}
