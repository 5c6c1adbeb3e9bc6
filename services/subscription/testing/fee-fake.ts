import type { Pool } from "pg";
import { readDatabase } from "#kernel/postgres/database-identity.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import type {
  ConfigureRequest,
  DueItem,
  FeeServiceService,
  FindTermsRequest,
  InvestorTerms,
  RecordAnswersRequest,
  RecordFeesRequest,
  RecordFeesResponse,
} from "#proto/pamm/fee/v1/fee.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type TransferRequest, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import type { PlatformFake } from "#test/support/platform-fake/platform-fake.ts";

/** Amount in cents. */
export type Due = { readonly key: string; readonly amount: bigint };

/** The Master to whom the debts of the fake are owed. */
export const OWED_TO = "59999";

/** Key of the transfer that collects a debt for a departure. */
export function debtKey(investorLogin: string, departureKey: string): string {
  return `fee:${investorLogin}:${OWED_TO}:DEBT:${departureKey}`;
}

type Recorded = { readonly request: RecordFeesRequest; readonly items: DueItem[] };

export type FeeFake = {
  readonly client: Client<FeeServiceService>;
  readonly configured: ConfigureRequest[];
  /** What was recorded for withdrawals and exits, by their keys. */
  readonly recorded: Map<string, Recorded>;
  /** Pages of closed weeks, in the sequence in which they came, repeated ones too. */
  readonly weeks: RecordFeesRequest[];
  readonly rules: {
    /** What an Investor owes, in cents, until a departure has taken it. */
    debt: (investorLogin: string) => bigint;
    /** Fees of closed weeks that are not debited yet, besides the recorded ones. */
    openWeekly: (investorLogin: string) => readonly Due[];
    /** The rate until the first change, in parts per million. */
    ratePpm: number;
    changes: readonly { readonly from: Date; readonly ratePpm: number }[];
    isStopped: boolean;
    isDown: boolean;
    /** Collections leave their fees until it is empty. */
    archivedPaymentAccount: string;
  };
};

type World = {
  readonly platform: PlatformFake;
  readonly pool: Pool;
};

/** A stand-in of the fee service: tests say what Investors owe. A decision is recorded once, and each item has a transfer until its debit has an outcome. */
export function feeFake(world: World): FeeFake {
  const configured: ConfigureRequest[] = [];
  const books: Books = { recorded: new Map(), weeks: [], rules: defaultRules(), paid: new Map(), left: new Set() };
  const { recorded, weeks, rules, left } = books;
  const reach = (): void => {
    if (rules.isDown) throw new Refusal({ code: "service_unavailable", status: "unavailable", message: "down" });
  };
  const client = {
    async getWaitingFees() {
      reach();
      const { archivedPaymentAccount: login } = rules;
      const items = [...left].flatMap((key) => recorded.get(key)?.items ?? []);
      if (login === "" || items.length === 0) return { amount: undefined, since: undefined, paymentAccountLogin: "" };
      const amount = items.reduce((sum, each) => sum + (each.amount?.minorUnits ?? 0n), 0n);
      return { amount: moneyToProto(usd(amount)), since: new Date(), paymentAccountLogin: login };
    },
    async configure(request: ConfigureRequest) {
      if (!configured.some(({ key }) => key === request.key)) configured.push(request);
      const { key: _key, ...rest } = request;
      return { ...rest, createdAt: request.effectiveSince, updatedAt: request.effectiveSince };
    },
    async findTerms({ investors: wanted }: FindTermsRequest) {
      reach();
      const askedAt = new Date();
      const investors = wanted.map(({ investorLogin, since }) => ({ ...termsOf(books, investorLogin), since }));
      // Its schema has a file of its own.
      const database = (await readDatabase(world.pool)).replace(/\d+$/, "0");
      return { database, isStopped: rules.isStopped, investors, askedAt };
    },
    async recordFees(request: RecordFeesRequest) {
      reach();
      const { items } = recordOnce(books, request);
      const login = request.investors[0]?.investorLogin ?? "";
      const open = items.filter(({ key }) => !isOver(world, key));
      return {
        items,
        endedKeys: [],
        transfers: open.map((each) => transferOf(world, rules, login, each)),
        stopped: false,
      };
    },
    async recordAnswers({ fees }: RecordAnswersRequest) {
      reach();
      const isLeft = fees.some(({ answer }) => answer?.answer?.$case === "refusal");
      const [key = ""] = [...recorded].find(([, { items }]) => items.some((each) => each.key === fees[0]?.key)) ?? [];
      if (isLeft) left.add(key);
      return {};
    },
  };
  return { client: client as unknown as Client<FeeServiceService>, configured, recorded, weeks, rules };
}

