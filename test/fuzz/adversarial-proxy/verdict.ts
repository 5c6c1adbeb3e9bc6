import assert from "node:assert/strict";
import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { parseExact } from "../../../services/simulator/domain/decimal.ts";
import type { AdversarialProxy } from "./proxy.ts";
import type { AnsweredTransfer } from "./requests.ts";

const { APPLIED, REFUSED, REVIEW } = TransferState;
const SETTLED = new Set<TransferState>([APPLIED, REFUSED, REVIEW]);
/** Two legs received one ticket: manual review assigns the deal. */
const AFTER_A_TICKET_TWICE = ["ticket_conflict", "two_deals", "amount_differs"];
const REPEATS_A_TICKET = ["ticket of another deal", "previous answer again"];
/** Reasons for manual review, and the faults that explain them. */
const ALTERED: Readonly<Record<string, readonly string[]>> = {
  amount_differs: ["amount a cent less"],
  not_a_balance_deal: ["as credit"],
  candidate_deal: ["comment rewritten", "on another login"],
  two_deals: ["executed twice"],
  unmatched_deal: ["executed twice"],
  // The command was refused, and the ticket in its answer is that of another leg.
  reported_deal_not_shown: REPEATS_A_TICKET,
};

/** A deal of the simulator. `isAltered`: a fault made it different from the request, or executed the request a second time. */
type Deal = { readonly ticket: string; readonly login: string; readonly minor: bigint; readonly isAltered: boolean };

export type Evidence = {
  readonly deals: readonly Deal[];
  readonly faultsByLogin: ReadonlyMap<string, readonly string[]>;
  /** Reasons for manual review by key. */
  readonly reviews: ReadonlyMap<string, readonly string[]>;
};

/** All deals of the simulator, including those that its Web API hides. */
export async function readDeals({ control, accounts, altered }: AdversarialProxy): Promise<Deal[]> {
  const deals: Deal[] = [];
  for (const login of accounts.keys()) {
    for (const { deal, profit } of await control.deals(login)) {
      const ticket = String(deal);
      deals.push({ ticket, login, minor: minorOf(profit), isAltered: altered.has(ticket) });
    }
  }
  return deals;
}

export function minorOf(amount: string): bigint {
  const minor = parseExact(amount, 2);
  assert(minor !== undefined, `${amount} is no amount`);
  return minor;
}

/** Contradictions between answers and deals, one sentence each. */
export function findContradictions(answered: readonly AnsweredTransfer[], evidence: Evidence): string[] {
  return [...answered.flatMap((one) => contradictionsOf(one, evidence)), ...unrequestedDeals(answered, evidence.deals)];
}

function contradictionsOf({ request, answers, isBlocked }: AnsweredTransfer, evidence: Evidence): string[] {
  const { deals, faultsByLogin, reviews } = evidence;
  const legs = request.legs.map(({ login, amount }) => ({ login, minor: amount?.minorUnits ?? 0n }));
  const counts = legs.map(({ login, minor }) => count(deals, login, minor));
  // A reversal has the opposite amount on the login of the first leg.
  const reversed = count(deals, legs[0]!.login, -legs[0]!.minor);
  const faults = legs.flatMap(({ login }) => faultsByLogin.get(login) ?? []);
  const contradictions: string[] = [];
  const report = (what: string): void => {
    contradictions.push(`${request.key} ${what}: deals ${counts.join("+")}-${reversed}; ${faults.join(" | ")}`);
  };
  if (counts.some((times) => times > 1) || reversed > 1) report("was executed twice");
  const states = new Set(answers.map(({ state }) => state));
  const last = answers.at(-1);
  const isSettled = last !== undefined && SETTLED.has(last.state);
  if (!isSettled && !isBlocked) report(`was never settled (${last?.state})`);
  if (!isSettled && counts.some((times) => times > 0)) report("was not settled, and has a deal");
  if (states.has(APPLIED) && (counts.includes(0) || reversed > 0)) {
    report("was reported as applied, without a deal or with a reversal");
  }
  if (states.has(REFUSED) && (counts[0] !== reversed || counts.slice(1).some((times) => times > 0))) {
    report(`was reported as refused (${last?.refusalCode}), with a deal`);
  }
  if (states.has(APPLIED) && states.has(REFUSED)) report("was reported as applied and as refused");
  const reasons = reviews.get(request.key) ?? [];
  if (last?.state === REVIEW && !reasons.some((reason) => isExplained(reason, faults, evidence))) {
    report(`is in manual review without a fault that explains it (${reasons.join()})`);
  }
  return contradictions;
}

function isExplained(reason: string, own: readonly string[], { faultsByLogin }: Evidence): boolean {
  const has = (faults: readonly string[], name: string): boolean => faults.some((fault) => fault.startsWith(name));
  if (ALTERED[reason]?.some((name) => has(own, name)) === true) return true;
  if (!AFTER_A_TICKET_TWICE.includes(reason)) return false;
  const all = Array.from(faultsByLogin.values()).flat();
  return REPEATS_A_TICKET.some((name) => has(all, name));
}

function unrequestedDeals(answered: readonly AnsweredTransfer[], deals: readonly Deal[]): string[] {
  const requested = new Set(
    answered.flatMap(({ request }) =>
      request.legs.flatMap(({ login, amount }, index) => {
        const minor = amount?.minorUnits ?? 0n;
        return index === 0 ? [`${login} ${minor}`, `${login} ${-minor}`] : [`${login} ${minor}`];
      }),
    ),
  );
  const others = deals.filter(({ login, minor, isAltered }) => !isAltered && !requested.has(`${login} ${minor}`));
  return others.map(({ ticket, login, minor }) => `deal ${ticket} of ${minor} on ${login} has no request`);
}

function count(deals: readonly Deal[], login: string, minor: bigint): number {
  return deals.filter((deal) => deal.login === login && deal.minor === minor && !deal.isAltered).length;
}
