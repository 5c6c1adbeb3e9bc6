import { formatDecimal, usd } from "#kernel/money.ts";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, minorOf, type Reply } from "./client.ts";

export type Order = {
  readonly login: string;
  readonly action: "deposit" | "withdraw";
  /** Cents. */
  readonly minor: bigint;
  /** Short enough to stand whole in the comment of the deal. */
  readonly comment: string;
};

/**
 * What a caller may believe. "done": one deal with that ticket. "nothing": nothing was due, so no deal. "not_executed": no
 * deal, ever. "unknown": one or none. "lost": no answer came, so the same.
 */
export type Said = "done" | "nothing" | "not_executed" | "unknown" | "lost";

/** A order and what its caller was told. */
export type Asked = Order & {
  readonly said: Said;
  readonly operationId: string | undefined;
  readonly ticket: string | undefined;
  /** Signed cents that the account was told to have changed by. */
  readonly moved: bigint;
  readonly tookMs: number;
  /** What makes the answer a defect by itself; nothing for a good one. */
  readonly defect: string | undefined;
};

const REFUSALS = [409, 502, 503, 504];

export async function askFor({ post }: Client, order: Order): Promise<Asked> {
  const { action, login, minor, comment } = order;
  const path = `/api/v1/investor/${action}?login=${login}&amount=${formatDecimal(usd(minor))}&comment=${comment}`;
  const since = performance.now();
  const reply = await post(path).catch((): Reply | undefined => undefined);
  const tookMs = performance.now() - since;
  return reply === undefined ? lost(order, tookMs) : heard(order, reply, tookMs);
}

function lost(order: Order, tookMs: number): Asked {
  return { ...order, said: "lost", operationId: undefined, ticket: undefined, moved: 0n, tookMs, defect: undefined };
}

function heard(order: Order, reply: Reply, tookMs: number): Asked {
  const { status, body, headers, text } = reply;
  const operationId = headers.get("x-operation-id") ?? undefined;
  const told = { ...order, operationId, ticket: undefined, moved: 0n, tookMs, defect: undefined };
  if (status === 200) return { ...told, ...fulfilled(order, reply) };
  const outcome = body["outcome"];
  const said = outcome === "unknown" ? "unknown" : "not_executed";
  const isHonest =
    REFUSALS.includes(status) && (outcome === "not_executed" || (outcome === "unknown" && status === 504));
  return { ...told, said, defect: isHonest ? undefined : `${status} ${text}` };
}

function fulfilled({ action, minor }: Order, { body }: Reply): Pick<Asked, "said" | "ticket" | "moved"> {
  if (action === "deposit") return { said: "done", ticket: textOf(body, "deal_id"), moved: minor };
  const paid = minorOf(textOf(body, "effective_withdraw"));
  if (paid === 0n) return { said: "nothing", ticket: undefined, moved: 0n };
  return { said: "done", ticket: textOf(body, "mt5_deal_id"), moved: -paid };
}
