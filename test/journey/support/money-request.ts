import { formatMinor } from "#kernel/money.ts";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, minorOf, type Reply } from "./client.ts";

export type MoneyRequest = {
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
export type Answer = "done" | "nothing" | "not_executed" | "unknown" | "lost";

/** A request with its answer. */
export type AnsweredRequest = MoneyRequest & {
  readonly answer: Answer;
  readonly operationId: string | undefined;
  readonly ticket: string | undefined;
  /** Signed cents, as the answer reports them. */
  readonly moved: bigint;
  readonly tookMs: number;
  /** Why the answer is a defect by itself; undefined for a valid one. */
  readonly defect: string | undefined;
};

const REFUSALS = [409, 502, 503, 504];

export async function sendMoneyRequest({ post }: Client, request: MoneyRequest): Promise<AnsweredRequest> {
  const { action, login, minor, comment } = request;
  const path = `/api/v1/investor/${action}?login=${login}&amount=${formatMinor(minor)}&comment=${comment}`;
  const since = performance.now();
  const reply = await post(path).catch((): Reply | undefined => undefined);
  const tookMs = performance.now() - since;
  return reply === undefined ? lost(request, tookMs) : answered(request, reply, tookMs);
}

function lost(request: MoneyRequest, tookMs: number): AnsweredRequest {
  return {
    ...request,
    answer: "lost",
    operationId: undefined,
    ticket: undefined,
    moved: 0n,
    tookMs,
    defect: undefined,
  };
}

function answered(request: MoneyRequest, reply: Reply, tookMs: number): AnsweredRequest {
  const { status, body, headers, text } = reply;
  const operationId = headers.get("x-operation-id") ?? undefined;
  const base = { ...request, operationId, ticket: undefined, moved: 0n, tookMs, defect: undefined };
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
