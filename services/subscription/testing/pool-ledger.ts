import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import { type Buckets, onMaster } from "../domain/buckets.ts";
import { findPoolLedger } from "../store/pool-ledger.ts";
import type { World } from "./world.ts";

const NOTHING_FILED = { filedNumber: 0n, own: 0n, imported: 0n, unallocated: 0n, holdings: [] };

/** The books of a pool at one instant: the expected balance of the Master at its last filed log entry. */
export async function poolLedger({ deps }: Pick<World, "deps">, masterLogin: string) {
  const ledger = (await findPoolLedger(deps.pool, masterLogin)) ?? NOTHING_FILED;
  const { filedNumber, own, imported, unallocated, holdings } = ledger;
  const unowned = own + imported + unallocated;
  return {
    expectedMasterBalance: money(holdings.reduce((total, { buckets }) => total + onMaster(buckets), unowned)),
    filedLogNumber: filedNumber,
    external: money(unowned),
    holdings: holdings.map(({ subscriptionId, investorLogin, buckets }) => {
      return { subscriptionId, investorLogin, ...moneyOf(buckets) };
    }),
  };
}

function moneyOf(buckets: Buckets) {
  return {
    outside: money(buckets.outside),
    inbound: money(buckets.inbound),
    waiting: money(buckets.waiting),
    pooled: money(buckets.pooled),
    reserved: money(buckets.reserved),
    outbound: money(buckets.outbound),
    quarantined: money(buckets.quarantined),
    unposted: money(buckets.unposted),
  };
}

function money(minor: bigint) {
  return moneyToProto(usd(minor));
}
