import { onInvestor, onMaster, type Buckets } from "./buckets.ts";

/** The balance of an account on the platform and in the books, in cents. */
export type AccountProof = {
  /** Empty for a sum. */
  readonly login: string;
  /** 0 for the Master and for a sum. */
  readonly subscriptionId: bigint;
  readonly platform: bigint;
  readonly ledger: bigint;
  /** Movements that are decided but not on the account yet; signed. */
  readonly inFlight: bigint;
  /** External funds; signed. */
  readonly quarantined: bigint;
  readonly lastDealId: bigint;
};

/** The balance on the platform, and the newest filed deal. */
export type Shown = { readonly platform: bigint; readonly lastDealId: bigint };

/** Money on a Master that belongs to no Investor. */
export type UnownedMoney = {
  readonly external: bigint;
  /** Results that are not allocated yet. */
  readonly unallocated: bigint;
  /** Results that were allocated to no Investor. */
  readonly suspense: bigint;
};

type Holding = { readonly subscriptionId: bigint; readonly investorLogin: string; readonly buckets: Buckets };

export function proveInvestor({ subscriptionId, investorLogin, buckets }: Holding, shown: Shown): AccountProof {
  return {
    login: investorLogin,
    subscriptionId,
    ...shown,
    ledger: onInvestor(buckets),
    // Results to be posted, less reserves to be debited.
    inFlight: buckets.unposted - buckets.reserved,
    quarantined: buckets.quarantined,
  };
}

export function proveMaster(
  login: string,
  { external, unallocated, suspense }: UnownedMoney,
  holdings: readonly Holding[],
  shown: Shown,
): AccountProof {
  const all = holdings.map(({ buckets }) => buckets);
  return {
    login,
    subscriptionId: 0n,
    ...shown,
    ledger: sum(all.map(onMaster)) + external + unallocated + suspense,
    inFlight: sum(all.map(({ inbound, outbound }) => inbound - outbound)),
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
 * Checks each bucket and each account separately, so that two differences, or an inflow and an outflow, do not cancel
 * out in a sum.
 */
export function hasConverged(
  proofs: readonly AccountProof[],
  holdings: readonly Holding[],
  { unallocated }: UnownedMoney,
): boolean {
  const isInFlight = holdings.some(
    ({ buckets: { inbound, waiting, reserved, outbound, unposted } }) =>
      inbound !== 0n || waiting !== 0n || reserved !== 0n || outbound !== 0n || unposted !== 0n,
  );
  const isExternal = proofs.some(({ quarantined }) => quarantined !== 0n);
  const differs = proofs.some((proof) => differenceOf(proof) !== 0n);
  return !isInFlight && !isExternal && !differs && unallocated === 0n;
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
