import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { inBatches } from "#kernel/batches/in-batches.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { fragment } from "#kernel/postgres/query.ts";
import { abs, type Check, type Finding } from "#kernel/reconcile/check.ts";
import { walkingCheck } from "#kernel/reconcile/walk.ts";
import type { FindTransfersRequest, FindTransfersResponse } from "#proto/pamm/common/v1/ownership.ts";
import type { Deps } from "../deps.ts";
import { type Requester, requesterOf, REQUESTERS } from "./requester.ts";
import { type LegRow, listAccepted, listLegs, listReviewLegs } from "./find-transfers.ts";

const KEY = "transfer";
const TABLES = { transfer: { name: "transfer", rows: fragment`transfer`, id: fragment`id` } };
/** The time of one call; a service finds a page of keys by an index. */
const CALL_MS = 5_000;
/** A reversal of the first leg, which platform orders itself when the second one is refused. */
const REVERSAL = 3;

/** The services that request transfers, and their answer to which of some keys are theirs. */
export type Requesters = Readonly<
  Record<Requester, (request: FindTransfersRequest, context: CallContext) => Promise<FindTransfersResponse>>
>;

export type OwnershipDeps = Pick<Deps, "pool" | "settings"> & { readonly requesters: Requesters };

/** All legs of one transfer. */
type Transfer = { readonly id: bigint; readonly key: string; readonly legs: readonly LegRow[] };
/**
 * A leg as it is recorded, or as the row behind its transfer says. Cents, signed; undefined when its service no longer has the amount, because it
 * has compared the log entry with it.
 */
type ComparedLeg = { readonly login: string; readonly kind: string; readonly amountMinor: bigint | undefined };

/** By key: the legs as the service of the key, or a review, has recorded them. */
type OwnedLegs = ReadonlyMap<string, readonly ComparedLeg[]>;

/**
 * transfer_ownership. Each transfer has its row at the service that its key names, with the same accounts, kinds and amounts. A service
 * commits the row before it requests the transfer and does not change these values, so it is asked after the snapshot, and once.
 */
export function ownership(deps: OwnershipDeps): Check {
  return walkingCheck("transfer_ownership", {
    pool: deps.pool,
    tables: TABLES,
    async examine(db, { transfer: page }, { broken }) {
      const rows = await listLegs(db, page, broken(KEY));
      const ordered = rows.filter(({ key }) => requesterOf(key) === "review");
      const reviewLegs = await listReviewLegs(db, deps.settings.server, ordered);
      const reviewed = Map.groupBy(reviewLegs, ({ key }) => key);
      return { findings: () => compare(deps, transfersOf(rows), reviewed) };
    },
  });
}

function transfersOf(rows: readonly LegRow[]): Transfer[] {
  return Array.from(
    Map.groupBy(rows, ({ id }) => id),
    ([id, legs]) => ({ id, key: legs[0]?.key ?? "", legs }),
  );
}

async function compare(deps: OwnershipDeps, transfers: readonly Transfer[], reviewed: OwnedLegs): Promise<Finding[]> {
  const owned = new Map<string, readonly ComparedLeg[]>();
  for (const answers of await Promise.all(REQUESTERS.map((requester) => ask(deps, requester, transfers)))) {
    for (const [key, legs] of answers) owned.set(key, legs);
  }
  const suspicious = transfers.flatMap((transfer) => {
    const problem = problemOf(transfer, owned, reviewed);
    return problem === undefined ? [] : [{ ...transfer, problem }];
  });
  const accepted = await listAccepted(
    deps.pool,
    suspicious.map(({ id }) => id),
  );
  return suspicious.filter(({ id }) => !accepted.has(id)).map(findingOf);
}

