import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { formatDecimal, usd } from "#kernel/money.ts";
import type { Movement } from "../../compose/load.ts";
import type { Client } from "./client.ts";

export type SteadyLoad = {
  /** From now on requests are sent by this client; those that were sent are answered by the former. */
  readonly moveTo: (client: Client) => Promise<void>;
  readonly executed: readonly Movement[];
  /** Answers other than 2xx, and lost ones, with the time and what was going on. */
  readonly failures: readonly string[];
  /** Names what is going on. */
  readonly phase: (name: string) => void;
  readonly reads: () => number;
  readonly end: () => Promise<void>;
};

/** Each deposit is larger than the withdrawal after it. */
const DEPOSITED = 50_00n;
const WITHDRAWN = 10_00n;
/** Equal requests could be repetitions. */
const DIFFERENT_AMOUNTS = 1_000n;

/** One customer for each login, who deposits, reads and withdraws, one request after the other and none of them twice, with a pause after each pair. */
export function startSteadyLoad(first: Client, logins: readonly string[], pauseMs: number): SteadyLoad {
  const executed: Movement[] = [];
  const failures: string[] = [];
  const sending = new Set<Promise<void>>();
  let client = first;
  let now = "start";
  let created = 0n;
  let reads = 0;
  let isOver = false;

  const send = async (path: string, init: RequestInit): Promise<boolean> => {
    const begun = now;
    const atMs = Date.now();
    const { status, text } = await client
      .send(path, init)
      .catch((error: unknown) => ({ status: 0, text: String((error as Error).cause ?? error) }));
    if (status >= 200 && status < 300) return true;
    const time = `${new Date(atMs).toISOString()} +${Date.now() - atMs} ms`;
    failures.push(`${time}, ${begun}: ${init.method} ${path}: ${status} ${text}`);
    return false;
  };
  const move = async (login: string, turn: number): Promise<void> => {
    created += 1n;
    const movement = aMovement(login, turn, created);
    const headers = turn % 3 === 0 ? {} : { "idempotency-key": randomUUID() };
    if (await send(pathOf(movement), { method: "POST", headers })) executed.push(movement);
  };
  const read = async (login: string): Promise<void> => {
    if (await send(`/api/v1/info/balance/${login}`, { method: "GET" })) reads += 1;
  };
  const act = async (login: string): Promise<void> => {
    for (let turn = 0; !isOver; turn += 1) {
      for (const request of [() => move(login, turn), () => read(login)]) {
        const sent = request();
        sending.add(sent);
        await sent;
        sending.delete(sent);
      }
      await sleep(pauseMs);
    }
  };
  const customers = logins.map(act);
  return {
    executed,
    failures,
    reads: () => reads,
    phase: (name) => void (now = name),
    async moveTo(next) {
      client = next;
      await Promise.all(sending);
    },
    async end() {
      isOver = true;
      await Promise.all(customers);
    },
  };
}

function aMovement(login: string, turn: number, number: bigint): Movement {
  const isDeposit = turn % 2 === 0;
  const amount = (isDeposit ? DEPOSITED : WITHDRAWN) + (number % DIFFERENT_AMOUNTS);
  return { login, minor: isDeposit ? amount : -amount, comment: `u${number}.` };
}

function pathOf({ login, minor, comment }: Movement): string {
  const [action, amount] = minor > 0n ? ["deposit", minor] : ["withdraw", -minor];
  return `/api/v1/investor/${action}?login=${login}&amount=${formatDecimal(usd(amount))}&comment=${comment}`;
}
