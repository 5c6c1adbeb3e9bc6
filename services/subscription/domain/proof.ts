import { onInvestor, onMaster, type Buckets } from "./buckets.ts";
import { sumOf } from "./pool/rounding.ts";

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
  /** External funds, and own capital of a Master that operators have not acknowledged; signed. */
  readonly quarantined: bigint;
  /** Acknowledged own capital of a Master; never negative. */
  readonly ownCapital: bigint;
  readonly lastDealId: bigint;
};

/** The balance on the platform, and the newest filed deal. */
export type Shown = { readonly platform: bigint; readonly lastDealId: bigint };

/** Money on a Master that belongs to no Investor. */
export type UnownedMoney = {
  /** X: own capital, with its results. */
  readonly own: bigint;
  /** What parties other than the service have moved in total, and that sum when operators acknowledged the own capital. */
  readonly external: bigint;
  readonly acknowledged: bigint | undefined;
  /** What transfers whose records were lost have moved, and nothing was settled with. */
  readonly imported: bigint;
  /** Results that are not allocated yet. */
  readonly unallocated: bigint;
  /** What has left own capital while its units are still to be redeemed. */
  readonly ownUnredeemed: bigint;
};

export type ProvenHolding = Buckets & {
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  /** What has left its pooled amount, a fee for example, while its units are still to be redeemed. */
  readonly unredeemed: bigint;
};

export function proveInvestor(holding: Omit<ProvenHolding, "unredeemed">, shown: Shown): AccountProof {
  return {
    login: holding.investorLogin,
    subscriptionId: holding.subscriptionId,
    ...shown,
    ledger: onInvestor(holding),
    // Results to be posted, less reserves to be debited.
    inFlight: holding.unposted - holding.reserved,
    quarantined: holding.quarantined,
    ownCapital: 0n,
  };
}

export function proveMaster(
  login: string,
  { imported, unallocated, own, external, acknowledged }: Omit<UnownedMoney, "ownUnredeemed">,
  holdings: readonly Buckets[],
  shown: Shown,
): AccountProof {
  // Results do not end an acknowledgement, another movement does. Below zero it lacks money of Investors, so nothing is acknowledged.
  const ownCapital = own >= 0n && acknowledged === external ? own : 0n;
  return {
    login,
    subscriptionId: 0n,
    ...shown,
    ledger: sumOf(holdings.map(onMaster)) + own + imported + unallocated,
    inFlight: sumOf(holdings.map(({ inbound, outbound }) => inbound - outbound)),
    quarantined: imported + own - ownCapital,
    ownCapital,
  };
}

export function differenceOf({ platform, ledger }: AccountProof): bigint {
  return platform - ledger;
}

export function totalOf(proofs: readonly AccountProof[]): AccountProof {
  const of = (pick: (proof: AccountProof) => bigint): bigint => sumOf(proofs.map(pick));
  return {
    login: "",
    subscriptionId: 0n,
    platform: of(({ platform }) => platform),
    ledger: of(({ ledger }) => ledger),
    inFlight: of(({ inFlight }) => inFlight),
    quarantined: of(({ quarantined }) => quarantined),
    ownCapital: of(({ ownCapital }) => ownCapital),
    lastDealId: proofs.reduce((newest, { lastDealId }) => (lastDealId > newest ? lastDealId : newest), 0n),
  };
}

/**
 * Checks each bucket and each account separately, so that two differences, or an inflow and an outflow, do not cancel
 * out in a sum.
 */
export function hasConverged(
  proofs: readonly AccountProof[],
  holdings: readonly ProvenHolding[],
  { unallocated, ownUnredeemed }: UnownedMoney,
): boolean {
  const isInFlight = holdings.some(
    ({ inbound, waiting, reserved, outbound, unposted }) =>
      inbound !== 0n || waiting !== 0n || reserved !== 0n || outbound !== 0n || unposted !== 0n,
  );
  const isExternal = proofs.some(({ quarantined }) => quarantined !== 0n);
  const differs = proofs.some((proof) => differenceOf(proof) !== 0n);
  return !isInFlight && !isExternal && !differs && unallocated === 0n && unredeemedOf(holdings, ownUnredeemed) === 0n;
}

/** Money that has left the pool while its units are still to be redeemed: until then its former owner has a share in results. */
export function unredeemedOf(holdings: readonly Pick<ProvenHolding, "unredeemed">[], ownUnredeemed: bigint): bigint {
  return sumOf(holdings.map(({ unredeemed }) => unredeemed)) + ownUnredeemed;
}
