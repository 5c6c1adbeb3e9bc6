import { setTimeout as sleep } from "node:timers/promises";
import { type Asked, askFor, type Order } from "../journey/support/asked.ts";
import type { Client } from "../journey/support/client.ts";

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
      const answer = await askFor(client, aOrder(login, turn));
      asked.push(answer);
      await sleep(PAUSE_MS);
      if (answer.said === "lost") await untilReady(client, () => isOver);
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
function aOrder(login: string, turn: number): Order {
  made += 1;
  const isDeposit = turn % 2 === 0;
  const minor = (isDeposit ? BROUGHT : TAKEN) + BigInt(made % 1_000);
  return { login, action: isDeposit ? "deposit" : "withdraw", minor, comment: `c${made.toString(36)}.` };
}

/** Who got no answer at all waits until somebody is there, as a load balancer in front of us would. */
async function untilReady({ get }: Client, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const reply = await get("/readyz").catch((): undefined => undefined);
    if (reply?.status === 200) return;
    await sleep(PAUSE_MS);
  }
}
