import type { ComponentProps } from "preact";
import type { List } from "../../data/use-list.ts";
import { Table } from "./table.tsx";

type Props<Row> = Omit<ComponentProps<typeof Table<Row>>, "rows" | "hasMore" | "isLoading" | "loadMore"> & {
  readonly list: Pick<List<Row>, "items" | "hasMore" | "isLoading" | "problem" | "loadMore">;
};

/** A table of a list that loads as one scrolls; after a failed page it loads no further by itself. */
export function ListTable<Row>({ list, ...own }: Props<Row>) {
  const { items, hasMore, problem, isLoading, loadMore } = list;
  return (
    <Table {...own} rows={items} hasMore={hasMore && problem === undefined} isLoading={isLoading} loadMore={loadMore} />
  );
}
