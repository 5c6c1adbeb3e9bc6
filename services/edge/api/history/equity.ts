import assert from "node:assert/strict";
import { moneyFromProto, moneyToProto } from "#kernel/contract/money.ts";
import { MAX_AMOUNT } from "#kernel/values/money.ts";
import type { Error as RefusalMessage } from "#proto/pamm/common/v1/error.ts";
import type { PreviewWithdrawResponse } from "#proto/pamm/funding/v1/funding.ts";
import type { GetEquityResponse, HoldingValue } from "#proto/pamm/subscription/v1/subscription.ts";
import {
  bool,
  decimal,
  integer,
  list,
  model,
  modelOrNull,
  nullableDecimal,
  nullableInteger,
} from "../../fields/field.ts";
import { at, ofWhole, shown, within } from "../../fields/message.ts";
import {
  currencyReply,
  idReply,
  investorLoginReply,
  masterLoginReply,
  moneyReply,
  nullableTimeReply,
  timeReply,
  unitsReply,
} from "../../fields/reply-fields.ts";
import { route } from "../../http/route.ts";
import { refuse } from "../../problems/refusals.ts";
import { problemCode, problemCodeOf } from "../schemas/problem-sets.ts";
import { investorLogin } from "../schemas/request-fields.ts";
import { centsNumber, E8_SCALE, e8Number, scaledNumber } from "../../wire/number.ts";

const E8_PER_CENT = 1_000_000n;

const ShareReply = model("PoolShare", "The share of an Investor in the pool of its Master.", {
  master_login: masterLoginReply(),
  subscription_id: idReply("Id of the subscription.", 4),
  pooled: moneyReply("Money that works in the pool.", 1000),
  joining: moneyReply("Money on its way to the Master, or there and without units yet: it shares in no result.", 0),
  units: unitsReply("Units of the Investor."),
  pool_units: unitsReply("All units of the pool, those of own capital of the Master included.", 6000),
  nav_per_unit: ofWhole(
    nullableDecimal({
      description: "Value of a unit with the open positions as they are now; null while there are no units.",
      example: 1.45,
    }),
    navOf,
  ),
  open_positions: integer({ description: "Open positions of the Master.", example: 1 }),
  as_of_deal_id: at(
    "dealId",
    nullableInteger({
      description: "Ticket of the last deal of the Master whose result is allocated; null before the first.",
      example: 1_234_567,
    }),
  ),
  as_of_deal_at: at("dealAt", nullableTimeReply("Time of that deal; null before the first.")),
});

/** What subscription knows, and how a withdrawal of everything would be decided. */
type Facts = GetEquityResponse & { readonly withdrawal: PreviewWithdrawResponse };

/** An amount that follows from several members. */
const cents = (description: string, example: number, amountOf: (facts: Facts) => bigint) =>
  ofWhole(moneyReply(description, example), (facts: Facts) => centsNumber(amountOf(facts)));

export const EquityReply = model("Equity", "What an Investor owns, and what of it is free.", {
  investor_login: investorLoginReply(),
  as_of: timeReply("When the open positions were read; `pool` names the last deal that the books contain."),
  currency: currencyReply,
  balance: moneyReply("Balance of the account, by its journal.", 1000),
  unposted_result: at("unposted", moneyReply("Allocated results that are not on the account yet; signed.", 0)),
  floating_share: cents("Share of the result of the Master's open positions; signed.", 450, floatingOf),
  equity: cents("Balance, results that are not posted, and share of the floating result, before fees.", 1450, ownedOf),
  external_funds: at(
    "quarantined",
    moneyReply("Part of the balance that this service did not book and operators have to decide about; signed.", 0),
  ),
  pending_fee: moneyReply("Performance fee that would be charged now, debts included; an open loss lowers it.", 0),
  debt: moneyReply("Fees that were charged and could not be collected yet, to all Masters.", 0),
  high_water_mark: at(
    "markE8",
    shown(
      decimal({
        description:
          "High-water mark on the sum of the results with this Master, which deposits and withdrawals do not change; 0 outside a pool.",
        example: 0,
      }),
      (markE8: bigint) => e8Number(markE8),
    ),
  ),
  free_to_withdraw: cents("What a withdrawal would pay out now: 0 while it would be refused.", 0, freeNow),
  free_when_flat: cents(
    "What a withdrawal would pay out if the Master closed all positions at their present results: at least 0. `free_to_withdraw` when none is open; 0 while a withdrawal would be refused for anything but open positions.",
    1330,
    freeWhenFlat,
  ),
  ...within("withdrawal", {
    withdrawal_blocked_by: at(
      "refusals",
      list(shown(problemCode.known("Problem code of a withdrawal.", "master_open_positions"), codeOf), {
        description: "Why a withdrawal would be refused now, all reasons at once; empty when it would not.",
      }),
    ),
  }),
  in_pool: ofWhole(
    bool({ description: "Whether the Investor is in a pool.", example: true }),
    ({ holding }: Facts) => holding !== undefined,
  ),
  pool: at("holding", modelOrNull(ShareReply, "Its share of the pool; null outside one.")),
});

