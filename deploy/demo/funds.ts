import { formatMinor } from "#kernel/values/money.ts";
import { type Crm, execute } from "./command.ts";
import { type JsonObject, textOf } from "./exact-json.ts";
import { centsOf, type Platform } from "./platform.ts";
import type { Investor } from "./provision.ts";
import { DemoFailure } from "./wait.ts";

/** The CRM's own record of a movement: amount, reference and the ticket on the platform. */
export type Entry = {
  readonly login: string;
  readonly reference: string;
  /** Signed, in cents. */
  readonly minor: bigint;
  readonly ticket: string;
};

export type Ledger = {
  readonly runId: string;
  readonly entries: Entry[];
};

const REFERENCE_DIGITS = 2;

export function openLedger(now: number): Ledger {
  return { runId: now.toString(36), entries: [] };
}

/** Unique, and short enough for the platform's comment, which keeps 16 characters of it. */
export function nextReference({ runId, entries }: Ledger): string {
  return `demo-${runId}-${String(entries.length + 1).padStart(REFERENCE_DIGITS, "0")}`;
}

export function balanceOf({ entries }: Ledger, login: string): bigint {
  return entries.filter((entry) => entry.login === login).reduce((sum, { minor }) => sum + minor, 0n);
}

/** Money commands need the API, the CRM's own record, and the platform for reconciliation. */
export type Funds = Crm & { readonly ledger: Ledger; readonly platform: Platform };

/** A deposit that has not started within 10 s is never executed; an accepted withdrawal is paid, however late. */
const SETTLED_WITHIN_MS = { deposit: 15_000, withdraw: 30_000 } as const;

type Moved = { readonly ticket: string; readonly minor: bigint; readonly details: string };

export async function deposit(funds: Funds, { login, name }: Investor, minor: bigint): Promise<void> {
  const { ticket, details } = await move(funds, { login, minor, read: depositedOf });
  funds.print.result(200, `${name} is credited ${dollars(minor)}; deal_id ${ticket}${details}`);
}

export async function withdraw(funds: Funds, { login, name }: Investor, minor: bigint): Promise<void> {
  const { ticket, details } = await move(funds, { login, minor: -minor, read: withdrawnOf });
  funds.print.result(200, `${name} is paid ${dollars(minor)}; mt5_deal_id ${ticket}${details}`);
}

type Movement = {
  readonly login: string;
  /** Signed. */
  readonly minor: bigint;
  readonly read: (answer: JsonObject) => Moved;
};

async function move(funds: Funds, { login, minor, read }: Movement): Promise<Moved> {
  const { ledger, platform } = funds;
  const reference = nextReference(ledger);
  const amount = dollars(minor < 0n ? -minor : minor);
  const action = minor < 0n ? "withdraw" : "deposit";
  const moved = await execute(funds, {
    call: { method: "POST", path: `/api/v1/investor/${action}?login=${login}&amount=${amount}&comment=${reference}` },
    settledWithinMs: SETTLED_WITHIN_MS[action],
    read,
    async findEffect() {
      const deal = (await platform.deals(login)).find(({ comment }) => comment.includes(reference));
      return deal && { ticket: deal.ticket, minor: deal.minor, details: " (found among the deals)" };
    },
  });
  if (moved.minor !== minor) {
    throw new DemoFailure(`${action} of ${amount} on ${login}: ${dollars(moved.minor)} was moved`);
  }
  ledger.entries.push({ login, reference, minor, ticket: moved.ticket });
  return moved;
}

function depositedOf(answer: JsonObject): Moved {
  return { ticket: textOf(answer, "deal_id"), minor: centsOf(answer, "amount"), details: "" };
}

function withdrawnOf(answer: JsonObject): Moved {
  const before = textOf(answer, "balance_before");
  const pending = textOf(answer, "perf_fee_pending_at_request");
  const available = textOf(answer, "available_after_perf_fee");
  const details = `; balance_before ${before}, perf_fee_pending_at_request ${pending}, available_after_perf_fee ${available}`;
  return { ticket: textOf(answer, "mt5_deal_id"), minor: -centsOf(answer, "effective_withdraw"), details };
}

export function dollars(minor: bigint): string {
  return formatMinor(minor);
}
