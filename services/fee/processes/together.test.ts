import { expect, test } from "vitest";
import { CommitUnknown } from "#kernel/postgres/failure.ts";
import { workTogether } from "./together.ts";

type Item = { readonly masterLogin: string; readonly name: string };

const ITEMS: readonly Item[] = ["1a", "1b", "2a", "2b"].map((name) => ({ masterLogin: name.slice(0, 1), name }));

/** The results by name, and the items of each try. */
async function tryAll(failing: string, error: Error) {
  const tries: string[] = [];
  const results = await workTogether(ITEMS, async (items) => {
    tries.push(items.map(({ name }) => name).join(" "));
    if (items.some(({ name }) => name === failing)) throw error;
    return items.map(({ name }) => name);
  });
  return { results, tries };
}

test("after a failure of the database only the items of the Master that fails again have failed", async () => {
  const error = new CommitUnknown(undefined);
  expect(await tryAll("1b", error)).toEqual({
    results: [error, error, "2a", "2b"],
    tries: ["1a 1b 2a 2b", "1a 1b", "2a 2b"],
  });
});

test("after a defect only the item with the defect has failed", async () => {
  const error = new Error("a defect");
  expect(await tryAll("1b", error)).toEqual({
    results: ["1a", error, "2a", "2b"],
    tries: ["1a 1b 2a 2b", "1a 1b", "1a", "1b", "2a 2b"],
  });
});
