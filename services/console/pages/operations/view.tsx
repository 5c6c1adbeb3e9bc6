import type { PageProps } from "../page.ts";
import { Ledger } from "./ledger.tsx";
import { OperationView } from "./operation.tsx";

export function View({ path: [id], query }: PageProps) {
  return id === undefined ? <Ledger query={query} /> : <OperationView key={id} id={id} />;
}
