import { setTimeout as pause } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, queryContext } from "#kernel/contract/deadlines.ts";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inSnapshot } from "#kernel/postgres/snapshot.ts";
import type { ReadAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { GetEquityRequest, GetEquityResponse, HoldingValue } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { allocationInProgress } from "../domain/leave-reasons.ts";
import { floatingBefore } from "../domain/floating-before.ts";
import { valueHolding } from "../domain/holding-value.ts";
import { EMPTY_POOL } from "../domain/pool/unit-pool.ts";
import { isLogin, validate } from "../domain/validate.ts";
import { marksOf } from "../messages/marks.ts";
import {
  type FiledAccount,
  findAllocatedDeal,
  findFiledAccount,
  getBookedHolding,
  getPoolSums,
  listMarksOf,
  listUnallocated,
} from "../store/investor-equity.ts";

/** A Master that trades meanwhile is read again. */
const MAX_READS = 5;
const PAUSE_MS = 100;
/** Left for the answer. */
const RESERVE_MS = 1_000;
/** A longer backlog is of a Master that is stopped; then its positions say little about what an Investor owns. */
const MAX_UNALLOCATED = 10_000;

type Booked = { readonly account: FiledAccount; readonly masterLogin: string | undefined };

/**
 * What an Investor owns: the books at one log position of the Master, valued with the positions that the trading platform shows at the same
 * one. Changes nothing.
 */
export async function getEquity(
  deps: Deps,
  { investorLogin }: GetEquityRequest,
  context: CallContext,
): Promise<GetEquityResponse> {
  validate(isLogin("investor_login", investorLogin));
  for (let reads = 0; reads < MAX_READS && remainingMs(context) > RESERVE_MS; reads += 1) {
    if (reads > 0) await pause(PAUSE_MS);
    const asOf = deps.now();
    const booked = await inSnapshot(deps.pool, (db) => findBooked(db, investorLogin));
    if (booked === undefined) return nothingFiled(investorLogin, asOf);
    const reading =
      booked.masterLogin === undefined ? undefined : await readPositions(deps, booked.masterLogin, context);
    const valued = await inSnapshot(deps.pool, (db) => value(db, investorLogin, reading));
    if (valued === undefined) continue;
    const { account, holding } = valued;
    const balance = await balanceAt(deps, investorLogin, account.filedNumber, context);
    return {
      investorLogin,
      asOf,
      balance: moneyToProto(usd(balance)),
      unposted: moneyToProto(usd(account.unposted)),
      quarantined: moneyToProto(usd(account.quarantined)),
      holding,
    };
  }
  throw allocationInProgress("The Master's latest deals are still being read. Retry shortly.");
}

function nothingFiled(investorLogin: string, asOf: Date): GetEquityResponse {
  const nothing = moneyToProto(usd(0n));
  return { investorLogin, asOf, balance: nothing, unposted: nothing, quarantined: nothing, holding: undefined };
}

async function findBooked(db: Queryable, login: string): Promise<Booked | undefined> {
  const account = await findFiledAccount(db, login);
  if (account === undefined) return undefined;
  if (account.pooledIn === null) return { account, masterLogin: undefined };
  return { account, masterLogin: (await getBookedHolding(db, account.pooledIn)).masterLogin };
}

async function readPositions({ platform }: Deps, login: string, context: CallContext): Promise<ReadAccountResponse> {
  return await failAsUnavailable(() => platform.readAccount({ login }, queryContext(context)));
}

type Valued = { readonly account: FiledAccount; readonly holding: HoldingValue | undefined };

/** Undefined when the books are not at the log position of the reading: the Master has traded, or is still being filed. */
async function value(
  db: Queryable,
  login: string,
  reading: ReadAccountResponse | undefined,
): Promise<Valued | undefined> {
  const account = await findFiledAccount(db, login);
  if (account === undefined) return undefined;
  if (reading === undefined) return account.pooledIn === null ? { account, holding: undefined } : undefined;
  if (account.pooledIn === null || !reading.complete) return undefined;
  const booked = await getBookedHolding(db, account.pooledIn);
  if (booked.filedNumber !== reading.logNumber) return undefined;
  const waiting = await listUnallocated(db, booked.masterLogin, MAX_UNALLOCATED);
  if (waiting.length > MAX_UNALLOCATED) return undefined;
  return { account, holding: await valueAt(db, booked, reading, waiting) };
}

async function valueAt(
  db: Queryable,
  { masterLogin, holding, inbound, lastAllocation }: Awaited<ReturnType<typeof getBookedHolding>>,
  { positions: shown }: ReadAccountResponse,
  waiting: Awaited<ReturnType<typeof listUnallocated>>,
): Promise<HoldingValue> {
  const { subscriptionId } = holding;
  const { positions, accruals } = await listMarksOf(db, masterLogin, subscriptionId);
  const sums = await getPoolSums(db, masterLogin);
  const results = floatingBefore({ ...EMPTY_POOL, positions }, marksOf(shown), waiting);
  const { floating, poolValue } = valueHolding({ holding, positions, accruals, sums }, results);
  const deal = await findAllocatedDeal(db, masterLogin);
  return {
    subscriptionId,
    masterLogin,
    pooled: moneyToProto(usd(holding.pooled)),
    joining: moneyToProto(usd(inbound + holding.waiting)),
    floatingE8: floating,
    carryE8: holding.carry,
    units: holding.units.toString(),
    poolUnits: sums.units.toString(),
    poolValueE8: poolValue.toString(),
    openPositions: shown.length,
    allocationNumber: lastAllocation,
    dealId: deal?.dealId,
    dealAt: deal?.dealAt,
  };
}

/** Entries of the log never change, so this is the balance of the instant of the books. */
async function balanceAt({ platform }: Deps, login: string, number: bigint, context: CallContext): Promise<bigint> {
  const positions = [{ login, number }];
  const { balances } = await failAsUnavailable(() => platform.readLogBalances({ positions }, queryContext(context)));
  return moneyFromProto(balances[0]?.balance, "balance").minor;
}
