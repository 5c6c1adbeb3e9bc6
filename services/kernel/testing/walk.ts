type Cursors = Record<string, object>;

/** The cursor of a walk whose last run is past for longer than transactions last. */
export function settledCursor(cursor: string): string {
  const cursors = Object.entries(JSON.parse(cursor) as Cursors);
  return JSON.stringify(Object.fromEntries(cursors.map(([name, own]) => [name, { ...own, newestAtMs: "0" }])));
}

/** A walk for which no row of the table is new, and which begins a pass through all of them. */
export function passCursor(table: string): string {
  const last = String(2n ** 62n);
  const cursor = { settledTo: last, newest: last, newestAtMs: "0", open: [], passedTo: "0", hasPassed: false };
  return JSON.stringify({ [table]: cursor });
}
