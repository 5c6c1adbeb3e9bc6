import fc from "fast-check";
import { allocateDeal, type PoolDeal } from "../domain/pool/allocate-deal.ts";
import { type Raised, raiseNegative } from "../domain/pool/raise-negative.ts";
import { type Mark, strikePool, valuePositions } from "../domain/pool/strike-pool.ts";
import { leaveUnits, takeOut } from "../domain/pool/take-out.ts";
import { EMPTY_POOL, OWN_CAPITAL, type UnitPool } from "../domain/pool/unit-pool.ts";
import { aDeal, holdingOf, withDeposit } from "./pools.ts";

/** An event of a Master. Values that are invalid in the present state are adjusted, so that most generated events apply. */
export type PoolEvent =
  | { readonly kind: "prices"; readonly floating: readonly bigint[] }
  | {
      readonly kind: "deal";
      readonly deal: PoolDeal["kind"];
      readonly positionId: bigint;
      readonly volume: bigint;
      readonly result: bigint;
    }
  | { readonly kind: "deposit"; readonly subscriptionId: bigint; readonly amount: bigint }
  | { readonly kind: "takeOut"; readonly subscriptionId: bigint; readonly percent: bigint }
  | { readonly kind: "compensate"; readonly amount: bigint }
  | { readonly kind: "strike" }
  | { readonly kind: "value" }
  | { readonly kind: "flatten" }
  | { readonly kind: "leave"; readonly subscriptionId: bigint };

/** The books of the pool, and the marks of the trading platform. */
export type History = { readonly pool: UnitPool; readonly marks: readonly Mark[] };

export type AppliedEvent = {
  readonly event: PoolEvent;
  readonly before: History;
  readonly after: History;
  /** Set for compensations only. */
  readonly raised?: Raised;
  /** Net inflow of the pool (pooled and waiting, own capital included), in cents. */
  readonly cash: bigint;
};

type Trade = PoolEvent & { readonly kind: "deal" };

const START: History = { pool: EMPTY_POOL, marks: [] };
const POSITIONS = 3;
const INVESTORS = 5n;

/** Small amounts are generated as often as large ones, because they show rounding errors. */
const anAmount = fc.oneof(fc.bigInt(-50n, 50n), fc.bigInt(-200_000n, 200_000n));
const subscriptionId = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt(1n, INVESTORS) },
  { weight: 1, arbitrary: fc.constant(OWN_CAPITAL) },
);
const prices = fc.record({
  kind: fc.constant("prices" as const),
  floating: fc.array(anAmount, { minLength: POSITIONS, maxLength: POSITIONS }),
});
const deal = fc.record({
  kind: fc.constant("deal" as const),
  deal: fc.constantFrom("entry", "entry", "exit", "exit", "reversal", "charge"),
  positionId: fc.bigInt(1n, BigInt(POSITIONS)),
  volume: fc.bigInt(1n, 7n),
  result: anAmount,
});
const deposit = fc.record({ kind: fc.constant("deposit" as const), subscriptionId, amount: fc.bigInt(1n, 300_000n) });
const outflow = fc.record({
  kind: fc.constant("takeOut" as const),
  subscriptionId,
  percent: fc.constantFrom(1n, 20n, 37n, 100n, 130n),
});

