import { onInvestor, onMaster, type Places } from "./places.ts";

/** What an account shows beside what the books say it has to show, in cents. */
export type AccountProof = {
  /** Of a sum: empty. */
  readonly login: string;
  /** 0 for the Master and for a sum. */
  readonly subscriptionId: bigint;
  readonly platform: bigint;
  readonly ledger: bigint;
  /** Decided, and not on the account yet; signed. */
  readonly inFlight: bigint;
  /** Foreign money; signed. */
  readonly quarantined: bigint;
  readonly lastDealId: bigint;
};

/** What the platform shows, and the newest deal that is filed. */
export type Shown = { readonly platform: bigint; readonly lastDealId: bigint };

/** What stands on a Master and belongs to no Investor. */
export type NobodysMoney = {
  readonly foreign: bigint;
  /** Results that are not split yet. */
  readonly unallocated: bigint;
  /** Results that were split among nobody. */
  readonly suspense: bigint;
};

type Seat = { readonly subscriptionId: bigint; readonly investorLogin: string; readonly places: Places };

export function proveInvestor({ subscriptionId, investorLogin, places }: Seat, shown: Shown): AccountProof {
  return {
    login: investorLogin,
    subscriptionId,
    ...shown,
    ledger: onInvestor(places),
    // Results that are to be posted, and what is set apart for a debit.
    inFlight: places.unposted - places.reserved,
    quarantined: places.quarantined,
  };
}

export function proveMaster(
  login: string,
  { foreign, unallocated, suspense }: NobodysMoney,
  seats: readonly Seat[],
  shown: Shown,
): AccountProof {
  const ours = seats.map(({ places }) => places);
  return {
    login,
    subscriptionId: 0n,
    ...shown,
    ledger: sum(ours.map(onMaster)) + foreign + unallocated + suspense,
    inFlight: sum(ours.map(({ inbound, outbound }) => inbound - outbound)),
    quarantined: foreign + suspense,
  };
}

export function differenceOf({ platform, ledger }: AccountProof): bigint {
  return platform - ledger;
}

export function totalOf(proofs: readonly AccountProof[]): AccountProof {
  const of = (pick: (proof: AccountProof) => bigint): bigint => sum(proofs.map(pick));
  return {
    login: "",
    subscriptionId: 0n,
    platform: of(({ platform }) => platform),
    ledger: of(({ ledger }) => ledger),
    inFlight: of(({ inFlight }) => inFlight),
    quarantined: of(({ quarantined }) => quarantined),
    lastDealId: proofs.reduce((newest, { lastDealId }) => (lastDealId > newest ? lastDealId : newest), 0n),
  };
}

/**
 * Asked of each place and each account by itself: two differences that cancel out are two differences, and so are an inflow
 * and an outflow of the same size.
 */
export function hasConverged(
  proofs: readonly AccountProof[],
  seats: readonly Seat[],
  { unallocated }: NobodysMoney,
): boolean {
  const isOnItsWay = seats.some(
    ({ places: { inbound, waiting, reserved, outbound, unposted } }) =>
      inbound !== 0n || waiting !== 0n || reserved !== 0n || outbound !== 0n || unposted !== 0n,
  );
  const isForeign = proofs.some(({ quarantined }) => quarantined !== 0n);
  const differs = proofs.some((proof) => differenceOf(proof) !== 0n);
  return !isOnItsWay && !isForeign && !differs && unallocated === 0n;
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
