import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { readKeyHash } from "../domain/imported-leg.ts";
import { LEG_KINDS, type LegKind } from "../domain/leg-kind.ts";
import { legNumber } from "../domain/leg-number.ts";
import { keyHash } from "#kernel/values/key-hash.ts";
import { commentOfLeg } from "./comment-of-leg.ts";

const KEY = "fee:7001:9001:week:2026-11-20T22:00:00.000Z";

test("the hash of a key is the first 50 bits of its SHA-256", () => {
  const bits = BigInt(`0x${createHash("sha256").update(KEY).digest("hex").slice(0, 16)}`) >> 14n;
  const read = [...keyHash(KEY)].reduce(
    (sum, digit) => sum * 32n + BigInt("0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(digit)),
    0n,
  );
  expect(read).toBe(bits);
});

test("the comment of every internal movement has the hash of its key, and fits the platform", () => {
  for (const kind of Object.keys(LEG_KINDS) as LegKind[]) {
    const comment = commentOfLeg({ kind, number: legNumber(5n), attempt: 1 }, { key: KEY, comment: "CRM-1" });
    const isInternal = LEG_KINDS[kind].origin === "internal";
    expect(readKeyHash(comment), kind).toBe(isInternal ? keyHash(KEY) : undefined);
    expect(comment.length).toBeLessThanOrEqual(31);
    if (isInternal) expect(comment.endsWith(` ${LEG_KINDS[kind].comment}`), comment).toBe(true);
    else expect(comment.endsWith(" CRM-1")).toBe(true);
  }
});

test("a comment that was cut has no hash", () => {
  const comment = commentOfLeg({ kind: "mirror", number: legNumber(5n), attempt: 1 }, { key: KEY, comment: "" });
  expect(readKeyHash(comment.slice(0, 24))).toBeUndefined();
  expect(readKeyHash(comment.slice(0, 25))).toBe(keyHash(KEY));
});
