import { setTimeout as sleep } from "node:timers/promises";
import { formatDecimal, usd } from "#kernel/money.ts";
import { type Answer, exchange, type Exchange, problemOf } from "../../deploy/demo/http.ts";
import type { System } from "../../deploy/demo/system.ts";
import { codeOf, describe } from "../../deploy/demo/outcome.ts";

/** A deposit or withdrawal that a client has sent until it had an outcome, always with the same key. */
export type Movement = { readonly login: string; readonly minor: bigint; readonly comment: string };

export type Load = {
  /** Executed, by their answers. */
  readonly executed: readonly Movement[];
  /** Answers and losses that a client should not have seen. */
  readonly failures: readonly string[];
  /** Honest refusals: nothing was executed, and the repetition was. */
  readonly refusals: () => number;
  /** From the first request with a key to its outcome. */
  readonly longestMs: () => number;
  /** Resolves when every request has an outcome. */
  readonly end: () => Promise<void>;
};

const CUSTOMERS_PER_LOGIN = 2;
const PAUSE_MS = 25;
const REPEAT_AFTER_MS = 250;
/** Each deposit is larger than the withdrawal after it. */
const DEPOSITED = 50_00n;
const WITHDRAWN = 10_00n;
const DIFFERENT_AMOUNTS = 1_000n;

let created = 0n;

/** Customers who deposit and withdraw, one request after the other. */
export function startLoad({ url, apiKey }: System, logins: readonly string[]): Load {
  const executed: Movement[] = [];
  const failures: string[] = [];
  let refusals = 0;
  let longestMs = 0;
  let isOver = false;

  const send = async (movement: Movement): Promise<void> => {
    const headers = { authorization: `Bearer ${apiKey}`, "idempotency-key": movement.comment };
    for (const startedMs = performance.now(); ; await sleep(REPEAT_AFTER_MS)) {
      const found = await exchange({ url, headers }, { method: "POST", path: pathOf(movement) });
      const why = failureOf(found);
      if (found.kind === "answered" && found.answer.status === 200) {
        executed.push(movement);
        longestMs = Math.max(longestMs, Math.round(performance.now() - startedMs));
        return;
      }
      if (why === undefined) refusals += 1;
      else failures.push(`${new Date().toISOString()} ${movement.comment}: ${why}`);
    }
  };
  const act = async (login: string): Promise<void> => {
    for (let turn = 0; !isOver; turn += 1) {
      await send(aMovement(login, turn));
      await sleep(PAUSE_MS);
    }
  };
  const customers = logins.flatMap((login) => Array.from({ length: CUSTOMERS_PER_LOGIN }, () => act(login)));
  return {
    executed,
    failures,
    refusals: () => refusals,
    longestMs: () => longestMs,
    async end() {
      isOver = true;
      await Promise.all(customers);
    },
  };
}

/** Undefined for an honest refusal: nothing was executed, and the same request may be repeated. */
function failureOf(found: Exchange): string | undefined {
  if (found.kind !== "answered") return `${found.kind}: ${found.why}`;
  const { answer } = found;
  return isHonest(answer) ? undefined : describe(answer);
}

function isHonest(answer: Answer): boolean {
  const { retryable, outcome } = problemOf(answer);
  if (retryable !== true) return false;
  // The request of another customer on the same account is in progress.
  if (answer.status === 409) return codeOf(answer) === "account_busy";
  // Without an outcome when the key was not looked up: nothing is claimed about earlier requests with it.
  return answer.status === 503 && (outcome === "not_executed" || outcome === undefined);
}

function aMovement(login: string, turn: number): Movement {
  created += 1n;
  const isDeposit = turn % 2 === 0;
  const amount = (isDeposit ? DEPOSITED : WITHDRAWN) + (created % DIFFERENT_AMOUNTS);
  return { login, minor: isDeposit ? amount : -amount, comment: `load${created.toString(36)}.` };
}

function pathOf({ login, minor, comment }: Movement): string {
  const [action, amount] = minor > 0n ? ["deposit", minor] : ["withdraw", -minor];
  return `/api/v1/investor/${action}?login=${login}&amount=${formatDecimal(usd(amount))}&comment=${comment}`;
}
