import type { ComponentChildren } from "preact";

export type Column<Row> = {
  readonly title: string;
  /** As it is copied and saved: what the API answered, without formatting. */
  readonly text: (row: Row) => string;
  /** As it is shown; the text when it is missing. */
  readonly cell?: (row: Row) => ComponentChildren;
  /** Numbers and amounts are aligned at their end. */
  readonly isNumber?: boolean;
  /** Takes what the other columns leave. */
  readonly isWide?: boolean;
};

export function linesOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[][] {
  return [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ text }) => text(row)))];
}
