import { setTimeout as sleep } from "node:timers/promises";
import { formatDecimal, usd } from "#kernel/money.ts";
import type { Client, Reply } from "../journey/support/client.ts";
import { type Asked, heard, lost, type Wish } from "./asked.ts";

/** Customers who ask for money to come and go, one thing after the other, whatever happens to the system. */
export type Traffic = {
  readonly asked: readonly Asked[];
  /** Nobody asks any more; everybody has been answered, or knows that the answer is lost. */
  readonly end: () => Promise<void>;
};

/** Two customers act on each account at the same time. */
const CUSTOMERS_PER_LOGIN = 2;
const PAUSE_MS = 40;
/** Every other one brings more than the next takes. */
const BROUGHT = 50_00n;
const TAKEN = 10_00n;

let made = 0;

export function startTraffic(client: Client, logins: readonly string[]): Traffic {
  const asked: Asked[] = [];
  let isOver = false;
  const act = async (login: string): Promise<void> => {
    for (let turn = 0; !isOver; turn += 1) {
      asked.push(await ask(client, aWish(login, turn)));
      await sleep(PAUSE_MS);
    }
  };
  const customers = logins.flatMap((login) => Array.from({ length: CUSTOMERS_PER_LOGIN }, () => act(login)));
  return {
    asked,
    async end() {
      isOver = true;
      await Promise.all(customers);
    },
  };
}

/** No two have the same comment, and hardly any the same amount. */
function aWish(login: string, turn: number): Wish {
  made += 1;
  const isDeposit = turn % 2 === 0;
  const minor = (isDeposit ? BROUGHT : TAKEN) + BigInt(made % 1_000);
  return { login, action: isDeposit ? "deposit" : "withdraw", minor, comment: `c${made.toString(36)}.` };
}

async function ask({ post }: Client, wish: Wish): Promise<Asked> {
  const { action, login, minor, comment } = wish;
  const path = `/api/v1/investor/${action}?login=${login}&amount=${formatDecimal(usd(minor))}&comment=${comment}`;
  const since = performance.now();
  const reply = await post(path).catch((): Reply | undefined => undefined);
  const tookMs = performance.now() - since;
  return reply === undefined ? lost(wish, tookMs) : heard(wish, reply, tookMs);
}