type Books = Pick<FeeFake, "recorded" | "weeks" | "rules"> & {
  /** Debts that departures have taken, by Investor. */
  readonly paid: Map<string, bigint>;
  /** Keys of collections that wait for an account. */
  readonly left: Set<string>;
};

function defaultRules(): FeeFake["rules"] {
  const none = { isStopped: false, isDown: false, archivedPaymentAccount: "" };
  return { debt: () => 0n, openWeekly: () => [], ratePpm: 0, changes: [], ...none };
}

function isOver({ platform }: World, key: string): boolean {
  const state = platform.byKey.get(key)?.result.legs[0]?.state;
  return state === TransferState.APPLIED || state === TransferState.REFUSED;
}

/** Each recorded one once, also when it was collected. */
function openWeekly({ rules, weeks }: Books, login: string): Due[] {
  const investors = weeks.flatMap((page) => page.investors).filter(({ investorLogin }) => investorLogin === login);
  const recorded = investors.flatMap(({ due }) => due.map(({ key, amountMinor }) => ({ key, amount: amountMinor })));
  return [...rules.openWeekly(login), ...new Map(recorded.map((each) => [each.key, each])).values()];
}

function termsOf(books: Books, investorLogin: string): InvestorTerms {
  const { rules, paid } = books;
  const owed = rules.debt(investorLogin) - (paid.get(investorLogin) ?? 0n);
  const debts = owed > 0n ? [{ masterLogin: OWED_TO, amountMinor: owed, since: OWED_SINCE }] : [];
  const weekly = openWeekly(books, investorLogin).map(({ key, amount }) => item(key, amount, true));
  const steps = [{ from: undefined, ratePpm: rules.ratePpm }, ...rules.changes].map((step, index) => {
    return { ...step, enabled: true, versionId: BigInt(index + 1) };
  });
  return { investorLogin, since: undefined, steps, updatedAt: undefined, debts, prepaid: [], openWeekly: weekly };
}

function recordOnce(books: Books, request: RecordFeesRequest): Pick<RecordFeesResponse, "items"> {
  const { recorded, weeks, paid } = books;
  if (request.key === "") {
    weeks.push(request);
    return { items: [] };
  }
  const known = recorded.get(request.key);
  if (known !== undefined) return known;
  const items = request.investors.flatMap(({ investorLogin, openWeeklyKeys, due }) => {
    const debts = due.filter(({ kind }) => kind === "PF_DEBT");
    const taken = debts.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
    paid.set(investorLogin, (paid.get(investorLogin) ?? 0n) + taken);
    const weekly = openWeekly(books, investorLogin).filter(({ key }) => openWeeklyKeys.includes(key));
    return [
      ...weekly.map(({ key, amount }) => item(key, amount, true)),
      ...due.map(({ key, amountMinor }) => item(key, amountMinor, false)),
    ];
  });
  recorded.set(request.key, { request, items });
  return { items };
}

const OWED_SINCE = new Date("2026-01-01T00:00:00Z");

function item(key: string, amount: bigint, isWeekly: boolean): DueItem {
  return { key, amount: moneyToProto(usd(amount)), isWeekly };
}

function transferOf(
  { platform }: World,
  rules: FeeFake["rules"],
  login: string,
  { key, amount }: DueItem,
): TransferRequest {
  const debit = { login, kind: MovementKind.FEE_DEBIT, amount: moneyToProto(usd(-(amount?.minorUnits ?? 0n))) };
  const { archivedPaymentAccount: archived } = rules;
  if (archived !== "") platform.ledger.archived.add(archived);
  const credit = { login: archived, kind: MovementKind.FEE_CREDIT, amount };
  return {
    key,
    lockOwner: "",
    legs: archived === "" ? [debit] : [debit, credit],
    upTo: undefined,
    enqueue: false,
    comment: "",
    sendBefore: undefined,
    releaseLock: false,
  };
}
