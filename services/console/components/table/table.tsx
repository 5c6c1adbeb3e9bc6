import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Column, linesOf } from "./column.ts";
import { Section } from "../section.tsx";
import { Export } from "./export.tsx";
import { rangeOf } from "./window.ts";

type Props<Row> = {
  /** Names the table for readers of the screen, and its file. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  readonly hasMore?: boolean;
  readonly isLoading?: boolean;
  readonly loadMore?: () => void;
  /** What it means that there is no row. */
  readonly empty: ComponentChildren;
};

const ROW_PX = 30;

/** A table of any length: it loads as it is scrolled, and draws the rows that are seen. */
export function Table<Row>(props: Props<Row>) {
  const { label, columns, rows, idOf, hasMore = false, isLoading = false, loadMore, empty } = props;
  const [view, setView] = useState({ top: 0, height: 600 });
  const scroller = useRef<HTMLDivElement>(null);
  const { from, to } = rangeOf(rows.length, view.top, view.height, ROW_PX);

  // Its height is that of the window, which may grow.
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return undefined;
    const observer = new ResizeObserver(() => setView({ top: current.scrollTop, height: current.clientHeight }));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const noteScroll = (): void => {
    const { scrollTop, clientHeight } = scroller.current ?? { scrollTop: 0, clientHeight: 600 };
    const next = rangeOf(rows.length, scrollTop, clientHeight, ROW_PX);
    if (next.from !== from || next.to !== to) setView({ top: scrollTop, height: clientHeight });
  };

  return (
    <div class="table">
      <Export
        label={label}
        name={label.toLowerCase().replaceAll(" ", "-")}
        count={rows.length}
        hasMore={hasMore}
        lines={() => linesOf(columns, rows)}
      />
      <div
        class="scroller"
        ref={scroller}
        onScroll={noteScroll}
        tabIndex={0}
        role="region"
        aria-label={`Rows of ${label}`}
      >
        <table aria-label={label} aria-rowcount={hasMore ? -1 : rows.length + 1}>
          <thead>
            <tr>
              {columns.map(({ title, isNumber, isWide }) => (
                <th key={title} scope="col" class={classOf(isNumber, isWide)}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <Space rows={from} columns={columns.length} />
            {rows.slice(from, to).map((row, index) => (
              <tr key={idOf(row)} aria-rowindex={from + index + 2}>
                {columns.map(({ title, cell, text, isNumber, isWide }) => (
                  <td key={title} class={classOf(isNumber, isWide)} title={isWide === true ? text(row) : undefined}>
                    {cell === undefined ? text(row) : cell(row)}
                  </td>
                ))}
              </tr>
            ))}
            <Space rows={rows.length - to} columns={columns.length} />
          </tbody>
        </table>
        {rows.length === 0 && !isLoading && !hasMore && <p class="empty">{empty}</p>}
        <End hasMore={hasMore} isLoading={isLoading} count={rows.length} loadMore={loadMore} />
      </div>
    </div>
  );
}

type SectionProps<Row> = Omit<Props<Row>, "label"> & {
  readonly title: string;
  /** Names the table, where the title is not enough. */
  readonly label?: string;
  /** What follows the table. */
  readonly children?: ComponentChildren;
};

/** A table under a heading. */
export function TableSection<Row>({ title, label = title, children, ...own }: SectionProps<Row>) {
  return (
    <Section title={title}>
      <Table label={label} {...own} />
      {children}
    </Section>
  );
}

function classOf(isNumber = false, isWide = false): string | undefined {
  return isNumber ? "number" : isWide ? "wide" : undefined;
}

/** In place of rows that are not drawn. */
function Space({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="space" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );
}

type EndProps = Required<Pick<Props<never>, "hasMore" | "isLoading">> & {
  readonly count: number;
  readonly loadMore: (() => void) | undefined;
};

/** The next page is loaded before its place is seen. */
function End({ hasMore, isLoading, count, loadMore }: EndProps) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (end.current === null || loadMore === undefined || !hasMore || isLoading) return undefined;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && loadMore(), {
      rootMargin: "600px",
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [hasMore, isLoading, count, loadMore]);
  return (
    <div class="end" ref={end} role="status">
      {isLoading ? "Loading…" : ""}
    </div>
  );
}
