import type { PageProps } from "../page.ts";
import { MasterList } from "./master-list.tsx";
import { MasterView } from "./master.tsx";

export function View({ path: [login, view], query }: PageProps) {
  return login === undefined ? (
    <MasterList query={query} />
  ) : (
    <MasterView key={login} login={login} view={view} query={query} />
  );
}
