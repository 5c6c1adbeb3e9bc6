import type { Read } from "../data/use-read.ts";
import { Loading } from "./loading.tsx";
import { ProblemView } from "./problem-view.tsx";

type Props = { readonly read: Omit<Read<unknown>, "data"> & { readonly data: unknown }; readonly what: string };

/** Why something that was to be read is not there; nothing when it is. */
export function ReadState({ read: { data, problem, isLoading, refresh }, what }: Props) {
  if (problem !== undefined) return <ProblemView problem={problem} retry={refresh} />;
  return data === undefined && isLoading ? <Loading what={what} /> : null;
}
