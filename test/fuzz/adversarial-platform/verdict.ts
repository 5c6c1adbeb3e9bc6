import { TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { Books } from "./books.ts";
import type { Told } from "./saga.ts";

const { APPLIED, REFUSED, REVIEW } = TransferState;
const SETTLED = new Set<TransferState>([APPLIED, REFUSED, REVIEW]);
/** Two operations were told one ticket: whose deal is whose is for manual review to say. */
const AFTER_A_TICKET_TWICE = ["ticket_conflict", "two_deals", "amount_differs"];
/** What the platform did of its own will, and why a person looks then. */
const WILFUL: Readonly<Record<string, readonly string[]>> = {
  amount_differs: ["a cent less"],
  not_a_balance_deal: ["as credit"],
  candidate_deal: ["comment rewritten", "on another login"],
  two_deals: ["done twice"],
  unmatched_deal: ["done twice"],
};
const TELLS_A_TICKET_TWICE = ["ticket of another", "the answer before again"];

export type Witnesses = {
  readonly books: Books;
  readonly played: ReadonlyMap<string, readonly string[]>;
  /** Why a person has to look, by key. */
  readonly reviews: ReadonlyMap<string, readonly string[]>;
};

/** Everything that was said and is not so, in words; empty when the service kept its word. */
export function brokenPromises(told: readonly Told[], witnesses: Witnesses): string[] {
  return [...told.flatMap((one) => brokenBy(one, witnesses)), ...strangers(told, witnesses.books)];
}

function brokenBy({ request, answers, isBlocked }: Told, witnesses: Witnesses): string[] {
  const { books, played, reviews } = witnesses;
  const legs = request.legs.map(({ login, amount }) => ({ login, minor: amount?.minorUnits ?? 0n }));
  const counts = legs.map(({ login, minor }) => count(books, login, minor));
  // What is taken back bears the opposite amount on the first leg's login.
  const reversed = count(books, legs[0]!.login, -legs[0]!.minor);
  const names = legs.flatMap(({ login }) => played.get(login) ?? []);
  const broken: string[] = [];
  const complain = (what: string): void => {
    broken.push(`${request.key} ${what}: deals ${counts.join("+")}-${reversed}; ${names.join(" | ")}`);
  };
  if (counts.some((times) => times > 1) || reversed > 1) complain("was paid twice");
  const states = new Set(answers.map(({ state }) => state));
  const last = answers.at(-1);
  const isSettled = last !== undefined && SETTLED.has(last.state);
  if (!isSettled && !isBlocked) complain(`was never settled (${last?.state})`);
  if (!isSettled && counts.some((times) => times > 0)) complain("was never sent");
  if (states.has(APPLIED) && (counts.includes(0) || reversed > 0)) complain("was called applied");
  if (states.has(REFUSED) && (counts[0] !== reversed || counts.slice(1).some((times) => times > 0))) {
    complain(`was called refused (${last?.refusalCode})`);
  }
  if (states.has(APPLIED) && states.has(REFUSED)) complain("was called both applied and refused");
  const reasons = reviews.get(request.key) ?? [];
  if (last?.state === REVIEW && !reasons.some((reason) => isExplained(reason, names, witnesses))) {
    complain(`was given to a person for no reason (${reasons.join()})`);
  }
  return broken;
}

/** A credit that was absent three times ends with a person, too: its debit has happened. */
function isExplained(reason: string, own: readonly string[], { played }: Witnesses): boolean {
  const has = (names: readonly string[], wanted: string): boolean => names.some((name) => name.startsWith(wanted));
  if (WILFUL[reason]?.some((name) => has(own, name)) === true) return true;
  if (!AFTER_A_TICKET_TWICE.includes(reason)) return reason === "attempts_exhausted";
  const all = Array.from(played.values()).flat();
  return TELLS_A_TICKET_TWICE.some((name) => has(all, name));
}

/** A deal that nobody ordered. */
function strangers(told: readonly Told[], books: Books): string[] {
  const ordered = new Set(
    told.flatMap(({ request }) =>
      request.legs.flatMap(({ login, amount }, index) => {
        const minor = amount?.minorUnits ?? 0n;
        return index === 0 ? [`${login} ${minor}`, `${login} ${-minor}`] : [`${login} ${minor}`];
      }),
    ),
  );
  const strange = books.deals.filter(({ login, minor, isOwnWill }) => !isOwnWill && !ordered.has(`${login} ${minor}`));
  return strange.map(({ ticket, login, minor }) => `nobody ordered the deal ${ticket} of ${minor} on ${login}`);
}

function count({ deals }: Books, login: string, minor: bigint): number {
  return deals.filter((deal) => deal.login === login && deal.minor === minor && !deal.isOwnWill).length;
}
