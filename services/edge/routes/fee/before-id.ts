/** Fee reads 0 as "from the newest". For a caller a cursor of 0 is before every id, so it becomes 1, which matches nothing either. */
export function beforeId(cursor: string | undefined): bigint {
  if (cursor === undefined) return 0n;
  const id = BigInt(cursor);
  return id === 0n ? 1n : id;
}