function floatingOf({ holding }: Facts): bigint {
  return roundToCents(holding?.floatingE8 ?? 0n);
}

function ownedOf(facts: Facts): bigint {
  return moneyFromProto(facts.balance).minor + moneyFromProto(facts.unposted).minor + floatingOf(facts);
}

/** Without figures the account or its fee could not be read, and the withdrawal would be refused for that. */
function freeNow({ withdrawal: { refusals, figures } }: Facts): bigint {
  if (refusals.length > 0) return 0n;
  assert(figures !== undefined, "a withdrawal that would be executed has figures");
  return moneyFromProto(figures.availableAfterFee).minor;
}

/** As a withdrawal is decided, with what floats realised and with the fee on it. */
function freeWhenFlat(facts: Facts): bigint {
  const { feeWhenFlat, quarantined, withdrawal } = facts;
  const { refusals, figures } = withdrawal;
  if (refusals.length === 0) return freeNow(facts);
  if (figures === undefined || refusals.some(({ code }) => code !== "master_open_positions")) return 0n;
  const before = moneyFromProto(figures.balanceBefore).minor + floatingOf(facts);
  return floorAtZero(before - moneyFromProto(feeWhenFlat).minor - floorAtZero(moneyFromProto(quarantined).minor));
}

function floorAtZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function codeOf({ code }: RefusalMessage): string {
  return problemCodeOf(code);
}

function navOf({ poolUnits, poolValueE8 }: HoldingValue) {
  const units = BigInt(poolUnits);
  return units === 0n ? null : scaledNumber((BigInt(poolValueE8) * 10n ** 16n) / units, 2 * E8_SCALE, E8_SCALE);
}

/** To the nearest cent, half up, as everywhere where a share is shown. */
function roundToCents(e8: bigint): bigint {
  const doubled = 2n * e8 + E8_PER_CENT;
  const quotient = doubled / (2n * E8_PER_CENT);
  return doubled < 0n && doubled % (2n * E8_PER_CENT) !== 0n ? quotient - 1n : quotient;
}

/** The two services are asked one after the other: what was booked meanwhile is asked again. */
const MAX_READS = 3;

export const getEquity = route("GET /api/v1/info/investor/:investor_login/equity", {
  scope: "investors:read",
  summary: "Get what an Investor owns",
  description:
    "Balance, share of what floats now, pending fee, high-water mark, debt, what is free to withdraw, and the units in the pool of the Master, all of one state of the books. `free_to_withdraw` is decided as a withdrawal decides it, and `free_when_flat` as if the Master closed its positions now. 409 `allocation_in_progress` while the Master trades faster than its deals are booked: nothing is shown rather than amounts of different instants.",
  returns: "What the Investor owns.",
  params: { investor_login: investorLogin },
  reply: EquityReply,
  refusals: ["investor_not_found", "allocation_in_progress", "platform_unavailable", "safety_stop"],

  async call({ subscriptions, funding }, request, context) {
    const wanted = { login: request.investorLogin, amount: moneyToProto(MAX_AMOUNT), comment: "", client: undefined };
    let before = await subscriptions.getEquity(request, context);
    for (let reads = 0; reads < MAX_READS; reads += 1) {
      // Refuses an unknown Investor.
      const withdrawal = await funding.previewWithdraw(wanted, context);
      const equity = await subscriptions.getEquity(request, context);
      if (bookedOf(before) === bookedOf(equity)) return { ...equity, withdrawal };
      before = equity;
    }
    throw refuse("allocation_in_progress", "The account changed in each reading. Send the request again in a second.");
  },
});

/** Whatever is booked in between shows in one of these; the floating result may differ. */
function bookedOf({ balance, unposted, quarantined, holding }: GetEquityResponse): string {
  const amounts = [balance, unposted, quarantined, holding?.pooled, holding?.joining].map(
    (amount) => amount?.minorUnits,
  );
  return [...amounts, holding?.allocationNumber, holding?.units].join();
}
