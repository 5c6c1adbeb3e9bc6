import { type Operation, OperationAction, OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { AccountRole, MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { aMaster, aMasterProfile } from "../../../services/edge/api/samples/account.ts";
import { anAbsentAttempt, anAttempt } from "../../../services/edge/api/samples/attempts.ts";
import { aListedKey } from "../../../services/edge/api/samples/edge.ts";
import { anOperation } from "../../../services/edge/api/samples/funding.ts";
import {
  aBreak,
  aCheck,
  aReview,
  aReviewGroup,
  aReviewOfCharge,
  granted,
  thePermits,
} from "../../../services/edge/api/samples/ops.ts";
import { anAccountProof, aProof } from "../../../services/edge/api/samples/subscription.ts";
import { cents } from "../../../services/edge/api/samples/values.ts";
import { DIST } from "../../../services/edge/http/static/manifest.ts";
import { refuse } from "../../../services/edge/problems/refusals.ts";
import { type TestEdge, testEdge, type TestOptions } from "../../../services/edge/testing/test-edge.ts";

/** Script in every text that a caller can store. */
export const HOSTILE = `"><img src=x onerror="globalThis.attacked=1"><script>globalThis.attacked=2</script>=HYPERLINK("x")`;

/** How much there is of everything. */
export type Amounts = {
  readonly masters: number;
  readonly operations: number;
  readonly cases: number;
  /** Stored by callers; script when it is missing. */
  readonly text?: string;
  /** Money commands are held after a restore. */
  readonly isHeld?: boolean;
};

export const SOME = { masters: 5, operations: 40, cases: 3 };

const OPERATION = "019b7ca9-8eec-7000-8000-000000000000";
/** An address of each page. */
export const PAGES = [
  "overview",
  "operations",
  `operations/${OPERATION}`,
  "reviews",
  "reviews/subscription-1",
  "reviews/groups/subscription-0123456789abcdef01234567",
  "breaks",
  "breaks/subscription-1",
  "keys",
];

const BEGIN = Date.UTC(2026, 0, 31, 12);

/** The real edge, in front of services that have as much as is asked for. */
export function consoleEdge(
  { masters, operations, cases, text = HOSTILE, isHeld = false }: Amounts,
  options: TestOptions = {},
): Promise<TestEdge> {
  const checks = ["deal_matching", "platform_balance", "transfer_legs"].map((name, index) =>
    aCheck({ name, openBreaks: index === 0 ? cases : 0, stale: index === 2 && cases > 0 }),
  );
  const reviews = Array.from({ length: cases }, (_, index) =>
    aReview({
      id: BigInt(index + 1),
      amount: cents(BigInt(index) * 12_345n),
      evidence: JSON.stringify({ why: text, booked_minor: "5000", pool: { holdings: "2", master: "3000001" } }),
    }),
  );
  const ofReviews = reviews.map(({ id, amount }) =>
    aReviewGroup({
      id,
      group: `${id}`.padStart(24, "0"),
      reason: "stopped",
      cause: undefined,
      open: 1,
      amount,
      login: "3000001",
    }),
  );
  const cause = { action: 4, comment: text, day: "2026-01-31" };
  const charges = Array.from({ length: cases === 0 ? 0 : CHARGES.open }, (_, index) =>
    aReviewOfCharge({ id: BigInt(index + 1_000), login: String(3_000_003 + index), cause }),
  );
  const groups = [...ofReviews, ...(cases === 0 ? [] : [{ ...CHARGES, id: 1_000n, cause }])];
  const breaks = Array.from({ length: cases }, (_, index) => aBreak({ id: BigInt(index + 1), message: text }));
  const noCases = {
    listReviews: async () => NONE,
    listReviewGroups: async () => NONE,
    listBreaks: async () => ({ ...NONE, checks: [] }),
  };
  return testEdge({
    accounts: {
      listMasters: async () => ({
        items: Array.from({ length: masters }, (_, index) => profile(index, text)),
        hasMore: false,
      }),
    },
    funding: {
      listOperations: async (request) => pageOf(operations, text, request),
      getOperation: async ({ operationId }) =>
        anOperation({ operationId, comment: text, transferKeys: ["funding:deposit:17"] }),
      getBalance: async ({ login }) => ({ login, balance: cents(25_050n), error: "" }),
      ...noCases,
    },
    subscriptions: {
      listOperations: async () => NONE,
      getOperation: () => Promise.reject(refuse("operation_not_found", "There is no such operation.")),
      findMirrors: async () => NONE,
      getProof: async ({ masterLogin }) =>
        aProof({ masterLogin, master: anAccountProof({ login: masterLogin, inFlight: cents(-12_34n) }) }),
      listReviews: async ({ afterId, limit, group, about }) =>
        group === "" || about !== undefined ? NONE : slice(group === CHARGES.group ? charges : reviews, afterId, limit),
      listReviewGroups: async ({ afterId, limit }) => slice(groups, afterId, limit),
      listBreaks: async ({ afterId, limit, about }) => ({
        ...(about === undefined ? slice(breaks, afterId, limit) : NONE),
        checks,
      }),
    },
    fees: noCases,
    platform: {
      ...noCases,
      listReviews: async ({ afterId, limit }) => slice(isHeld ? [BEHIND] : [], afterId, limit),
      listReviewGroups: async ({ afterId, limit }) => slice(isHeld ? [BEHIND_GROUP] : [], afterId, limit),
      getPermits: async () => (isHeld ? thePermits() : granted),
      listUnshownAccounts: async () => (cases === 0 ? NO_ARCHIVED : ARCHIVED),
      findTransferOfDeal: async () => ({ key: "", kind: MovementKind.UNSPECIFIED }),
      readBalances: async () => ({ items: [] }),
      readTransfers: async () => ({ transfers: [] }),
      readAttempts: async () => ({ attempts: [anAbsentAttempt(), anAttempt({ comment: text })] }),
    },
    keys: {
      list: async () => ({
        keys:
          cases === 0
            ? []
            : [aListedKey({ name: text }), aListedKey({ id: "KeyOfTheCrm1", replacedBy: "KeyOfTheCrm2" })],
        hasMore: false,
        system: undefined,
      }),
    },
    ...options,
    app: { dist: DIST, ...options.app },
  } as TestOptions);
}

const BEHIND = aReview({ id: 7n, reason: "database_behind", evidence: "{}", dealId: 1_234_567n });
const BEHIND_GROUP = aReviewGroup({
  id: 7n,
  reason: "database_behind",
  cause: undefined,
  open: 1,
  amount: undefined,
  lowest: undefined,
  highest: undefined,
});
const CHARGES = aReviewGroup();
const NONE = { items: [], hasMore: false };
const NO_ARCHIVED = { accounts: [], hasMore: false, archived: 0n, unconfirmed: 0n };
const ARCHIVED = {
  accounts: [
    {
      login: "3000002",
      role: AccountRole.PAYMENT,
      unshownSince: new Date("2026-02-03T04:05:06.789Z"),
      archivedAt: undefined,
    },
    {
      login: "3000003",
      role: AccountRole.INVESTOR,
      unshownSince: new Date("2026-01-02T03:04:05.678Z"),
      archivedAt: new Date("2026-02-03T04:05:06.789Z"),
    },
  ],
  hasMore: false,
  archived: 1n,
  unconfirmed: 1n,
};

function profile(index: number, text: string) {
  const login = String(3_000_001 + index);
  return aMasterProfile({
    master: aMaster({ id: BigInt(index + 1), login, name: index === 1 ? text : `Master ${index}` }),
  });
}

type Request = { readonly beforeId: string; readonly limit: number; readonly outcome: OperationOutcome };

const ACTIONS = [OperationAction.DEPOSIT, OperationAction.WITHDRAW, OperationAction.ASSIGN, OperationAction.UNASSIGN];
const RARE = 10;

/** Numbered from the newest. The id of one says when it was requested, and which it is. */
function pageOf(count: number, text: string, { beforeId, limit, outcome }: Request) {
  const isRare = outcome === OperationOutcome.UNKNOWN || outcome === OperationOutcome.PENDING;
  const total = isRare ? Math.min(3, Math.floor(count / RARE)) : count;
  const first = beforeId === "" ? 0 : Number.parseInt(beforeId.slice(-12), 16) + 1;
  const end = Math.min(total, first + limit);
  const items: Operation[] = [];
  for (let index = first; index < end; index += 1) items.push(operationNumber(index, text, outcome));
  return { items, hasMore: end < total };
}

export function operationNumber(index: number, text: string, outcome: OperationOutcome): Operation {
  const at = BEGIN - index * 60_000;
  const digits = at.toString(16).padStart(12, "0");
  const action = ACTIONS[index % ACTIONS.length] ?? OperationAction.DEPOSIT;
  const isMoney = action === OperationAction.DEPOSIT || action === OperationAction.WITHDRAW;
  return anOperation({
    operationId: `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-${index.toString(16).padStart(12, "0")}`,
    action: isMoney ? action : OperationAction.DEPOSIT,
    outcome: outcome === OperationOutcome.UNSPECIFIED ? OperationOutcome.EXECUTED : outcome,
    amount: cents(BigInt(index) * 100n + 50n),
    comment: index % 3 === 0 ? text : `CRM-${index}`,
    createdAt: new Date(at),
    legs: [],
  });
}

function slice<Item extends { readonly id: bigint }>(all: readonly Item[], afterId: bigint, limit: number) {
  const rest = all.filter(({ id }) => id > afterId);
  return { items: rest.slice(0, limit), hasMore: rest.length > limit };
}
