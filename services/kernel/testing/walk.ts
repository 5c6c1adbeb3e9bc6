type Positions = Record<string, object>;

/** The cursor of a walk whose last run is past for longer than transactions last. */
export function settledCursor(cursor: string): string {
  const positions = Object.entries(JSON.parse(cursor) as Positions);
  return JSON.stringify(
    Object.fromEntries(positions.map(([name, position]) => [name, { ...position, newestAtMs: "0" }])),
  );
}

/** A walk for which no row of the table is new, and which begins a pass through all of them. */
export function passCursor(table: string): string {
  const last = String(2n ** 62n);
  const position = { settledTo: last, newest: last, newestAtMs: "0", open: [], passedTo: "0", hasPassed: false };
  return JSON.stringify({ [table]: position });
}
