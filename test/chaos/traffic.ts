import { setTimeout as sleep } from "node:timers/promises";
import { formatMinor } from "#kernel/values/money.ts";
import { textOf } from "../../deploy/demo/exact-json.ts";
import { type Client, minorOf, type Reply } from "../journey/support/client.ts";

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

type MoneyRequest = {
  readonly login: string;
  readonly action: "deposit" | "withdraw";
  /** Cents. */
  readonly minor: bigint;
  /** Short enough to fit uncut into the comment of the deal. */
  readonly comment: string;
};

/**
 * What an answer says about the deals. "done": one deal with its ticket. "nothing": nothing to pay out, so no deal.
 * "not_executed": no deal, now and later. "unknown": one deal or none. "lost": no answer arrived, so one deal or none.
 */
type Answer = "done" | "nothing" | "not_executed" | "unknown" | "lost";

/** A request with its answer. */
export type AnsweredRequest = MoneyRequest & {
  readonly answer: Answer;
  readonly operationId: string | undefined;
  readonly ticket: string | undefined;
  /** Signed cents, as the answer reports them. */
  readonly moved: bigint;
  /** Why the answer is a defect by itself; undefined for a valid one. */
  readonly defect: string | undefined;
};

const REFUSALS = [409, 502, 503, 504];

async function sendMoneyRequest({ post }: Client, request: MoneyRequest): Promise<AnsweredRequest> {
  const { action, login, minor, comment } = request;
  const path = `/api/v1/investor/${action}?login=${login}&amount=${formatMinor(minor)}&comment=${comment}`;
  const reply = await post(path).catch((): Reply | undefined => undefined);
  return reply === undefined ? lost(request) : answered(request, reply);
}

function lost(request: MoneyRequest): AnsweredRequest {
  return {
    ...request,
    answer: "lost",
    operationId: undefined,
    ticket: undefined,
    moved: 0n,
    defect: undefined,
  };
}

function answered(request: MoneyRequest, reply: Reply): AnsweredRequest {
  const { status, body, headers, text } = reply;
  const operationId = headers.get("x-operation-id") ?? undefined;
  const base = { ...request, operationId, ticket: undefined, moved: 0n, defect: undefined };
  if (status === 200) return { ...base, ...fulfilled(request, reply) };
  const outcome = body["outcome"];
  const answer = outcome === "unknown" ? "unknown" : "not_executed";
  const isValid =
    REFUSALS.includes(status) && (outcome === "not_executed" || (outcome === "unknown" && status === 504));
  return { ...base, answer, defect: isValid ? undefined : `${status} ${text}` };
}

function fulfilled(
  { action, minor }: MoneyRequest,
  { body }: Reply,
): Pick<AnsweredRequest, "answer" | "ticket" | "moved"> {
  if (action === "deposit") return { answer: "done", ticket: textOf(body, "deal_id"), moved: minor };
  const paid = minorOf(textOf(body, "effective_withdraw"));
  if (paid === 0n) return { answer: "nothing", ticket: undefined, moved: 0n };
  return { answer: "done", ticket: textOf(body, "mt5_deal_id"), moved: -paid };
}