/** One call for each page of keys. */
async function ask(
  { requesters }: OwnershipDeps,
  requester: Requester,
  transfers: readonly Transfer[],
): Promise<OwnedLegs> {
  const keys = transfers.flatMap(({ key }) => (requesterOf(key) === requester ? key : []));
  const legs: (ComparedLeg & { readonly key: string })[] = [];
  for (const page of inBatches(keys, MAX_PAGE_SIZE)) {
    const answer = await requesters[requester]({ keys: page }, callContext({ caller: "platform", withinMs: CALL_MS }));
    for (const { key, login, kind, amount } of answer.legs) {
      legs.push({ key, login, kind, amountMinor: amount && moneyFromProto(amount).minor });
    }
  }
  return Map.groupBy(legs, ({ key }) => key);
}

function problemOf({ key, legs }: Transfer, owned: OwnedLegs, reviewed: OwnedLegs): string | undefined {
  const requested = legs.filter(({ ordinal }) => ordinal < REVERSAL);
  const compared = requested.map(({ login, kind, requestedMinor: amountMinor }) => ({ login, kind, amountMinor }));
  const unexpected = legs.some((leg) => leg.ordinal === REVERSAL && !reverses(leg, legs));
  if (unexpected) return "its reversal does not belong to its first leg";
  switch (requesterOf(key)) {
    case undefined:
      return "no service requests transfers with such a key";
    case "import":
      return requested.every(({ isImported }) => isImported) ? undefined : "it was sent under a key of imported deals";
    case "review": {
      const allowed = reviewed.get(key) ?? [];
      const same = allowed.filter(({ amountMinor }) => amountMinor === compared[0]?.amountMinor);
      const [leg] = [...same, ...allowed];
      const difference = differenceOf(compared, leg === undefined ? [] : [leg], { comparesAmounts: true });
      return difference && "no decided review has ordered this reversal";
    }
    default: {
      // What was executed before the database was restored may differ from what is planned again.
      const comparesAmounts = requested[0]?.isImported !== true;
      return differenceOf(compared, owned.get(key) ?? [], { comparesAmounts });
    }
  }
}

function reverses(reversal: LegRow, legs: readonly LegRow[]): boolean {
  const first = legs.find(({ ordinal }) => ordinal === 1);
  return reversal.login === first?.login && reversal.amountMinor === -first.amountMinor;
}

/** What differs between a transfer and the row that it was requested for; undefined when nothing does. */
function differenceOf(
  recorded: readonly ComparedLeg[],
  owned: readonly ComparedLeg[],
  { comparesAmounts }: { readonly comparesAmounts: boolean },
): string | undefined {
  if (owned.length === 0) return "its service has no row for its key";
  if (owned.length !== recorded.length) return "its service has recorded another number of legs";
  const pairs = recorded.map((leg, index) => [leg, owned[index]] as const);
  if (pairs.some(([leg, own]) => leg.login !== own?.login)) return "its service has recorded another account";
  if (pairs.some(([leg, own]) => leg.kind !== own?.kind)) return "its service has recorded another kind of movement";
  const isOther =
    comparesAmounts &&
    pairs.some(([leg, own]) => own?.amountMinor !== undefined && leg.amountMinor !== own.amountMinor);
  return isOther ? "its service has recorded another amount" : undefined;
}

/** The evidence has what is needed to stop every account that the transfer concerns. */
function findingOf({ id, key, legs, problem }: Transfer & { readonly problem: string }): Finding {
  const [first] = legs;
  const master = legs.find(({ role }) => role === "master");
  return {
    key: `${KEY}:${id}`,
    login: first?.login ?? "",
    masterLogin: master?.login ?? "",
    atRiskMinor: legs
      .map((leg) => abs(leg.requestedMinor))
      .reduce((largest, size) => (size > largest ? size : largest), 0n),
    operationIds: legs.map(({ number }) => String(number)),
    dealIds: legs.flatMap(({ dealId }) => dealId ?? []),
    message: `Transfer ${id}: ${problem}.`,
    evidence: {
      transfer_id: String(id),
      key,
      legs: legs.map(({ ordinal, login, kind, requestedMinor }) => ({
        leg: ordinal,
        login,
        kind,
        requested_minor: String(requestedMinor),
      })),
    },
  };
}