export const anEvent: fc.Arbitrary<PoolEvent> = fc.oneof(
  { weight: 3, arbitrary: prices },
  { weight: 8, arbitrary: deal },
  { weight: 4, arbitrary: deposit },
  { weight: 3, arbitrary: outflow },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("compensate" as const), amount: fc.bigInt(1n, 200_000n) }),
  },
  { weight: 4, arbitrary: fc.constant({ kind: "strike" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "value" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "flatten" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave" as const), subscriptionId }) },
);

/** Applies events in order, and calls `check` after each. */
export function applyAll(
  events: readonly PoolEvent[],
  check: (applied: AppliedEvent) => void = () => undefined,
): History {
  let history = START;
  for (const event of events) {
    for (const applied of applyEvent(history, event)) {
      check(applied);
      history = applied.after;
    }
  }
  return history;
}

/** Applies one event: none when it is not possible in the present state, one trade for each position that it closes. */
export function applyEvent(before: History, event: PoolEvent): AppliedEvent[] {
  const { pool, marks } = before;
  const applied = (after: Partial<History>, cash = 0n): AppliedEvent[] => [
    { event, before, after: { ...before, ...after }, cash },
  ];
  switch (event.kind) {
    case "prices":
      return applied({ marks: marks.map((mark, index) => ({ ...mark, floating: event.floating[index] ?? 0n })) });
    case "deposit":
      return applied({ pool: withDeposit(pool, event.subscriptionId, event.amount) }, event.amount);
    case "takeOut": {
      // Only a dealer can take more than there is.
      const percent = event.subscriptionId === OWN_CAPITAL || event.percent < 100n ? event.percent : 100n;
      const amount = (holdingOf(pool, event.subscriptionId).pooled * percent) / 100n;
      return amount <= 0n ? [] : applied({ pool: takeOut(pool, event.subscriptionId, amount) }, -amount);
    }
    case "compensate":
      return [compensate(before, event)];
    case "strike":
      return applied({ pool: strikePool(pool, marks) });
    case "value":
      return applied({ pool: valuePositions(pool, marks) });
    case "deal":
      return [trade(before, event)];
    case "flatten":
      return flatten(before);
    case "leave":
      return leave(before, event);
  }
}

function trade(before: History, event: Trade): AppliedEvent {
  const { pool, marks } = before;
  const mark = marks.find(({ positionId }) => positionId === event.positionId) ?? noMark(event.positionId);
  const deal = adjustDeal(event, mark.volume);
  const now = afterDeal(mark, deal);
  const others = marks.filter((each) => each !== mark);
  const after = { pool: allocateDeal(pool, deal).pool, marks: now.volume === 0n ? others : [...others, now] };
  return { event, before, after, cash: event.result };
}

function compensate(before: History, event: PoolEvent & { kind: "compensate" }): AppliedEvent {
  const raised = raiseNegative(before.pool, event.amount);
  const result = event.amount - raised.total;
  const { pool } = allocateDeal(raised.pool, aDeal({ kind: "charge", result }));
  return { event, before, after: { ...before, pool }, raised, cash: event.amount };
}

function noMark(positionId: bigint): Mark {
  return { positionId, volume: 0n, floating: 0n };
}

/** Adjusts a deal: the first deal of a position is an entry, and no exit closes more than is open. */
function adjustDeal(event: Trade, open: bigint): PoolDeal {
  const kind = open === 0n && event.deal !== "charge" ? "entry" : event.deal;
  const deal = { kind, positionId: event.positionId, result: event.result };
  const exited = event.volume < open ? event.volume : open;
  if (kind === "exit") return aDeal({ ...deal, volume: exited });
  if (kind === "reversal") return aDeal({ ...deal, volume: open + event.volume, volumeClosed: open });
  return aDeal({ ...deal, volume: event.volume });
}

/** The floating result shrinks with the position; the new side of a reversal begins at 0. */
function afterDeal(mark: Mark, { kind, volume, volumeClosed }: PoolDeal): Mark {
  switch (kind) {
    case "charge":
      return mark;
    case "entry":
      return { ...mark, volume: mark.volume + volume };
    case "reversal":
      return { ...mark, volume: volume - volumeClosed, floating: 0n };
    case "exit": {
      const left = mark.volume - volumeClosed;
      return { ...mark, volume: left, floating: (mark.floating * left) / mark.volume };
    }
  }
}

function flatten(before: History): AppliedEvent[] {
  const trades: AppliedEvent[] = [];
  let now = before;
  for (const { positionId, volume, floating } of before.marks) {
    const applied = trade(now, { kind: "deal", deal: "exit", positionId, volume, result: floating });
    trades.push(applied);
    now = applied.after;
  }
  return trades;
}

/** An Investor leaves with its whole share, at a flat Master only. */
function leave(before: History, event: PoolEvent & { kind: "leave" }): AppliedEvent[] {
  const settled = before.marks.length === 0 ? strikePool(before.pool, []) : before.pool;
  const holding = holdingOf(settled, event.subscriptionId);
  if (before.marks.length > 0 || holding.pooled < 0n || !settled.holdings.includes(holding)) return [];
  const redeemed = strikePool(takeOut(settled, event.subscriptionId, holding.pooled), []);
  const after = { ...before, pool: leaveUnits(redeemed, event.subscriptionId) };
  return [{ event, before, after, cash: -holding.pooled }];
}
