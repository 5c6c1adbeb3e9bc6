import type { Mutant } from "./mutant.ts";

const FEED = "services/kernel/feed";

/** Defects of the feeds between services. */
export const FEED_MUTANTS: readonly Mutant[] = [
  {
    name: "a gap in a feed is ignored",
    edits: [
      {
        file: `${FEED}/read.ts`,
        find: "where feed = ${feed} and number > ${afterNumber}",
        put: "where feed = ${feed} and number > ${afterNumber + 1n}",
      },
      { file: `${FEED}/receive-page.ts`, find: "assert(!hasGap,", put: "assert(hasGap || !hasGap," },
    ],
    detectedBy: ["I9"],
    seed: 1,
  },
  {
    name: "the cursor moves before the entries are stored",
    edits: [
      {
        file: `${FEED}/receive-page.ts`,
        find: "return { cursor: await inTransaction(pool, (tx) => receiveAfter(tx, receiver, page)) };",
        put: "let late: () => Promise<void> = async () => undefined;\n    const cursor = await inTransaction(pool, (tx) => receiveAfter(tx, { ...receiver, receive: async (_, entries) => { late = () => inTransaction(pool, (own) => receiver.receive(own, entries)); } }, page));\n    await late();\n    return { cursor };",
      },
    ],
    detectedBy: ["I9"],
    seed: 35,
  },
  {
    name: "a relay that continues from the highest id",
    edits: [
      {
        file: `${FEED}/outbox.ts`,
        find: "from outbox where number is null order by id limit",
        put: "from outbox where number is null and id > coalesce((select max(done.id) from outbox as done where done.number is not null), 0) order by id limit",
      },
    ],
    detectedBy: ["I9", "I10"],
    seed: 167,
  },
];
