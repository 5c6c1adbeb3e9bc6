import type { Sabotage } from "./sabotage.ts";

const FEED = "services/kernel/feed";

/** What others are told. */
export const FEED_SABOTAGES: readonly Sabotage[] = [
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
    seed: 1,
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
    seed: 95,
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
    seed: 10,
  },
];
