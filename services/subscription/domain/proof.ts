import { onInvestor, onMaster, type Buckets } from "./buckets.ts";

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
  /** External funds; signed. */
  readonly quarantined: bigint;
  readonly lastDealId: bigint;
};

/** What the platform shows, and the newest deal that is filed. */
export type Shown = { readonly platform: bigint; readonly lastDealId: bigint };

/** What stands on a Master and belongs to no Investor. */
export type NobodysMoney = {
  readonly external: bigint;
  /** Results that are not split yet. */
  readonly unallocated: bigint;
  /** Results that were split among nobody. */
  readonly suspense: bigint;
};

type Holding = { readonly subscriptionId: bigint; readonly investorLogin: string; readonly buckets: Buckets };

export function proveInvestor({ subscriptionId, investorLogin, buckets }: Holding, shown: Shown): AccountProof {
  return {
    login: investorLogin,
    subscriptionId,
    ...shown,
    ledger: onInvestor(buckets),
    // Results that are to be posted, and what is set apart for a debit.
    inFlight: buckets.unposted - buckets.reserved,
    quarantined: buckets.quarantined,
  };
}

export function proveMaster(
  login: string,
  { external, unallocated, suspense }: NobodysMoney,
  holdings: readonly Holding[],
  shown: Shown,
): AccountProof {
  const ours = holdings.map(({ buckets }) => buckets);
  return {
    login,
    subscriptionId: 0n,
    ...shown,
    ledger: sum(ours.map(onMaster)) + external + unallocated + suspense,
    inFlight: sum(ours.map(({ inbound, outbound }) => inbound - outbound)),
    quarantined: external + suspense,
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
  holdings: readonly Holding[],
  { unallocated }: NobodysMoney,
): boolean {
  const isOnItsWay = holdings.some(
    ({ buckets: { inbound, waiting, reserved, outbound, unposted } }) =>
      inbound !== 0n || waiting !== 0n || reserved !== 0n || outbound !== 0n || unposted !== 0n,
  );
  const isExternal = proofs.some(({ quarantined }) => quarantined !== 0n);
  const differs = proofs.some((proof) => differenceOf(proof) !== 0n);
  return !isOnItsWay && !isExternal && !differs && unallocated === 0n;
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
