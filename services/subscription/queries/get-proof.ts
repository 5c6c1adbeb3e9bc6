import { inBatches } from "#kernel/batches/in-batches.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import type { ShownBalance } from "#proto/pamm/platform/v1/platform.ts";
import type {
  AccountProof as AccountProofMessage,
  GetProofRequest,
  GetProofResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import {
  type AccountProof,
  differenceOf,
  hasConverged,
  proveInvestor,
  proveMaster,
  type Shown,
  totalOf,
  unredeemedOf,
} from "../domain/proof.ts";
import { refuse } from "../refusals.ts";
import { marketWaitMessage, waitingFees } from "../messages/market-wait.ts";
import { listMarketWaits } from "../store/market-waits.ts";
import { findPoolLedger, type PoolLedger } from "../store/pool-ledger.ts";
import { isNotNegative, validate } from "../domain/validate.ts";
import { isPageSize } from "./page.ts";

const NOT_EXECUTED = { outcome: "not_executed" } as const;
const NOTHING_FILED: PoolLedger = {
  filedNumber: -1n,
  own: 0n,
  external: 0n,
  acknowledged: undefined,
  imported: 0n,
  unallocated: 0n,
  ownUnredeemed: 0n,
  weeksClosedThrough: undefined,
  holdings: [],
};

/**
 * Compares the books with the platform. The books are read first and the platform right after, so a movement in between
 * shows as a difference, never as agreement; a caller that waits for convergence repeats the call.
 */
export async function getProof(
  deps: Deps,
  { masterLogin, afterSubscriptionId, limit }: GetProofRequest,
  context: CallContext,
): Promise<GetProofResponse> {
  validate(isNotNegative("after_subscription_id", afterSubscriptionId), isPageSize(limit));
  const ledger = await findPoolLedger(deps.pool, masterLogin);
  if (ledger === undefined) await failAsUnavailable(() => deps.accounts.findMaster({ login: masterLogin }, context));
  const { holdings, weeksClosedThrough, ...unowned } = ledger ?? NOTHING_FILED;
  const positions = [
    { login: masterLogin, number: unowned.filedNumber },
    ...holdings.map(({ investorLogin, filedEntry }) => ({ login: investorLogin, number: filedEntry })),
  ];
  const readAt = deps.now();
  const shown = await readShown(deps, positions, context);

  const joining = shown.get(masterLogin)?.log?.notShown === true ? "master_not_shown" : "pool_deficit";
  const waits = await listMarketWaits(deps.pool, masterLogin, joining);
  if (holdings.some(({ reserved }) => reserved > 0n)) {
    waits.push(...waitingFees(await failAsUnavailable(() => deps.fees.getWaitingFees({ masterLogin }, context))));
  }

  const master = proveMaster(masterLogin, unowned, holdings, shownOf(shown, masterLogin));
  const investors = holdings.map((holding) => proveInvestor(holding, shownOf(shown, holding.investorLogin)));
  const accountProofs = [master, ...investors];
  const areAllFiled = positions.every(({ login, number }) => number === shown.get(login)?.log?.lastNumber);
  const rest = investors.filter(({ subscriptionId }) => subscriptionId > afterSubscriptionId);
  return {
    masterLogin,
    readAt,
    master: proofMessage(master),
    investors: rest.slice(0, limit).map(proofMessage),
    hasMore: rest.length > limit,
    investorsCount: BigInt(investors.length),
    total: proofMessage(totalOf(accountProofs)),
    lagMs: BigInt(lagOf(shown.get(masterLogin))),
    converged: areAllFiled && hasConverged(accountProofs, holdings, unowned),
    unredeemed: moneyToProto(usd(unredeemedOf(holdings, unowned.ownUnredeemed))),
    weeksClosedThrough,
    waits: waits.map((wait) => marketWaitMessage(masterLogin, wait)),
  };
}

async function readShown(
  { platform }: Deps,
  positions: readonly { readonly login: string; readonly number: bigint }[],
  context: CallContext,
): Promise<ReadonlyMap<string, ShownBalance>> {
  const shown = new Map<string, ShownBalance>();
  for (const page of inBatches(positions, MAX_PAGE_SIZE)) {
    const { balances } = await callPlatform(() => platform.readBalances({ positions: page }, context));
    for (const balance of balances) shown.set(balance.login, balance);
  }
  return shown;
}

/** Reports platform_unavailable when the trading platform fails, and service_unavailable when a service does. */
async function callPlatform<T>(call: () => Promise<T>): Promise<T> {
  const isPlatformDown = (error: unknown): boolean => error instanceof Refusal && error.code === "platform_unavailable";
  const answer = await failAsUnavailable(() =>
    call().catch((error: unknown) => (isPlatformDown(error) ? undefined : Promise.reject(error))),
  );
  if (answer === undefined) throw refuse("platform_unavailable", "The trading platform did not answer.", NOT_EXECUTED);
  return answer;
}

/** Throws for an account without a balance from the platform: that is not a difference of 0. One without money that was archived or deleted has 0. */
function shownOf(shown: ReadonlyMap<string, ShownBalance>, login: string): Shown {
  const { balance, log } = shown.get(login) ?? {};
  if (balance !== undefined) return { platform: balance.minorUnits, lastDealId: log?.dealId ?? 0n };
  if (log?.notShown === true) return { platform: 0n, lastDealId: log.dealId };
  throw refuse("platform_unavailable", `The trading platform does not show account ${login}.`, NOT_EXECUTED);
}

/** Milliseconds from the last filed deal to the last deal of the log; entries without a deal do not count. */
function lagOf({ log }: Partial<ShownBalance> = {}): number {
  if (log?.lastDealAt === undefined) return 0;
  return Math.max(0, log.lastDealAt.getTime() - (log.dealAt ?? log.lastDealAt).getTime());
}

function proofMessage(proof: AccountProof): AccountProofMessage {
  const { login, subscriptionId, platform, ledger, inFlight, quarantined, ownCapital, lastDealId } = proof;
  const money = (minor: bigint) => moneyToProto(usd(minor));
  return {
    login,
    subscriptionId,
    platformBalance: money(platform),
    ledgerBalance: money(ledger),
    inFlight: money(inFlight),
    quarantined: money(quarantined),
    ownCapital: money(ownCapital),
    difference: money(differenceOf(proof)),
    lastDealId,
  };
}
