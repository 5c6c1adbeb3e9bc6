import type { Mutant } from "./mutant.ts";

const PLATFORM = "services/platform";

/** Who may send, when, and how often. */
export const SENDING_MUTANTS: readonly Mutant[] = [
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
    seed: 117,
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
    seed: 1,
  },
  {
    name: "a command is sent again after a time-out",
    edits: [
      {
        file: `${PLATFORM}/mt5/balance.ts`,
        find: "const exchanged = await lease.call(\n    {",
        put: "const send = () => lease.call(\n    {",
      },
      {
        file: `${PLATFORM}/mt5/balance.ts`,
        find: "{ onWritten }) },\n  );",
        put: '{ onWritten }) },\n  );\n  let exchanged = await send();\n  if (exchanged.kind === "lost") exchanged = await send();',
      },
      { file: `${PLATFORM}/domain/permit.ts`, find: "age < PERMIT_MS - PERMIT_MARGIN_MS", put: "age < 60_000" },
    ],
    caughtBy: ["P1", "I1"],
    seed: 3,
  },
  {
    name: "sent before the permit is committed",
    edits: [
      {
        file: `${PLATFORM}/protocol/send.ts`,
        find: "return grantPermit(tx, await lockAccountAndOperation(tx, target.login, target.number), asker);",
        put: 'const given = await grantPermit(tx, await lockAccountAndOperation(tx, target.login, target.number), asker);\n      if (given.kind !== "granted") return given;\n      void sendOnce(deps, given.permit, session);\n      return { kind: "over" };',
      },
    ],
    caughtBy: ["P1"],
    seed: 1,
  },
  {
    name: "a permit that never runs out",
    edits: [
      {
        file: `${PLATFORM}/domain/permit.ts`,
        find: "age >= 0 && age < PERMIT_MS - PERMIT_MARGIN_MS",
        put: "age >= 0",
      },
    ],
    caughtBy: ["P1"],
    seed: 223,
  },
  {
    name: "the credit does not wait for its debit",
    edits: [
      {
        file: `${PLATFORM}/protocol/insert-orders.ts`,
        find: "isReady: isFirst, standing",
        put: "isReady: true, standing",
      },
    ],
    caughtBy: ["I7"],
    seed: 10,
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
    seed: 42,
  },
  {
    name: "an account lock is given back by a time-out",
    edits: [
      {
        file: `${PLATFORM}/store/accounts.ts`,
        find: "locked_by, lock_number, lock_granted_at is not null as is_granted",
        put: "case when lock_granted_at > clock_timestamp() - interval '1 second' then locked_by end as locked_by, lock_number, lock_granted_at is not null as is_granted",
      },
    ],
    caughtBy: ["I6"],
    seed: 10,
  },
  {
    name: "an account lock that lets others pass",
    edits: [
      {
        file: `${PLATFORM}/protocol/grant-permit.ts`,
        find: "return account lock === undefined ||",
        put: "return true || account lock === undefined ||",
      },
    ],
    caughtBy: ["I6"],
    seed: 4,
  },
  {
    name: "an external operation is attempted again",
    edits: [{ file: `${PLATFORM}/domain/operation-kind.ts`, find: 'origin: "external",', put: 'origin: "internal",' }],
    caughtBy: ["P1"],
    seed: 28,
  },
  {
    name: "operations of ours that do not occupy their login",
    edits: [
      {
        file: `${PLATFORM}/domain/operation-kind.ts`,
        find: "checkMargin: false, exclusive: true,",
        put: "checkMargin: false, exclusive: false,",
      },
    ],
    caughtBy: ["I6"],
    seed: 1,
  },
];
