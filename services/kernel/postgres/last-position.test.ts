import { expect, test } from "vitest";
import { findLastPosition } from "./last-position.ts";

test.each([
  { none: -1n, last: -1n, until: 5n, found: -1n },
  { none: -1n, last: 9n, until: -1n, found: -1n },
  { none: -1n, last: 9n, until: 0n, found: 0n },
  { none: 0n, last: 9n, until: 6n, found: 6n },
  { none: 0n, last: 9n, until: 100n, found: 9n },
  { none: 0n, last: 4_000_000_000n, until: 3_999_999_999n, found: 3_999_999_999n },
])("of the positions after $none to $last the last one that holds until $until is $found", async (each) => {
  const asked: bigint[] = [];
  const found = await findLastPosition(each, async (position) => {
    asked.push(position);
    return position <= each.until;
  });

  expect(found).toBe(each.found);
  expect(asked.every((position) => position > each.none && position <= each.last)).toBe(true);
  expect(asked.length).toBeLessThanOrEqual(32);
});
