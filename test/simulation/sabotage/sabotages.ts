import type { Invariant } from "../checks/violation.ts";
import type { Mode } from "../plan/plan.ts";

/** One text of the real source, replaced by a wrong one. It has to be there, or the sabotage proves nothing. */
export type Edit = { readonly file: string; readonly find: string; readonly put: string };

export type Sabotage = {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Any of these may be the first to notice. */
  readonly caughtBy: readonly Invariant[];
  /** Where it shows soonest; histories of both kinds when nothing is said. */
  readonly mode?: Mode;
};

const PLATFORM = "services/platform";
const FEED = "services/kernel/feed";

/**
 * Mistakes that somebody could make, one at a time, in the code that decides. Where two lines hold the same thing up, both
 * have to go: then it is not the second line that is missing in the proof.
 */
export const SABOTAGES: readonly Sabotage[] = [
  {
    name: "a permit without lock and compare-and-set",
    edits: [
      { file: `${PLATFORM}/store/accounts.ts`, find: "for no key update", put: "" },
      { file: `${PLATFORM}/store/operations.ts`, find: "for no key update", put: "" },
      {
        file: `${PLATFORM}/store/operations.ts`,
        find: "and state = ${from.standing.state} and attempt = ${from.standing.attempt}",
        put: "",
      },
    ],
    caughtBy: ["P1", "I1", "I6"],
  },
  {
    name: "no look at what is under way, and no partial index",
    edits: [
      {
        file: `${PLATFORM}/store/lines.ts`,
        find: "and number <> place.number\n",
        put: "and number <> place.number and false\n",
      },
      {
        file: `${PLATFORM}/migrations/0001_platform.sql`,
        find: "create unique index operation_under_way",
        put: "create index operation_under_way",
      },
    ],
    caughtBy: ["I6"],
  },
  {
    name: "a command is sent again after a time-out",
    edits: [
      {
        file: `${PLATFORM}/mt5/balance.ts`,
        find: 'const exchanged = await lease.call({ method: "POST", path: "trade/balance", query }, { mayWrite });',
        put: 'const send = () => lease.call({ method: "POST", path: "trade/balance", query }, { mayWrite });\n  let exchanged = await send();\n  if (exchanged.kind === "lost") exchanged = await send();',
      },
      { file: `${PLATFORM}/protocol/permit.ts`, find: "age < PERMIT_MS - PERMIT_MARGIN_MS", put: "age < 60_000" },
    ],
    caughtBy: ["P1", "I1"],
  },
  {
    name: "sent before the permit is committed",
    edits: [
      {
        file: `${PLATFORM}/protocol/send.ts`,
        find: "return grantPermit(tx, await lockForStep(tx, target.login, target.number), asker);",
        put: 'const given = await grantPermit(tx, await lockForStep(tx, target.login, target.number), asker);\n      if (given.kind !== "granted") return given;\n      void sendOnce(deps, given.permit, session);\n      return { kind: "over" };',
      },
    ],
    caughtBy: ["P1"],
  },
  {
    name: "a permit that never runs out",
    edits: [
      {
        file: `${PLATFORM}/protocol/permit.ts`,
        find: "age >= 0 && age < PERMIT_MS - PERMIT_MARGIN_MS",
        put: "age >= 0",
      },
    ],
    caughtBy: ["P1"],
  },
  {
    name: "absence after one scan, in the middle of the quiet period",
    edits: [
      {
        file: `${PLATFORM}/protocol/absence.ts`,
        find: "last.startedAtMs >= times.overMs)",
        put: "last.startedAtMs >= times.halfMs)",
      },
      {
        file: `${PLATFORM}/protocol/absence.ts`,
        find: "if (isCleanTwice(attempt.scans, times.halfMs))",
        put: "if (isCleanTwice(attempt.scans, times.halfMs) || true)",
      },
    ],
    caughtBy: ["I1", "I3"],
  },
  {
    name: "return code 7 is taken for a refusal",
    edits: [
      {
        file: `${PLATFORM}/mt5/retcodes.ts`,
        find: "RETCODE.notFound,\n    ...AUTHENTICATION,\n    RETCODE.tooMuchMoney",
        put: "RETCODE.notFound,\n    7,\n    ...AUTHENTICATION,\n    RETCODE.tooMuchMoney",
      },
    ],
    caughtBy: ["I1", "I3", "R3"],
  },
  {
    name: "an answer without a ticket is taken for a refusal",
    edits: [
      {
        file: `${PLATFORM}/mt5/classify.ts`,
        find: '{ kind: "unknown", reason: "no_ticket" }',
        put: '{ kind: "refused", code: 3 }',
      },
    ],
    caughtBy: ["I1", "I3", "R3"],
  },
  {
    name: "the credit does not wait for its debit",
    edits: [
      {
        file: `${PLATFORM}/protocol/insert-wishes.ts`,
        find: "isReady: isFirst, standing",
        put: "isReady: true, standing",
      },
    ],
    caughtBy: ["I7"],
  },
  {
    name: "an expired permit gives the right to send again",
    edits: [
      {
        file: `${PLATFORM}/jobs/find-lost-operations.ts`,
        find: '{ type: "lost", attempt }',
        put: '{ type: "not_sent", attempt }',
      },
    ],
    caughtBy: ["P1", "I1", "I3", "I6", "I10"],
  },
  {
    name: "a lane is given back by a time-out",
    edits: [
      {
        file: `${PLATFORM}/store/accounts.ts`,
        find: "lane_holder, lane_number, lane_granted_at is not null as is_granted",
        put: "case when lane_granted_at > clock_timestamp() - interval '1 second' then lane_holder end as lane_holder, lane_number, lane_granted_at is not null as is_granted",
      },
    ],
    caughtBy: ["I6"],
  },
  {
    name: "a lane that lets others pass",
    edits: [
      {
        file: `${PLATFORM}/protocol/grant-permit.ts`,
        find: "return lane === undefined ||",
        put: "return true || lane === undefined ||",
      },
    ],
    caughtBy: ["I6"],
  },
  {
    name: "a deal that only the amount tells is nobody's",
    edits: [
      {
        file: `${PLATFORM}/protocol/evidence.ts`,
        find: "readReference(deal.comment) === undefined\n",
        put: "readReference(deal.comment) === undefined && false\n",
      },
    ],
    caughtBy: ["I1", "I3", "R3"],
  },
  {
    name: "a history that could not be read is taken for an empty one",
    edits: [
      {
        file: `${PLATFORM}/protocol/scan-operation.ts`,
        find: "if (error instanceof Mt5Error) return undefined;",
        put: 'if (error instanceof Mt5Error) return { verdict: { kind: "clean" }, deals: [] };',
      },
    ],
    caughtBy: ["I1", "I3"],
    mode: "safety",
  },
  {
    name: "a second deal of an operation is passed over in silence",
    edits: [
      {
        file: `${PLATFORM}/protocol/explain-deal.ts`,
        find: 'const surplus: Explanation = { kind: "foreign", finding: "surplus_deal", operation, event };',
        put: 'const surplus: Explanation = { kind: "foreign" };\n  void event;',
      },
    ],
    caughtBy: ["R3"],
  },
  {
    name: "amounts pass through a float",
    edits: [
      {
        file: `${PLATFORM}/mt5/decimal.ts`,
        find: "export function formatMinor(minor: bigint): string {",
        put: "export function formatMinor(exact: bigint): string {\n  const minor = BigInt(Math.trunc((Number(exact) / 100) * 100));",
      },
    ],
    caughtBy: ["I2", "I4", "I10", "R3"],
  },
  {
    name: "a gap in a feed is ignored",
    edits: [
      {
        file: `${FEED}/continuation.ts`,
        find: "if (entry.number !== last + 1n) return { entries, mustRead: true };",
        put: "",
      },
    ],
    caughtBy: ["I9"],
  },
  {
    name: "the cursor moves before what it speaks of is filed",
    edits: [
      {
        file: `${FEED}/file-batch.ts`,
        find: "return await inTransaction(pool, (tx) => fileContinuation(tx, filing, batch));",
        put: "let late: () => Promise<void> = async () => undefined;\n    const moved = await inTransaction(pool, (tx) => fileContinuation(tx, { ...filing, file: async (_, entries) => { late = () => inTransaction(pool, (own) => filing.file(own, entries)); } }, batch));\n    await late();\n    return moved;",
      },
    ],
    caughtBy: ["I9"],
  },
  {
    name: "a relay that goes on from the highest id",
    edits: [
      {
        file: `${FEED}/outbox.ts`,
        find: "from outbox where number is null order by id limit",
        put: "from outbox where number is null and id > coalesce((select max(done.id) from outbox as done where done.number is not null), 0) order by id limit",
      },
    ],
    caughtBy: ["I9", "I10"],
  },
  {
    name: "an external operation is attempted again",
    edits: [
      { file: `${PLATFORM}/protocol/operation-kind.ts`, find: 'origin: "external",', put: 'origin: "internal",' },
    ],
    caughtBy: ["P1"],
  },
];
