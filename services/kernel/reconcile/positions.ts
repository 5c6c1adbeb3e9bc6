type Member = bigint | number | string | boolean | readonly bigint[];

/** Where a check is in one of its tables. */
type Position = { readonly [member: string]: Member };

/** The positions of a check in its tables, as its cursor. */
export function writtenPositions(positions: Readonly<Record<string, Position>>): string {
  return JSON.stringify(positions, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
}

/** The positions that `writtenPositions` has written. A table without one begins at `start`. */
export function readPositions<Name extends string, Own extends Position>(
  names: readonly Name[],
  cursor: string,
  start: Own,
): Record<Name, Own> {
  const stored = (cursor.startsWith("{") ? JSON.parse(cursor) : {}) as Partial<Record<Name, Record<string, unknown>>>;
  const read = (written: Record<string, unknown>): Own =>
    Object.fromEntries(Object.entries(start).map(([name, member]) => [name, readAs(member, written[name])])) as Own;
  const positions = names.map((name) => [name, stored[name] === undefined ? start : read(stored[name])]);
  return Object.fromEntries(positions) as Record<Name, Own>;
}

/** JSON has no bigint: these were written as text. */
function readAs(member: Member, written: unknown): Member {
  if (typeof member === "bigint") return BigInt(written as string);
  if (typeof member === "object") return (written as readonly string[]).map(BigInt);
  return written as Member;
}
