import type { Outcome } from "../load/job.ts";

/** A balance operation as the trading platform shows it. */
export type Deal = { readonly ticket: string; readonly minor: bigint; readonly comment: string };

/** The money of one account: its deals, and its balance as both sides report it. */
export type AccountBooks = {
  readonly login: string;
  readonly deals: readonly Deal[];
  readonly platformMinor: bigint;
  /** As the measured program reports it; undefined for one that has no balances. */
  readonly reportedMinor: bigint | undefined;
};

type Sent = Pick<Outcome, "login" | "minor" | "comment" | "status" | "dealId" | "isDenied">;

/** Comments of the bench; every other deal belongs to the preparation, or is a fee or a result. */
const OWN_COMMENT = / (b[0-9a-z]+)$/;

/**
 * Contradictions between what callers were answered and what the platform did; a figure is reported only when there is
 * none. Every 200 has exactly one deal, with its ticket, login and amount; a denied request has none, an unanswered one at
 * most one; no deal is without a request; the balances are what the deals add up to.
 */
export function violationsOf(sent: readonly Sent[], accounts: readonly AccountBooks[]): string[] {
  const deals = Map.groupBy(accounts.flatMap(ownDeals), ({ comment }) => comment);
  const comments = new Set(sent.map(({ comment }) => comment));
  return [
    ...sent.flatMap((each) => contradictions(each, deals.get(each.comment) ?? [])),
    ...Array.from(deals.keys()).flatMap((comment) => (comments.has(comment) ? [] : [`no request has deal ${comment}`])),
    ...totalsOf(sent, accounts),
    ...accounts.flatMap(balanceViolations),
  ];
}

type OwnDeal = Deal & { readonly login: string };

function ownDeals({ login, deals }: AccountBooks): OwnDeal[] {
  return deals.flatMap((deal) => {
    const comment = OWN_COMMENT.exec(deal.comment)?.[1];
    return comment === undefined ? [] : [{ ...deal, comment, login }];
  });
}

function contradictions(
  { login, minor, comment, status, dealId, isDenied }: Sent,
  deals: readonly OwnDeal[],
): string[] {
  const [deal] = deals;
  const isDone = status === 200;
  if (deals.length > 1) return [`${comment} moved money ${deals.length} times`];
  if (isDone && deal === undefined) return [`${comment} was answered 200 and has no deal`];
  if (isDenied && deal !== undefined) return [`${comment} was denied and has deal ${deal.ticket}`];
  if (deal === undefined) return [];
  return [
    ...(isDone && deal.ticket !== dealId ? [`${comment} was answered deal ${dealId} and has ${deal.ticket}`] : []),
    ...(deal.login === login ? [] : [`${comment} was for ${login} and moved money of ${deal.login}`]),
    ...(deal.minor === BigInt(minor) ? [] : [`${comment} asked for ${minor} cents and moved ${deal.minor}`]),
  ];
}

/** Of accounts whose requests were all answered 200 or denied: the deals add up to what the callers were answered. */
function totalsOf(sent: readonly Sent[], accounts: readonly AccountBooks[]): string[] {
  const bySender = Map.groupBy(sent, ({ login }) => login);
  return accounts.flatMap((account) => {
    const own = bySender.get(account.login) ?? [];
    if (own.some(({ status, isDenied }) => status !== 200 && !isDenied)) return [];
    const answered = own.reduce((sum, { status, minor }) => sum + (status === 200 ? BigInt(minor) : 0n), 0n);
    const moved = ownDeals(account).reduce((sum, { minor }) => sum + minor, 0n);
    return answered === moved
      ? []
      : [`the callers of ${account.login} were answered ${answered} cents and its deals are ${moved}`];
  });
}

function balanceViolations({ login, deals, platformMinor, reportedMinor }: AccountBooks): string[] {
  const added = deals.reduce((sum, { minor }) => sum + minor, 0n);
  return [
    ...(added === platformMinor ? [] : [`${login} has ${platformMinor} cents and deals of ${added}`]),
    ...(reportedMinor === undefined || reportedMinor === platformMinor
      ? []
      : [`${login} is reported with ${reportedMinor} cents and has ${platformMinor}`]),
  ];
}
