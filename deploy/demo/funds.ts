import { formatDecimal, usd } from "#kernel/money.ts";
import { type Book, nextReference } from "./book.ts";
import { type Crm, execute } from "./command.ts";
import { type JsonObject, textOf } from "./exact-json.ts";
import { centsOf, type Platform } from "./platform.ts";
import type { Investor } from "./provision.ts";
import { DemoFailure } from "./wait.ts";

/** What money commands need beside the API: the CRM's own record, and the platform to reconcile it with. */
export type Funds = Crm & { readonly book: Book; readonly platform: Platform };

/** A deposit that was not begun within its 10 s never is; a withdrawal that was decided is paid out, however late. */
const SETTLED_WITHIN_MS = { deposit: 15_000, withdraw: 30_000 } as const;

type Moved = { readonly ticket: string; readonly minor: bigint; readonly says: string };

export async function deposit(funds: Funds, { login, name }: Investor, minor: bigint): Promise<void> {
  const { ticket, says } = await move(funds, { login, minor, read: depositedOf });
  funds.tell.result(200, `${name} is credited ${dollars(minor)}; deal_id ${ticket}${says}`);
}

export async function withdraw(funds: Funds, { login, name }: Investor, minor: bigint): Promise<void> {
  const { ticket, says } = await move(funds, { login, minor: -minor, read: withdrawnOf });
  funds.tell.result(200, `${name} is paid ${dollars(minor)}; mt5_deal_id ${ticket}${says}`);
}

type Movement = {
  readonly login: string;
  /** Signed. */
  readonly minor: bigint;
  readonly read: (answer: JsonObject) => Moved;
};

async function move(funds: Funds, { login, minor, read }: Movement): Promise<Moved> {
  const { book, platform } = funds;
  const reference = nextReference(book);
  const amount = dollars(minor < 0n ? -minor : minor);
  const action = minor < 0n ? "withdraw" : "deposit";
  const moved = await execute(funds, {
    call: { method: "POST", path: `/api/v1/investor/${action}?login=${login}&amount=${amount}&comment=${reference}` },
    settledWithinMs: SETTLED_WITHIN_MS[action],
    read,
    async findEffect() {
      const deal = (await platform.deals(login)).find(({ comment }) => comment.includes(reference));
      return deal && { ticket: deal.ticket, minor: deal.minor, says: " (found among the deals)" };
    },
  });
  if (moved.minor !== minor) {
    throw new DemoFailure(`${action} of ${amount} on ${login}: ${dollars(moved.minor)} was moved`);
  }
  book.entries.push({ login, reference, minor, ticket: moved.ticket });
  return moved;
}

function depositedOf(answer: JsonObject): Moved {
  return { ticket: textOf(answer, "deal_id"), minor: centsOf(answer, "amount"), says: "" };
}

function withdrawnOf(answer: JsonObject): Moved {
  const before = textOf(answer, "balance_before");
  const pending = textOf(answer, "perf_fee_pending_at_request");
  const available = textOf(answer, "available_after_perf_fee");
  const says = `; balance_before ${before}, perf_fee_pending_at_request ${pending}, available_after_perf_fee ${available}`;
  return { ticket: textOf(answer, "mt5_deal_id"), minor: -centsOf(answer, "effective_withdraw"), says };
}

export function dollars(minor: bigint): string {
  return formatDecimal(usd(minor));
}
