import { setTimeout as sleep } from "node:timers/promises";
import { formatMinor } from "#kernel/values/money.ts";
import { exchange, type Exchange, problemOf } from "../../deploy/demo/http.ts";
import type { System } from "../../deploy/demo/system.ts";
import { codeOf, describe } from "../../deploy/demo/outcome.ts";

/** A deposit or withdrawal that a client has sent until it had an outcome, always with the same key. */
export type Movement = { readonly login: string; readonly minor: bigint; readonly comment: string };

export type Load = {
  /** Executed, by their answers. */
  readonly executed: readonly Movement[];
  /** Answers and losses that a client should not have seen. */
  readonly failures: readonly string[];
  /** Answers by what they claim. A request that was refused or whose outcome was unknown is repeated with its key. */
  readonly counts: Readonly<Record<Verdict, number>>;
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

/** Different in every run: a system that was kept running knows the keys of the last one. */
let created = BigInt(Date.now()) * DIFFERENT_AMOUNTS;

/**
 * Customers who deposit and withdraw, one request after the other. Where a process is killed, an answer that claims no outcome is honest
 * (`mayBeUnknown`); where nothing is, it is a failure.
 */
export function startLoad({ url, apiKey }: System, logins: readonly string[], mayBeUnknown: boolean): Load {
  const executed: Movement[] = [];
  const failures: string[] = [];
  const counts: Record<Verdict, number> = { executed: 0, refused: 0, unknown: 0, failed: 0 };
  let longestMs = 0;
  let isOver = false;

  const send = async (movement: Movement): Promise<void> => {
    const headers = { authorization: `Bearer ${apiKey}`, "idempotency-key": movement.comment };
    for (const startedMs = performance.now(); ; await sleep(REPEAT_AFTER_MS)) {
      const found = await exchange({ url, headers }, { method: "POST", path: pathOf(movement) });
      const verdict = verdictOf(found);
      counts[verdict] += 1;
      if (verdict === "executed") {
        executed.push(movement);
        longestMs = Math.max(longestMs, Math.round(performance.now() - startedMs));
        return;
      }
      if (verdict === "failed" || (verdict === "unknown" && !mayBeUnknown)) {
        failures.push(`${new Date().toISOString()} ${movement.comment}: ${reasonOf(found)}`);
      }
      // A repetition would be answered the same.
      if (verdict === "failed") return;
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
    counts,
    longestMs: () => longestMs,
    async end() {
      isOver = true;
      await Promise.all(customers);
    },
  };
}

type Verdict = "executed" | "refused" | "unknown" | "failed";

/** Of an answer: what it claims about the request. */
function verdictOf(found: Exchange): Verdict {
  // The request was sent, or it may have been; a killed process answers nothing.
  if (found.kind !== "answered") return found.kind === "lost" ? "unknown" : "failed";
  const { answer } = found;
  if (answer.status === 200) return "executed";
  const { retryable, outcome } = problemOf(answer);
  if (outcome === "unknown" || codeOf(answer) === "operation_in_progress") return "unknown";
  // Without an outcome when the key was not looked up: nothing is claimed about earlier requests with it.
  const isRefused = outcome === "not_executed" || outcome === undefined;
  const isHonest = answer.status === 503 || codeOf(answer) === "account_busy";
  return retryable === true && isRefused && isHonest ? "refused" : "failed";
}

function reasonOf(found: Exchange): string {
  return found.kind === "answered" ? describe(found.answer) : `${found.kind}: ${found.why}`;
}

function aMovement(login: string, turn: number): Movement {
  created += 1n;
  const isDeposit = turn % 2 === 0;
  const amount = (isDeposit ? DEPOSITED : WITHDRAWN) + (created % DIFFERENT_AMOUNTS);
  return { login, minor: isDeposit ? amount : -amount, comment: `l${created.toString(36)}.` };
}

function pathOf({ login, minor, comment }: Movement): string {
  const [action, amount] = minor > 0n ? ["deposit", minor] : ["withdraw", -minor];
  return `/api/v1/investor/${action}?login=${login}&amount=${formatMinor(amount)}&comment=${comment}`;
}
