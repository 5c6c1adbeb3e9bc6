import type { PageProps } from "../page.ts";
import { PaymentView } from "./payment.tsx";
import { Runs } from "./runs.tsx";
import { RunView } from "./run.tsx";

export function View({ path: [id, payment], query }: PageProps) {
  if (id === "payments" && payment !== undefined) return <PaymentView key={payment} id={payment} />;
  const master = query.get("master_login")?.trim() ?? "";
  return id === undefined ? <Runs master={master} /> : <RunView key={`${master} ${id}`} id={id} master={master} />;
}
