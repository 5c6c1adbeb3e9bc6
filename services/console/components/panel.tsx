import type { ComponentChildren } from "preact";
import type { Read } from "../data/use-read.ts";
import { ReadState } from "./read-state.tsx";

type Props<T> = {
  readonly read: Read<T>;
  readonly what: string;
  readonly children: (data: T) => ComponentChildren;
};

/** What was read, or why it is not there. An older answer stays below the problem of a newer attempt. */
export function Panel<T>({ read, what, children }: Props<T>) {
  return (
    <>
      <ReadState read={read} what={what} />
      {read.data !== undefined && children(read.data)}
    </>
  );
}
