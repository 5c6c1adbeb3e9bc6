import { setTimeout as sleep } from "node:timers/promises";
import { type AnsweredRequest, sendMoneyRequest, type MoneyRequest } from "../journey/support/money-request.ts";
import type { Client } from "../journey/support/client.ts";

/** Customers who deposit and withdraw, one request after the other, also while the system fails. */
export type Traffic = {
  readonly requests: readonly AnsweredRequest[];
  /** Resolves when every request has an answer or has lost it, and no further request is sent. */
  readonly end: () => Promise<void>;
};

/** Two customers act on each account at the same time. */
const CUSTOMERS_PER_LOGIN = 2;
const PAUSE_MS = 40;
/** Each deposit is larger than the withdrawal after it. */
const DEPOSITED = 50_00n;
const WITHDRAWN = 10_00n;

let created = 0;

export function startTraffic(client: Client, logins: readonly string[]): Traffic {
  const requests: AnsweredRequest[] = [];
  let isOver = false;
  const act = async (login: string): Promise<void> => {
    for (let turn = 0; !isOver; turn += 1) {
      const answered = await sendMoneyRequest(client, aRequest(login, turn));
      requests.push(answered);
      await sleep(PAUSE_MS);
      if (answered.answer === "lost") await untilReady(client, () => isOver);
    }
  };
  const customers = logins.flatMap((login) => Array.from({ length: CUSTOMERS_PER_LOGIN }, () => act(login)));
  return {
    requests,
    async end() {
      isOver = true;
      await Promise.all(customers);
    },
  };
}

/** Each request has a unique comment, and nearly always a unique amount. */
function aRequest(login: string, turn: number): MoneyRequest {
  created += 1;
  const isDeposit = turn % 2 === 0;
  const minor = (isDeposit ? DEPOSITED : WITHDRAWN) + BigInt(created % 1_000);
  return { login, action: isDeposit ? "deposit" : "withdraw", minor, comment: `c${created.toString(36)}.` };
}

/** Waits for readiness, as a load balancer would. */
async function untilReady({ get }: Client, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const reply = await get("/readyz").catch((): undefined => undefined);
    if (reply?.status === 200) return;
    await sleep(PAUSE_MS);
  }
}
