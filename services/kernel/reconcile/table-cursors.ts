type Member = bigint | number | string | boolean | readonly bigint[];

/** Where a check is in one of its tables, in values that JSON can keep. */
type Stored = { readonly [member: string]: Member };

/** The cursor of a check: where it is in each of its tables. */
export function writtenCursors(cursors: Readonly<Record<string, Stored>>): string {
  return JSON.stringify(cursors, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

/** The cursors that `writtenCursors` has written. A table without one begins at `start`. */
export function readCursors<Name extends string, Own extends Stored>(
  names: readonly Name[],
  cursor: string,
  start: Own,
): Record<Name, Own> {
  const stored = (cursor.startsWith("{") ? JSON.parse(cursor) : {}) as Partial<Record<Name, Record<string, unknown>>>;
  const read = (written: Record<string, unknown>): Own =>
    Object.fromEntries(Object.entries(start).map(([name, member]) => [name, readAs(member, written[name])])) as Own;
  const cursors = names.map((name) => [name, stored[name] === undefined ? start : read(stored[name])]);
  return Object.fromEntries(cursors) as Record<Name, Own>;
}

/** JSON has no bigint: these were written as text. */
function readAs(member: Member, written: unknown): Member {
  if (typeof member === "bigint") return BigInt(written as string);
  if (typeof member === "object") return (written as readonly string[]).map(BigInt);
  return written as Member;
}
