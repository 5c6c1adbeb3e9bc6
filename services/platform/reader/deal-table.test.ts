import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DealTable } from "./deal-table.ts";

const SLOTS = 8;

function markOf(ticket: bigint, login: string, content: number): string {
  return hash("sha256", `${ticket} ${login} ${content}`, "base64");
}

function namesIn(table: DealTable): string[] {
  return [...table.used()].map((slot) => table.nameOf(slot)).map(({ ticket, login }) => `${ticket} ${login}`);
}

test("the table finds by name and by mark what was added and not removed since, as a map does", () => {
  const anAction = fc.record({
    // Some tickets share a bucket, and some deals differ in the login only.
    ticket: fc.constantFrom(1n, 2n, 9n, 17n, 4_294_967_297n),
    login: fc.constantFrom("7", "999999999999999999"),
    content: fc.constantFrom(1, 2),
    isRemoved: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(anAction, { maxLength: 60 }), (actions) => {
      const table = new DealTable(SLOTS);
      const model = new Map<string, { ticket: bigint; login: string; mark: string }>();
      for (const { ticket, login, content, isRemoved } of actions) {
        const known = table.find({ ticket, login });
        expect(known !== undefined).toBe(model.has(`${ticket} ${login}`));
        if (known !== undefined) table.remove(known);
        model.delete(`${ticket} ${login}`);
        if (isRemoved) continue;
        const { oldest } = table;
        if (oldest !== undefined) {
          const name = table.nameOf(oldest);
          // A map lists its members in the order in which they were added.
          expect(`${name.ticket} ${name.login}`).toBe(model.keys().next().value);
          table.remove(oldest);
          model.delete(`${name.ticket} ${name.login}`);
        }
        const mark = markOf(ticket, login, content);
        table.add({ ticket, login }, mark);
        model.set(`${ticket} ${login}`, { ticket, login, mark });
        expect(namesIn(table)).toEqual([...model.keys()]);
      }
      expect(namesIn(table)).toEqual([...model.keys()]);
      for (const { ticket, login, mark } of model.values()) {
        const slot = table.find({ ticket, login }) ?? -1;
        expect(table.nameOf(slot)).toEqual({ ticket, login });
        expect(table.findMarked(mark)).toBe(slot);
        expect(table.hasMark(slot, markOf(ticket, login, 3))).toBe(false);
      }
      expect(table.findMarked(markOf(1n, "7", 3))).toBeUndefined();
    }),
  );
});
