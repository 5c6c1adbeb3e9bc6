import type { Mutant } from "./mutant.ts";

const PLATFORM = "services/platform";

/** Defects of permits, attempts, queues and account locks. */
export const SENDING_MUTANTS: readonly Mutant[] = [
  {
    name: "no check for legs under way, and no partial index",
    edits: [
      {
        file: `${PLATFORM}/store/queues.ts`,
        find: "const IS_UNDER_WAY = fragment`(state in",
        put: "const IS_UNDER_WAY = fragment`(false and state in",
      },
      {
        file: `${PLATFORM}/migrations/0001_platform.sql`,
        find: "create unique index leg_under_way",
        put: "create index leg_under_way",
      },
    ],
    detectedBy: ["I6"],
    seed: 6,
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
    detectedBy: ["I13", "I1"],
    seed: 3,
  },
  {
    name: "sent before the permit is committed",
    edits: [
      {
        file: `${PLATFORM}/protocol/commit-permits.ts`,
        find: 'import type { Turn } from "./sending.ts";\n',
        put: 'import { writeOnce } from "./send.ts";\nimport type { Turn } from "./sending.ts";\n',
      },
      {
        file: `${PLATFORM}/protocol/commit-permits.ts`,
        find: "      decisions = await decide(tx, holders);\n",
        put: "      decisions = await decide(tx, holders);\n      for (const [request, session] of assigned) {\n        const permit = permitOf(decisions.get(request));\n        if (permit !== undefined) await writeOnce(deps, permit, session);\n      }\n",
      },
    ],
    detectedBy: ["I13"],
    seed: 1,
  },
  {
    name: "a permit that never expires",
    file: `${PLATFORM}/domain/permit.ts`,
    find: "age >= 0 && age < PERMIT_MS - PERMIT_MARGIN_MS",
    put: "age >= 0",
    detectedBy: ["I13"],
    seed: 75,
  },
  {
    name: "the permit of a credit is granted before the answer to its debit",
    file: `${PLATFORM}/protocol/draft-legs.ts`,
    find: "isReady: isFirst,\n",
    put: "isReady: true,\n",
    detectedBy: ["I7"],
    seed: 10,
  },
  {
    name: "a debit without the intent of its credit",
    file: `${PLATFORM}/protocol/draft-legs.ts`,
    find: "...rest.map(",
    put: "...rest.slice(1).map(",
    detectedBy: ["I10", "I2"],
    seed: 3,
  },
  {
    name: "an expired permit gives the right to send again",
    file: `${PLATFORM}/jobs/find-lost-legs.ts`,
    find: '{ type: "lost", attempt }',
    put: '{ type: "not_sent", attempt }',
    detectedBy: ["I13", "I1", "I3", "I6", "I10"],
    seed: 42,
  },
  {
    name: "an account lock that lets other sagas pass",
    file: `${PLATFORM}/domain/admission.ts`,
    find: "accountLock === undefined ||",
    put: "true || accountLock === undefined ||",
    detectedBy: ["I6"],
    seed: 4,
  },
  {
    name: "an external leg is attempted again",
    file: `${PLATFORM}/domain/leg-kind.ts`,
    find: 'origin: "external",',
    put: 'origin: "internal",',
    detectedBy: ["I13"],
    seed: 6,
  },
  {
    name: "a mirror is sent without the margin check",
    file: `${PLATFORM}/domain/leg-kind.ts`,
    find: 'comment: "PAMM", checkMargin: true',
    put: 'comment: "PAMM", checkMargin: false',
    detectedBy: ["I19"],
    seed: 7_364,
    needs: "scarce_margin",
  },
  {
    name: "internal legs that do not occupy their login",
    file: `${PLATFORM}/domain/leg-kind.ts`,
    find: "checkMargin: false, exclusive: true,",
    put: "checkMargin: false, exclusive: false,",
    detectedBy: ["I6"],
    seed: 1,
  },
];
