import { randomUUID } from "node:crypto";
import type { GatheredRead } from "#kernel/batches/gather-reads.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type { ReadAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../../deps.ts";
import { accepts } from "../../domain/leg-machine.ts";
import { notManaged } from "../../refusals.ts";
import { beginReading, endReading } from "../../store/accounts.ts";
import { findDelayedByReading } from "../../store/queues.ts";
import { listUnderWay } from "../../store/legs.ts";
import { type Facts, readFacts, readSharedFacts } from "./read-facts.ts";
import { orUnavailable } from "../unavailable.ts";

/** Maximum time for which a read delays the permits of the login, also when the reading process has crashed. */
const READING_MS = 1_000;
/** Maximum wait of a read for a leg that an earlier read has delayed. */
const MAX_DELAYED_WAIT_MS = 500;
/** Changes by this process end the wait; changes by another process are seen after this time. */
const POLL_MS = 20;

/**
 * Reads an account while no leg is sent, after a reading that differs from its log. `read` may share its
 * requests to the platform with others.
 */
export async function readBetweenLegs(
  deps: Deps,
  login: string,
  read: (login: string) => Promise<Facts> = (each) => readFacts(deps, each),
): Promise<Facts> {
  const token = randomUUID();
  await awaitDelayedLeg(deps, login);
  if (!(await beginReading(deps.pool, login, token, READING_MS))) {
    throw notManaged(login);
  }
  try {
    await awaitAnswers(deps, login);
    return await orUnavailable(read(login));
  } finally {
    await endReading(deps.pool, login, token);
    deps.loginSignals.notify(login);
    deps.legsSignal.notify();
  }
}

/** Waits for a leg that an earlier read has delayed, so that consecutive reads delay a leg at most once. */
async function awaitDelayedLeg(deps: Deps, login: string): Promise<void> {
  const byMs = performance.now() + MAX_DELAYED_WAIT_MS;
  while (performance.now() < byMs && (await findDelayedByReading(deps.pool, login)) !== undefined) {
    deps.legsSignal.notify();
    await deps.loginSignals.wait(login, POLL_MS);
  }
}

/** Waits for open sends. A leg with a lost answer is not waited for: the facts show whether it was applied. */
async function awaitAnswers(deps: Deps, login: string): Promise<void> {
  const byMs = performance.now() + READING_MS / 2;
  while (performance.now() < byMs) {
    const underWay = await listUnderWay(deps.pool, login);
    if (!underWay.some(({ status }) => accepts(status, "lost"))) return;
    await deps.loginSignals.wait(login, POLL_MS);
  }
}

type Reader = Deps & { readonly holds: { readonly facts: GatheredRead<string, Facts> } };

/** The account on the platform and the sum of its log. A reading that does not agree is repeated while no leg of this service is sent. */
export async function readAgreeing(deps: Reader, login: string): Promise<ReadAccountResponse> {
  const reading = await readOnce(deps, login);
  if (reading.complete) return reading;
  const platformAt = await deps.mt5.platformNow();
  const read = (each: string) => readSharedFacts(deps, deps.holds.facts, each);
  return readingOf(await readBetweenLegs(deps, login, read), platformAt);
}

/** The same, while legs may be sent: one that is executed meanwhile shows as a difference. */
export async function readOnce(deps: Reader, login: string): Promise<ReadAccountResponse> {
  const platformAt = await deps.mt5.platformNow();
  return readingOf(await readSharedFacts(deps, deps.holds.facts, login), platformAt);
}

function readingOf({ balanceMinor, log, positions, isComplete }: Facts, platformAt: Date): ReadAccountResponse {
  return {
    balance: moneyToProto(usd(balanceMinor)),
    logBalance: moneyToProto(log.balance),
    logNumber: log.number,
    positions: positions.map(({ ticket, symbol, volume, profitMinor, swapMinor }) => ({
      positionId: ticket,
      symbol,
      volume,
      profit: moneyToProto(usd(profitMinor)),
      swap: moneyToProto(usd(swapMinor)),
    })),
    // Amounts that are not dollars and cents equal no log: nothing is decided with them.
    complete: isComplete && !log.isOtherCurrency,
    oldPrices: [],
    platformAt,
    lastDealAt: log.lastDealAt ?? undefined,
  };
}
