import type { PageProps } from "../page.ts";
import { InvestorList } from "./investor-list.tsx";
import { InvestorView } from "./investor.tsx";

export function View({ path: [login, view], query }: PageProps) {
  return login === undefined ? (
    <InvestorList query={query} />
  ) : (
    <InvestorView key={login} login={login} view={view} query={query} />
  );
}
