import { createHash } from "node:crypto";
import { createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { dollars, type Funds } from "./funds.ts";
import type { Call } from "./http.ts";
import { describe } from "./outcome.ts";
import type { Deal } from "./platform.ts";
import { DemoFailure } from "./wait.ts";

/** The simulator may be killed, and restarts within this time. */
const TIMEOUT_MS = 60_000;
/** Pause between two tries of an order. */
const READ_EVERY_MS = 500;
const SYMBOL = "EURUSD";
/** Another demo locks the prices for some trades. */
const LOCK_POLL_MS = 100;

/** The trader opens and closes a position with exactly this result. Returns the deal. */
export async function bookResult(funds: Funds, login: string, minor: bigint): Promise<Deal> {
  const before = (await tradesOf(funds, login)).length;
  const call = postOf("/control/results", { login, profit: dollars(minor) });
  await order(funds, call, async () => (await tradesOf(funds, login)).length > before);
  return await lastTrade(funds, login);
}

/** Sets the market price. Repeated until it is answered: a repetition has no effect. */
export async function setPrice(funds: Funds, price: string): Promise<void> {
  await order(funds, postOf("/control/prices", { symbol: SYMBOL, bid: price, ask: price }), async () => false);
}

export async function openPosition(funds: Funds, login: string, volume: string): Promise<void> {
  const call = postOf("/control/positions", { login, symbol: SYMBOL, side: "buy", volume });
  await order(funds, call, async () => (await funds.platform.positions(login)).length > 0);
}

/** Closes the open position. Returns the deal. */
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

/** Looks for the effect before it repeats a command: the simulator may be killed in between. */
async function order({ platform, print }: Funds, call: Call, hasHappened: () => Promise<boolean>): Promise<void> {
  print.request(call);
  for (const until = Date.now() + TIMEOUT_MS; Date.now() < until; await sleep(READ_EVERY_MS)) {
    const outcome = await platform.send(call);
    if (outcome.kind === "done") return;
    if (outcome.kind === "refused") throw new DemoFailure(`${call.path} was refused: ${describe(outcome.answer)}`);
    if (outcome.kind === "unknown" && (await hasHappened())) return;
  }
  throw new DemoFailure(`${call.path} did not succeed within ${TIMEOUT_MS / 1_000} s`);
}

async function tradesOf({ platform }: Funds, login: string): Promise<readonly Deal[]> {
  return (await platform.deals(login)).filter(({ isTrade }) => isTrade);
}

async function lastTrade(funds: Funds, login: string): Promise<Deal> {
  const deal = (await tradesOf(funds, login)).at(-1);
  if (deal === undefined) throw new DemoFailure(`the Master ${login} has no deal`);
  return deal;
}

/**
 * Locks the prices of a simulator, which all its positions share: only one demo at a time may set them. The lock is a
 * socket name, which the operating system gives to one process and releases when it ends.
 */
export async function lockPrices(controlUrl: string): Promise<AsyncDisposable> {
  const name = `\0pamm-demo-prices-${createHash("sha256").update(controlUrl).digest("hex").slice(0, 32)}`;
  for (;;) {
    const server = createServer((socket) => socket.destroy());
    if (await canListen(server, name)) return server;
    await sleep(LOCK_POLL_MS);
  }
}

function canListen(server: Server, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    server.once("error", () => resolve(false));
    server.listen(name, () => resolve(true));
  });
}
